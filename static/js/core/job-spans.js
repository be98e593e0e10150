// Spans in which each job runs, as known at a moment: its worker bars, joined where they overlap or touch, and its time
// in groups. Where a real cluster suspends a job that keeps its bars, the state of the span says so.

import { NEVER, SUSPENDED, WORKER, validAt } from './columns/bars.js';
import { memberships, membershipStates } from './memberships.js';
import { joined } from '../util/interval-sums.js';

/** @type {WeakMap<Store, BarIndex>} */
const kept = new WeakMap(); // store -> its index, and the spans of the last request

/** @typedef {import('./store.js').Store} Store */
/** @typedef {'running' | 'profiling' | 'moving' | 'suspended'} State */
/** @typedef {{begin: number, until: number, state: State}} Span */

/**
 * The spans of each job that have begun by p, in order.
 *
 * @param {Store} store
 * @param {number} p
 */
export function spansOf(store, p) {
  let index = kept.get(store);
  if (!index) kept.set(store, (index = new BarIndex(store)));
  const key = `${store.generation} ${store.lastSeq} ${p}`;
  if (!index.spans || index.key !== key) {
    index.spans = new Spans(store, index.sync(), p);
    index.key = key;
  }
  return index.spans;
}

/** @type {[number, State][]} */
const STATES_OF_ROLES = [
  [WORKER, 'running'],
  [SUSPENDED, 'suspended'],
];
const ROLES = STATES_OF_ROLES.map(([role]) => role);

/** The worker bars of each job, newest first, as a linked list that grows with the store. */
class BarIndex {
  /** @param {Store} store */
  constructor(store) {
    this.store = store;
    this.generation = 0; // of the store when it was read; 0 = never
    this.seen = 0; // bars read
    this.newest = new Int32Array(0); // [job] its newest bar
    this.earlier = new Int32Array(0); // [bar] the bar of the same job before it
    /** @type {Spans | null} */
    this.spans = null; // at the time `key`
    this.key = '';
  }

  #clear() {
    this.generation = this.store.generation;
    this.seen = 0;
    this.newest = new Int32Array(0);
    this.earlier = new Int32Array(0);
  }

  sync() {
    const { bars, jobs, generation } = this.store;
    if (this.generation !== generation) this.#clear();
    this.newest = longer(this.newest, jobs.length);
    this.earlier = longer(this.earlier, bars.length);
    for (; this.seen < bars.length; this.seen++) {
      const { seen } = this;
      if (!ROLES.includes(bars.role[seen]) || bars.group[seen] >= 0) continue; // groups are handled separately
      this.earlier[seen] = this.newest[bars.job[seen]];
      this.newest[bars.job[seen]] = seen;
    }
    return this;
  }
}

class Spans {
  /**
   * @param {Store} store
   * @param {BarIndex} index
   * @param {number} p
   */
  constructor(store, index, p) {
    this.bars = store.bars;
    this.jobs = store.jobs;
    this.index = index;
    this.p = p;
    /** @type {Map<number, Span[]>} */
    this.found = new Map();
    this.grouped = groupSpans(store.groups, p);
    this.suspensions = new Map();
    this.suspensions = byJob(store.suspensions.begun(p));
    this.requeues = byJob(store.requeues.begun(p));
  }

