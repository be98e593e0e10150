// Rows of a trace on its page: notes, the first jobs, rows that were skipped, and doubts about its times.

import { shown } from '../../ui/data-table.js';
import { $, fill, h } from '../../ui/dom.js';
import { plural } from '../../util/format.js';
import { notes, preview, skippedRows, skippedTotal } from '../import-report.js';

/** first: the first jobs; jobs: their number; without: what is said where there are none. */
export function paintRows(report, first, jobs, without) {
  $('#how').hidden = !report.notes?.length;
  fill($('#notes'), notes(report));
  $('#first').hidden = !first.length && !jobs;
  $('#preview-count').textContent = first.length ? shown(first.length, jobs || first.length, 'jobs') : '';
  fill($('#preview'), preview(first, without));
  $('#skipped-count').textContent = skippedTotal(report) ? plural(skippedTotal(report), 'row') : '';
  fill($('#skipped'), skippedRows(report, first.length > 0));
}

/** Doubts about the unit of the times. */
export function warnings(report) {
  return (report.warnings ?? []).map((line) => h('p', { class: 'notice', role: 'alert' }, line));
}
