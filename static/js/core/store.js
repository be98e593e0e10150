// State of a run, folded from its events exactly as in twin/eventlog/fold.py; the tests of both fold one golden log.

import { Columns } from './columns/growing-columns.js';
import { Samples } from './columns/samples.js';
import { NEVER } from './columns/bars.js';
import { withPrefix } from './columns/column-codec.js';
import { eachEvent } from './columns/frames.js';
import { PlannedBars } from './columns/planned-bars.js';
import { priceSource } from './slot-prices.js';
import { StatedSpans } from './stated-spans.js';

const UNTIL = 1; // column of an interval of a group
const LATEST_KIND = 1; // column of a verdict
const REPLACED = 2; // column of a reservation: replacedMs
// kinds of decisions of a real cluster
const WAITS = 'waits'; // with the reason why the job waits
const SUSPENDED = 'suspended';
const REQUEUED = 'requeued';

/** @typedef {import('./columns/frames.js').Plan} Plan */
/** @typedef {import('./columns/frames.js').FrameColumns} FrameColumns */
/** @typedef {[firstKind: string, latestKind: string, latestCode: string]} Verdict */
/**
 * @typedef {{group: number, jobs: number[], servers: number[], ready_ms: number[], profiling: (boolean | number)[]}}
 * Grouped
 */
/** @typedef {[low: number[], mean: number[], high: number[]]} Prices each flat [site][resource] */
/** @typedef {[atMs: number, site: string, cause: string, before: number[], after: number[]]} Regrouping */

/**
 * @typedef {Columns & {
 *   arrived_ms: Float64Array, decided_ms: Float64Array, start_ms: Float64Array, finish_ms: Float64Array,
 *   completed_ms: Float64Array, utility: Float64Array, rejected_ms: Float64Array,
 * }} JobColumns
 */

/**
 * @typedef {[
 *   number: number, statedMs: number, replacedMs: number, fromMs: number, untilMs: number, name: string,
 *   servers: number[], maintenance: boolean, holders: string,
 * ]} Reservation
 * replacedMs = -1: the newest statement about it
 */

const UNFOLDED = ['server_changed']; // kinds without an effect on this state
const ADDED = ['job_added', 'job_set', 'server_added', 'server_set']; // kinds that change what runInfo says

const JOB_TYPES = {
  arrived_ms: Float64Array,
  decided_ms: Float64Array,
  start_ms: Float64Array,
  finish_ms: Float64Array,
  completed_ms: Float64Array,
  utility: Float64Array,
  rejected_ms: Float64Array,
};

export class Store {
  constructor() {
    this.lastSeq = 0;
    this.simMs = 0;
    this.finished = false;
    this.restated = false; // plans state what happened: of a real cluster
    /** @type {Record<string, any>} */
    this.started = {};
    this.jobs = /** @type {JobColumns} */ (new Columns(JOB_TYPES));
    this.planned = new PlannedBars();
    this.bars = this.planned.bars;
    this.counted = { seq: -1, number: 0 }; // of `standing`
    /** @type {(Verdict | null)[]} */
    this.verdicts = []; // [first kind, latest kind, latest code] of each job, or null
    /** @type {Map<number, Prices>} */
    this.prices = new Map(); // slot -> [low, mean, high], each flat [site][resource]
    /** @type {Prices | null} */
    this.defaultPrices = null; // of the slots that `prices` does not list, from the newest edit on
    /** @type {[number, Prices | null][]} */
    this.earlierPrices = []; // [slot, defaultPrices before it] at each edit
    this.horizonMs = 0; // the latest end of any bar or event: extent of the time axis
    this.generation = 1; // increases when everything was replaced; charts rebuild their indexes
    this.priceVersion = 0;
    this.added = 0; // increases when jobs or servers were added or changed
    /** @type {Regrouping[]} */
    this.regroupings = []; // [atMs, site, cause, before [cpu, net], after [cpu, net]] in the order of the log
    /** @type {[atMs: number, sentences: string[]][]} */
    this.edits = []; // [atMs, [what was changed]] in the order of the log
    /** @type {[fromMs: number, toMs: number, reason: string][]} */
    this.gaps = []; // gaps of a real cluster, in the order of the log
    /** @type {Reservation[]} */
    this.reservations = []; // of a real cluster, in the order of the log
    /** @type {[fromMs: number, untilMs: number, data: Grouped][]} */
    this.groups = []; // [fromMs, untilMs, data of grouped] in the order of the log; -1 = open
    /** @type {Map<number, number>} */
    this.grouped = new Map(); // group -> its index in groups, while it has jobs
    this.samples = new Samples(); // of the use of servers
    this.suspensions = new StatedSpans(); // of jobs of a real cluster
    this.requeues = new StatedSpans(); // waits of such jobs that have run, which those without bars need
    /** @type {Set<string>} */
    this.unknownKinds = new Set(); // of events that are not folded here
  }

