// The colours of the jobs in the charts of a server: those that hold something in the time range that is shown.

import { validAt } from '../../core/columns/bars.js';
import { $, fill, h, setText } from '../../ui/dom.js';
import { number, plural } from '../../util/format.js';

const MAX_JOBS = 40;
const COLORS = 8; // --job-0 to --job-7

/**
 * The jobs of these rows of bars in [from, to), as known at p, in the order of their first bars there.
 *
 * @param {any} bars columns job, start_ms, end_ms, born_ms, died_ms
 * @param {number[]} rows
 */
export function jobsWithin(bars, rows, from, to, p) {
  const first = new Map();
  for (const bar of rows) {
    if (bars.start_ms[bar] >= to || bars.end_ms[bar] <= from || !validAt(bars, bar, p)) continue;
    const job = bars.job[bar];
    first.set(job, Math.min(first.get(job) ?? Infinity, bars.start_ms[bar]));
  }
  return [...first].sort((a, b) => a[1] - b[1] || a[0] - b[0]).map(([job]) => job);
}

export class JobKey {
  /** section: card with .legend and .small; nameOf(job); onPick(job). */
  constructor(section, { nameOf, onPick }) {
    this.section = section;
    this.nameOf = nameOf;
    this.onPick = onPick;
    this.painted = '';
  }

  paint(jobs) {
    if (jobs.join() === this.painted) return;
    this.section.hidden = !jobs.length;
    const more = jobs.length - MAX_JOBS;
    const repeat = new Set(jobs.map((job) => job % COLORS)).size < jobs.length;
    setText(
      $('.small', this.section),
      `${plural(jobs.length, 'job')} in the time range shown${repeat ? '; colours repeat' : ''}`,
    );
    fill(
      $('.legend', this.section),
      jobs
        .slice(0, MAX_JOBS)
        .map((job) =>
          h(
            'button',
            { type: 'button', class: 'key', 'data-job': job, onclick: () => this.onPick(job) },
            h('i', { class: `swatch job-${job % COLORS}` }),
            h('span', {}, this.nameOf(job)),
          ),
        ),
      more > 0 ? h('span', { class: 'muted small' }, `and ${number(more, 0)} more`) : null,
    );
    this.painted = jobs.join(); // once it is shown: what has failed is tried again
  }
}
