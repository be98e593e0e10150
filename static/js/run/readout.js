// The line below the clock: the jobs that run at the crosshair, or the totals of a selected range.

import { lifeOf } from '../gantt/layers/life.js';
import { heldAt, meanPrices, rangeTotals } from '../core/ranges/range-totals.js';
import { $, fill, h, setText } from '../ui/dom.js';
import { clock, duration, number, plural, significant } from '../util/format.js';
import { atMost } from '../util/throttle.js';

const REST_MS = 90; // between two computations, which read every bar
const MAX_NAMED = 12; // jobs named at the crosshair
const NARROW = '(max-width: 640px)'; // there is room for few words

export class Readout {
  /** prices(): source of the prices (core/slot-prices.js) at the time shown; chosen(): the selected jobs. */
  constructor({ store, info, view, playhead, prices, chosen }) {
    this.store = store;
    this.info = info;
    this.view = view;
    this.playhead = playhead;
    this.prices = prices;
    this.chosen = chosen;
    this.box = $('#readout-text');
    this.help = matchMedia(NARROW).matches ? 'Tap a chart for the values at one time.' : this.box.textContent;
    setText(this.box, this.help);
    const paint = (this.update = atMost(REST_MS, () => this.#paint()));
    for (const name of ['cursor', 'selection']) view.addEventListener(name, paint);
    for (const name of ['move', 'state']) playhead.addEventListener(name, () => this.#shown() && paint());
    $('#range-clear').addEventListener('click', () => view.unselect());
    addEventListener('keydown', (/** @type {any} */ { key, target }) => {
      if (key === 'Escape' && view.selected && !target.closest?.('dialog')) view.unselect();
    });
  }

  #shown() {
    return this.view.selected || this.view.cursor !== null;
  }

  #paint() {
    const { selected, cursor } = this.view;
    $('#range-clear').hidden = !selected;
    this.box.setAttribute('aria-live', selected ? 'polite' : 'off');
    if (selected) fill(this.box, this.#totals(selected));
    else if (cursor === null) fill(this.box, this.chosen().length > 1 ? this.#several() : this.help);
    else fill(this.box, this.#at(cursor));
    this.box.title = this.#shown() ? this.box.textContent : '';
  }

  #at(t) {
    const { ids } = this.info;
    if (t < this.store.seenFromMs) return [h('b', {}, clock(t)), ': the cluster had not been observed yet.'];
    const held = heldAt(this.store, t, this.playhead.ms);
    const workers = held.reduce((sum, [, count]) => sum + count, 0);
    const names = held.slice(0, MAX_NAMED).map(([job, count]) => (count > 1 ? `${ids[job]} ×${count}` : ids[job]));
    const more = held.length > MAX_NAMED ? `, and ${number(held.length - MAX_NAMED, 0)} more` : '';
    return [
      h('b', {}, clock(t)),
      t > this.playhead.ms ? ' (planned)' : '',
      held.length
        ? `: ${plural(held.length, 'job')}, ${plural(workers, 'worker')}: `
        : `: no job ${t > this.playhead.ms ? 'is planned' : 'runs'}.`,
      names.join(', '),
      more,
    ];
  }

  /** Summary of several selected jobs: their number, and from the first arrival to the last end. */
  #several() {
    const { store, info, playhead } = this;
    const jobs = this.chosen();
    const lives = jobs.map((job) => lifeOf(store, job, playhead.ms)).filter(Boolean);
    const [from, to] = [Math.min(...lives.map(([a]) => a)), Math.max(...lives.map(([, b]) => b))];
    return [
      h('b', {}, `${plural(jobs.length, 'job')} selected`),
      `: ${jobs.map((job) => info.ids[job]).join(', ')}`,
      lives.length ? `; from ${clock(from)} to ${clock(to)}, ${duration(to - from)}` : '',
    ];
  }

  #totals({ from, to }) {
    const { store, info, playhead } = this;
    const sum = rangeTotals(store, info, playhead.ms, from, to);
    const [hours, kind] = sum.gpu
      ? [sum.gpu, 'GPU']
      : sum.machines
        ? [sum.machines, 'machine']
        : [sum.workers, 'worker'];
    const r = Math.max(0, info.used.indexOf(true));
    const prices = meanPrices(this.prices(), info.cluster.slot_ms, r, from, to);
    const bold = (value, text) => [h('b', {}, number(value, value < 10 ? 2 : 0)), ` ${text}`];
    return [
      h('b', {}, `${clock(from)} to ${clock(to)}`),
      ` (${duration(to - from)}${to > playhead.ms ? ', including planned bars' : ''}): `,
      bold(hours, `${kind} hours`),
      prices.map(({ site, price }) => [`, mean ${info.names[r]} price ${site} `, h('b', {}, significant(price))]),
      '; jobs: ',
      bold(sum.arrived, 'arrived, '),
      bold(sum.started, 'started, '),
      bold(sum.ran, 'ran, '),
      bold(sum.completed, 'completed, '),
      bold(sum.rejected, 'rejected'),
    ];
  }
}
