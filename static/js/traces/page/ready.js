// A trace that was imported: its report, its files, and where its fields come from.

import { $, fill, h } from '../../ui/dom.js';
import { number, plural } from '../../util/format.js';
import { account, chosenFacts, provenance, skippedTotal, tiles } from '../import-report.js';
import { paintRows, warnings } from './rows.js';

const OF_DURATIONS = ['actual', 'limit', 'assumed', 'predicted']; // origins in a trace cut from a live cluster

/** page: {id}. */
export function paintReady(trace, { id }) {
  const report = trace.report ?? {};
  fill(
    $('#status'),
    h(
      'p',
      {},
      account(report, trace.job_count, trace.server_count) ?? report.summary ?? plural(trace.job_count, 'job'),
      '.',
    ),
    warnings(report),
  );
  tiles($('#tiles'), [
    ['Rows read', number(report.rows, 0)],
    ['Jobs', number(trace.job_count, 0)],
    ['Servers', number(trace.server_count, 0)],
    ['Merged', number(report.merged ?? 0, 0)],
    ['Not selected', number(report.not_selected ?? 0, 0)],
    ['Skipped', number(skippedTotal(report), 0)],
  ]);
  const link = (kind) => h('a', { class: 'button', href: `/api/traces/${id}/jobs.${kind}` }, `jobs.${kind}`);
  fill(
    $('#exports'),
    trace.job_count ? ['jsonl', 'csv', 'parquet', 'swf'].map(link) : null,
    h('a', { class: 'button', href: `/api/traces/${id}/report.csv` }, 'report.csv'),
  );
  fill(
    $('#facts'),
    chosenFacts(trace),
    trace.server_count
      ? h('p', {}, h('a', { href: '/clusters/' }, `Cluster of its ${plural(trace.server_count, 'server')}`))
      : null,
  );
  fill($('#provenance'), provenance(report));
  const origins = Object.values(report.provenance ?? {}).flatMap(Object.keys);
  $('#of-durations').hidden = !origins.some((origin) => OF_DURATIONS.includes(origin));
  $('#outside').hidden = !Object.keys(report.outside_range ?? {}).length;
  paintRows(
    report,
    trace.preview ?? [],
    trace.job_count,
    trace.server_count ? 'These files list servers, not jobs.' : 'No row could be read.',
  );
}
