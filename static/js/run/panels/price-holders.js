// "Why this price": the jobs that hold a resource of a site or a server at one time, as the price rises with the share
// that is held.

import { holdersOf } from '../../core/ranges/holders.js';
import { table } from '../../ui/data-table.js';
import { fill, h } from '../../ui/dom.js';
import { capital, clock, number, percent, plural, significant } from '../../util/format.js';
import { atMost } from '../../util/throttle.js';

const REST_MS = 200; // between two computations, which read every bar
const MAX_BARS = 6; // jobs shown as bars; all are in the table
const MAX_SERVERS = 8; // of a job, by name

export class PriceHolders {
  /**
   * box: the element; priceAt(t, place, r): the price shown in the chart, or nothing; onPick(job) opens a job.
   */
  constructor({ box, store, info, playhead, priceAt, onPick }) {
    this.box = box;
    this.store = store;
    this.info = info;
    this.playhead = playhead;
    this.priceAt = priceAt;
    this.onPick = onPick;
    this.at = null; // {t, place, r}; null while it is closed. t null: the time shown. place: a site or a server
    this.rows = false; // whether the table is open
    const update = (this.update = atMost(REST_MS, () => this.#paint()));
    for (const name of ['move', 'state']) playhead.addEventListener(name, () => this.at && update());
  }

  /** Explains the price of resource r at a site or server at time t; null: at the time shown. */
  show(t, place, r) {
    this.at = { t, place, r };
    this.#paint();
    this.box.scrollIntoView({ block: 'nearest' });
  }

  close() {
    this.at = null;
    this.#paint();
  }

  #servers(place) {
    const all = this.info.cluster.servers.map((server, index) => ({ ...server, index }));
    return all.filter(({ name, site }) => place === site || place === name).map(({ index }) => index);
  }

  #paint() {
    const { box, info, playhead } = this;
    box.hidden = !this.at;
    if (!this.at) return fill(box);
    const { place, r } = this.at;
    const t = this.at.t ?? playhead.ms;
    const p = playhead.ms;
    const found = holdersOf(this.store, info, { servers: this.#servers(place), r, t, p });
    const price = this.priceAt(t, place, r);
    const share = (amount) => percent(found.capacity ? amount / found.capacity : null, 1);
    const amount = (thousandths) => `${number(thousandths / 1000, 2)} ${info.units[r]}`;
    const what = `${place} ${info.names[r]}`;
    const planned = t > p ? ', planned' : '';
    fill(
      box,
      h(
        'header',
        {},
        h('h3', {}, `Why this price: ${what} at ${clock(t)}${planned}`),
        h('button', { type: 'button', class: 'quiet', onclick: () => this.close() }, 'Close'),
      ),
      h(
        'p',
        {},
        Number.isFinite(price) ? `Price ${significant(price)} per ${info.units[r]}. ` : '',
        found.jobs.length
          ? `${plural(found.jobs.length, 'job')} ${found.jobs.length === 1 ? 'holds' : 'hold'} ${amount(found.held)} ` +
              `of ${amount(found.capacity)} (${share(found.held)})` +
              `${Number.isFinite(price) ? '; the price rises with this share' : '; there is no price at this time'}.`
          : found.capacity
            ? `No job holds ${info.names[r]} there: all ${amount(found.capacity)} are free.`
            : `No ${info.names[r]} is available there at this time.`,
      ),
      found.jobs.length ? this.#bars(found, amount, share) : null,
      found.jobs.length ? this.#table(found, amount, share) : null,
    );
  }

  #name(job) {
    return h(
      'button',
      { type: 'button', class: 'quiet', onclick: () => this.onPick(job), title: 'Open this job' },
      this.info.ids[job] ?? `job ${job}`,
    );
  }

  #bars({ capacity, jobs }, amount, share) {
    const bar = ({ job, amount: held }) =>
      h(
        'li',
        {},
        this.#name(job),
        h('span', { class: 'meter' }, h('i', { css: { width: `${(held / capacity) * 100}%` } })),
        h('span', { class: 'number' }, `${amount(held)}, ${share(held)}`),
      );
    return h('ol', { class: 'holders-list' }, jobs.slice(0, MAX_BARS).map(bar));
  }

  #table({ jobs }, amount, share) {
    const { servers } = this.info.cluster;
    const named = (list) => {
      const more = list.length > MAX_SERVERS ? `, and ${number(list.length - MAX_SERVERS, 0)} more` : '';
      return (
        list
          .slice(0, MAX_SERVERS)
          .map((server) => servers[server].name)
          .join(', ') + more
      );
    };
    const toggle = () => {
      this.rows = !this.rows;
      this.#paint();
    };
    const columns = [
      { title: 'Job', cell: ({ job }) => this.#name(job) },
      { title: capital(this.info.names[this.at.r]), number: true, cell: (row) => amount(row.amount) },
      { title: 'Share of capacity', number: true, cell: (row) => share(row.amount) },
      { title: 'Workers', number: true, cell: (row) => number(row.workers, 0) },
      { title: 'Parameter servers', number: true, cell: (row) => number(row.ps, 0) },
      { title: 'Servers', cell: (row) => named(row.servers) },
    ];
    const text = this.rows
      ? 'Hide table'
      : jobs.length > MAX_BARS
        ? `Table of all ${plural(jobs.length, 'job')}`
        : 'Table';
    return [
      h('button', { type: 'button', class: 'quiet', 'aria-expanded': String(this.rows), onclick: toggle }, text),
      this.rows ? h('div', { class: 'scroll' }, table(columns, jobs)) : null,
    ];
  }
}