  /**
   * Time of the first poll of a real cluster; of the time before it, only the jobs that were still open are known. 0 if
   * everything is known.
   */
  get seenFromMs() {
    const [[from, until] = [0, 0]] = this.gaps;
    return from === 0 ? until : 0; // its log begins with this gap
  }

  clear() {
    const { generation, unknownKinds } = this;
    Object.assign(this, new Store(), { generation: generation + 1, unknownKinds });
  }

  /**
   * Takes a snapshot: {meta, columns} as GET /api/runs/<id>/snapshot/ sends it.
   *
   * @param {import('./columns/column-codec.js').Payload} snapshot
   */
  load({ meta, columns }) {
    this.clear();
    this.lastSeq = meta.last_seq;
    this.simMs = meta.sim_ms;
    this.finished = meta.finished;
    this.restated = meta.restated ?? false;
    this.started = meta.started ?? {};
    this.verdicts = meta.verdicts ?? [];
    Object.assign(this, priceSource(meta));
    this.regroupings = meta.regroupings ?? [];
    this.edits = meta.edits ?? [];
    this.gaps = meta.gaps ?? [];
    this.reservations = structuredClone(meta.reservations ?? []);
    this.groups = structuredClone(meta.groups ?? []);
    this.groups.forEach(([, until, { group }], place) => until === NEVER && this.grouped.set(group, place));
    this.jobs.load(withPrefix(columns, 'jobs_'));
    this.planned.load(withPrefix(columns, 'bars_'));
    this.suspensions.load(meta.suspensions ?? []);
    this.requeues.load(meta.requeues ?? []);
    this.samples.load(withPrefix(columns, 'samples_'), withPrefix(columns, 'use_'));
    this.horizonMs = this.simMs;
    this.#reaches(this.planned.lastEnd(true));
    if (this.finished) this.#finish();
    this.priceVersion++;
  }

  /**
   * Folds the events of a frame, except those already folded. Returns the number of new ones.
   *
   * @param {import('./columns/frames.js').Frame} frame
   */
  feed(frame) {
    let fresh = 0;
    eachEvent(frame, (seq, atMs, kind, data) => {
      if (seq <= this.lastSeq) return;
      this.lastSeq = seq;
      this.simMs = atMs;
      this.#reaches(atMs);
      if (kind === 'plan_changed') this.#planChanged(atMs, data, frame.columns);
      else if (kind === 'sampled') this.samples.feed(data, frame.columns);
      else this.#apply(atMs, kind, data);
      fresh++;
    });
    return fresh;
  }

