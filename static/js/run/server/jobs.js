// Table of the jobs on one server at the time shown: those that run there, then the planned ones.

import { OPEN, roleName, validAt } from '../../core/columns/bars.js';
import { outageText } from '../../core/ranges/outage-text.js';
import { empty, shown, table } from '../../ui/data-table.js';
import { $, fill, h, setText } from '../../ui/dom.js';
import { stateMark } from '../../ui/labels/state-mark.js';
import { clock, number, plural } from '../../util/format.js';

const MAX_ROWS = 50;

/** Bars of {bars, rows} that hold the server at p. */
export function barsAt({ bars, rows }, p) {
  return rows.filter((bar) => bars.start_ms[bar] <= p && bars.end_ms[bar] > p && validAt(bars, bar, p));
}

/**
 * Rows of the table: {job, role, start, end, count, running}. Bars with the same job, role and times, such as one
 * for each GPU, are one row.
 *
 * @param {{bars: any, rows: number[]}} source
 * @param {number} p
 */
export function serverRows({ bars, rows }, p) {
  const now = barsAt({ bars, rows }, p);
  const next = rows
    .filter((bar) => bars.start_ms[bar] > p && validAt(bars, bar, p))
    .sort((a, b) => bars.start_ms[a] - bars.start_ms[b]);
  const found = new Map();
  for (const bar of [...now, ...next]) {
    const [job, role, start, end] = [bars.job[bar], bars.role[bar], bars.start_ms[bar], bars.end_ms[bar]];
    const key = [job, role, start, end].join();
    if (!found.has(key)) found.set(key, { job, role, start, end, count: 0, running: start <= p });
    found.get(key).count += bars.count[bar];
  }
  return [...found.values()];
}

export class ServerJobs {
  /**
   * runId; store; server; outagesAt(p): its outages as known then, [begin, end] in ms; nameOf(job); onPick(job).
   */
  constructor({ runId, store, server, outagesAt, nameOf, onPick }) {
    this.runId = runId;
    this.store = store;
    this.server = server;
    this.outagesAt = outagesAt;
    this.nameOf = nameOf;
    this.onPick = onPick;
    this.painted = '';
  }

  paint(source, p) {
    const { seenFromMs } = this.store;
    if (p < seenFromMs) return this.#unseen(seenFromMs);
    const rows = serverRows(source, p);
    const outage = this.outagesAt(p).find(([begin, end]) => begin <= p && p < end);
    const jobs = (running) => new Set(rows.filter((row) => row.running === running).map(({ job }) => job)).size;
    const notes = [
      `${plural(jobs(true), 'job')} at ${clock(p)}, ${number(jobs(false), 0)} planned`,
      rows.length > MAX_ROWS ? shown(MAX_ROWS, rows.length, 'rows') : '',
      outage ? outageText(this.server, outage, p) : '',
    ];
    setText($('#jobs-note'), notes.filter(Boolean).join('; '));
    const listed = rows.slice(0, MAX_ROWS);
    const painted = JSON.stringify([listed, outage ? outageText(this.server, outage, p) : '']);
    if (painted === this.painted) return;
    fill($('#jobs'), listed.length ? table(this.#columns(), listed) : this.#none(outage, p));
    this.painted = painted; // once it is shown: what has failed is tried again
  }

  /** The list is empty before a real cluster was observed for the first time. */
  #unseen(seenFromMs) {
    const text = `The cluster was observed for the first time at ${clock(seenFromMs)}.`;
    setText($('#jobs-note'), 'not observed at this time');
    if (text === this.painted) return;
    fill($('#jobs'), empty('Jobs are not known', text, this.#toSchedule));
    this.painted = text;
  }

  get #toSchedule() {
    return ['Show the schedule', `/runs/${this.runId}/`];
  }

  #columns() {
    const job = (row) =>
      h(
        'button',
        { type: 'button', class: 'link', onclick: () => this.onPick(row.job) },
        h('i', { class: `swatch job-${row.job % 8}` }),
        this.nameOf(row.job),
      );
    const state = ({ running }) => {
      const name = running ? 'running' : 'planned';
      return stateMark(name);
    };
    return [
      { title: 'Job', cell: job },
      { title: 'State', cell: state },
      { title: 'Role', cell: ({ role }) => roleName(role) },
      { title: 'Count', number: true, cell: ({ count }) => number(count, 0) },
      { title: 'Start', number: true, cell: ({ start }) => clock(start) },
      { title: 'End', number: true, cell: ({ end }) => (end < OPEN ? clock(end) : 'open') },
    ];
  }

  #none(outage, p) {
    const unavailable = () => `The server ${outage[1] === this.server.added_ms ? 'was' : 'is'}`;
    return empty(
      'No jobs on this server',
      outage
        ? `${unavailable()} ${outageText(this.server, outage, p)}.`
        : 'No job is running or planned here at this time.',
      this.#toSchedule,
    );
  }
}