  /** @param {number} job */
  of(job) {
    let list = this.found.get(job);
    if (!list) this.found.set(job, (list = this.#make(job)));
    return list;
  }

  /** @param {number} job */
  #make(job) {
    const { start_ms: start, end_ms: end, role } = this.bars;
    const list = this.grouped.get(job) ?? [];
    const begun = this.#begun(job);
    for (const [own, state] of STATES_OF_ROLES) {
      const bars = begun.filter((bar) => role[bar] === own);
      for (const [begin, until] of joined(bars.map((bar) => [start[bar], end[bar]])))
        list.push({ begin, until, state });
    }
    if (begun.some((bar) => role[bar] === SUSPENDED)) list.sort((a, b) => a.begin - b.begin);
    if (this.grouped.has(job)) return list.sort((a, b) => a.begin - b.begin);
    if (this.index.newest[job] < 0) list.push(...this.#unplaced(job));
    const suspensions = this.suspensions.get(job) ?? [];
    return suspensions.reduce((spans, [, from, until]) => spans.flatMap((span) => parted(span, from, until)), list);
  }

  /**
   * [from, until] of each time in which a plan let the job run later, as known at p: in order, joined where they
   * overlap or touch.
   *
   * @param {number} job
   */
  plannedOf(job) {
    const { bars, index, p } = this;
    /** @type {[number, number][]} */
    const plans = [];
    for (let bar = index.newest[job]; bar >= 0; bar = index.earlier[bar]) {
      const [born, died] = [bars.born_ms[bar], bars.died_ms[bar]];
      const until = Math.min(bars.start_ms[bar], died === NEVER || died > p ? Infinity : died);
      if (born <= p && until > born) plans.push([born, until]);
    }
    return joined(plans.sort((a, b) => a[0] - b[0]));
  }

  /**
   * The spans of a job of a real cluster that does not state where it runs.
   *
   * @param {number} job
   * @returns {Span[]}
   */
  #unplaced(job) {
    const [begin, finish] = [this.jobs.start_ms[job], this.jobs.finish_ms[job]];
    if (begin === NEVER || begin > this.p) return [];
    const until = finish === NEVER || finish > this.p ? Infinity : finish;
    const waits = (this.requeues.get(job) ?? []).map(([, from, to]) => /** @type {[number, number]} */ ([from, to]));
    return without([[begin, until]], waits).map(([from, to]) => ({ begin: from, until: to, state: 'running' }));
  }

  /**
   * Its worker bars that have begun, by start.
   *
   * @param {number} job
   */
  #begun(job) {
    const { bars, index, p } = this;
    const { start_ms: start } = bars;
    /** @type {number[]} */
    const rows = [];
    let falling = true; // newest first, as in most plans
    for (let bar = index.newest[job]; bar >= 0; bar = index.earlier[bar]) {
      if (start[bar] > p || !validAt(bars, bar, p)) continue;
      if (rows.length && start[bar] > start[rows[rows.length - 1]]) falling = false;
      rows.push(bar);
    }
    return falling ? rows.reverse() : rows.sort((a, b) => start[a] - start[b]);
  }
}

/**
 * job -> its spans.
 *
 * @param {import('./stated-spans.js').StatedSpan[]} rows
 */
function byJob(rows) {
  /** @type {Map<number, import('./stated-spans.js').StatedSpan[]>} */
  const found = new Map();
  for (const row of rows) {
    const [job] = row;
    const own = found.get(job);
    if (own) own.push(row);
    else found.set(job, [row]);
  }
  return found;
}

/**
 * The parts of spans outside of others.
 *
 * @param {[number, number][]} spans
 * @param {[number, number][]} others
 * @returns {[number, number][]}
 */
function without(spans, others) {
  return others.reduce(
    (rest, [from, until]) =>
      rest.flatMap(([begin, end]) =>
        /** @type {[number, number][]} */ ([
          [begin, Math.min(end, from)],
          [Math.max(begin, until), end],
        ]).filter(([start, stop]) => start < stop),
      ),
    spans,
  );
}

/**
 * The span before, in and after a suspension.
 *
 * @param {Span} span
 * @param {number} from
 * @param {number} until
 * @returns {Span[]}
 */
function parted(span, from, until) {
  const [begin, end] = [Math.max(from, span.begin), Math.min(until, span.until)];
  if (end <= begin) return [span];
  const parts = [
    { ...span, until: begin },
    { begin, until: end, state: /** @type {State} */ ('suspended') },
    { ...span, begin: end },
  ];
  return parts.filter((part) => part.begin < part.until);
}

/**
 * job -> its spans in groups.
 *
 * @param {Store['groups']} groups
 * @param {number} p
 */
function groupSpans(groups, p) {
  /** @type {Map<number, Span[]>} */
  const found = new Map();
  for (const membership of memberships(groups)) {
    if (membership.from > p) continue;
    let list = found.get(membership.job);
    if (!list) found.set(membership.job, (list = []));
    for (const [state, begin, until] of membershipStates(membership))
      list.push({ begin, until: until === NEVER ? Infinity : until, state });
  }
  return found;
}

/**
 * The same with room for more, -1 where nothing is known.
 *
 * @param {Int32Array<ArrayBuffer>} array
 * @param {number} length
 */
function longer(array, length) {
  if (array.length >= length) return array;
  const grown = new Int32Array(2 * length).fill(-1);
  grown.set(array);
  return grown;
}