  /**
   * @param {number} atMs
   * @param {string} kind
   * @param {any} data
   */
  #apply(atMs, kind, data) {
    if (kind === 'decided') this.#decided(atMs, data);
    else if (kind === 'job_arrived') {
      const job = this.#job(data.job); // before the column is read: a new job may replace it by a longer one
      this.jobs.arrived_ms[job] = data.submitted_ms ?? atMs;
    } else if (kind === 'job_completed') {
      const job = this.#job(data.job);
      this.jobs.completed_ms[job] = data.ended_ms ?? atMs;
      this.jobs.utility[job] = data.utility;
    } else if (kind === 'priced') this.#priced(data);
    else if (kind === 'grouped') this.#grouped(atMs, data);
    else if (kind === 'regrouped') this.regroupings.push([atMs, data.site, data.cause, data.before, data.after]);
    else if (kind === 'gap') this.gaps.push([data.from_ms, data.to_ms, data.reason]);
    else if (kind === 'reserved') this.#reserved(atMs, data);
    else if (kind === 'suspensions_set') this.suspensions.set(data.job, data.spans);
    else if (kind === 'edited') this.#edited(atMs, data);
    else if (kind === 'run_started') this.started = { ...data };
    else if (kind === 'run_finished') this.#finish();
    else if (ADDED.includes(kind)) this.added++;
    else if (!UNFOLDED.includes(kind)) this.unknownKinds.add(kind);
  }

  /**
   * A reservation, which replaces what was stated of it before.
   *
   * @param {number} atMs
   * @param {any} data
   */
  #reserved(atMs, data) {
    const before = this.reservations.find(([number, , replacedMs]) => number === data.reservation && replacedMs < 0);
    if (before) before[REPLACED] = atMs;
    const { reservation, from_ms: from, until_ms: until, name, servers, maintenance, holders } = data;
    this.reservations.push([reservation, atMs, NEVER, from, until, name, servers, maintenance, holders]);
  }

  /**
   * Extends the time axis at least to a time.
   *
   * @param {number} endMs
   */
  #reaches(endMs) {
    if (endMs > this.horizonMs) this.horizonMs = endMs;
  }

  /** The log is complete: replaced plans no longer extend the axis. */
  #finish() {
    this.finished = true;
    this.horizonMs = this.simMs;
    this.#reaches(this.planned.lastEnd(false));
  }

  /** Number of bars of the newest plans and of the past, without those that a later plan replaced. */
  get standing() {
    const { bars, lastSeq, counted } = this;
    if (counted.seq !== lastSeq) {
      let number = 0;
      for (let bar = 0; bar < bars.length; bar++) if (bars.died_ms[bar] === NEVER) number++;
      this.counted = { seq: lastSeq, number };
    }
    return this.counted.number;
  }

  /** @param {number} index */
  #job(index) {
    const { jobs } = this;
    while (jobs.length <= index) {
      const row = jobs.extend(1);
      jobs.fill(row, NEVER);
      jobs.utility[row] = 0;
      this.verdicts.push(null);
    }
    return index;
  }

  /**
   * @param {number} atMs
   * @param {any} data
   */
  #decided(atMs, data) {
    const job = this.#job(data.job);
    const [firstKind] = this.verdicts[job] ?? [data.kind];
    const { decided_ms: decided, start_ms: start } = this.jobs;
    const begun = decided[job] !== NEVER || start[job] !== NEVER;
    this.suspensions.decided(atMs, job, data.kind === SUSPENDED);
    this.requeues.decided(atMs, job, data.kind === REQUEUED || (data.kind === WAITS && begun));
    if (data.kind === 'rejected') this.jobs.rejected_ms[job] = atMs;
    if (this.jobs.decided_ms[job] === NEVER && data.kind !== WAITS) this.jobs.decided_ms[job] = atMs;
    this.verdicts[job] = [firstKind, data.kind, data.code];
  }

  /**
   * @param {number} atMs
   * @param {Plan} plan
   * @param {FrameColumns} columns
   */
  #planChanged(atMs, plan, columns) {
    this.restated ||= plan.restates;
    this.#reaches(this.planned.take(atMs, plan, columns));
    const [firstBar, endBar] = plan.bars;
    for (let i = plan.jobs[0]; i < plan.jobs[1]; i++) {
      const job = this.#job(columns.jobs_job[i]);
      this.jobs.start_ms[job] = columns.jobs_start_ms[i];
      this.jobs.finish_ms[job] = columns.jobs_finish_ms[i];
      const unplaced = plan.restates && firstBar === endBar;
      if (unplaced && this.verdicts[job]?.[LATEST_KIND] === WAITS)
        this.requeues.decided(this.jobs.start_ms[job], job, true); // the cluster told only now of an earlier execution
    }
  }

  /**
   * @param {number} atMs
   * @param {any} data
   */
  #grouped(atMs, data) {
    const known = this.grouped.get(data.group);
    if (known !== undefined) this.groups[known][UNTIL] = atMs;
    this.grouped.delete(data.group);
    if (!data.jobs.length) return;
    this.grouped.set(data.group, this.groups.length);
    this.groups.push([atMs, NEVER, data]);
  }

  /**
   * Begins the next phase; events with its prices follow, if it has any.
   *
   * @param {number} atMs
   * @param {any} data
   */
  #edited(atMs, { said: sentences }) {
    this.edits.push([atMs, sentences]);
    this.earlierPrices.push([Math.floor(atMs / (this.started.slot_ms ?? 1)), this.defaultPrices]);
    this.defaultPrices = null;
    this.#dropPrices();
    this.priceVersion++;
  }

  /** First slot of the current phase; earlier slots keep the prices of their own phases. */
  get #firstPriced() {
    const [slot] = this.earlierPrices.at(-1) ?? [0];
    return slot;
  }

  #dropPrices() {
    const first = this.#firstPriced;
    for (const slot of this.prices.keys()) if (slot >= first) this.prices.delete(slot);
  }

  /** @param {any} data */
  #priced({ slots, low, mean, high }) {
    this.priceVersion++;
    if (slots === 'all') {
      this.defaultPrices = [low, mean, high];
      this.#dropPrices();
      return;
    }
    const width = Math.floor(low.length / Math.max(1, slots.length));
    slots.forEach((/** @type {number} */ slot, /** @type {number} */ i) => {
      if (slot < this.#firstPriced) return;
      const [begin, end] = [i * width, (i + 1) * width];
      this.prices.set(slot, [low.slice(begin, end), mean.slice(begin, end), high.slice(begin, end)]);
    });
  }
}
