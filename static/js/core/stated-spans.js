// Times in which jobs of a real cluster are in a state that its decisions state: suspensions, in which they keep what
// they hold, so that their bars go on, other than in simulated runs; and waits after a requeue.

import { NEVER } from './columns/bars.js';

/** @typedef {[job: number, fromMs: number, untilMs: number]} StatedSpan until NEVER: until further notice */
/** @typedef {[fromMs: number, untilMs: number]} Span */

const UNTIL = 1; // column of a span

export class StatedSpans {
  constructor() {
    /** @type {Map<number, Span[]>} */
    this.byJob = new Map();
  }

  /** @param {StatedSpan[]} rows */
  load(rows) {
    this.byJob = new Map();
    for (const [job, from, until] of rows) this.#add(job, [from, until]);
  }

  /**
   * @param {number} job
   * @param {Span} span
   */
  #add(job, span) {
    const spans = this.byJob.get(job);
    if (spans) spans.push(span);
    else this.byJob.set(job, [span]);
  }

  /**
   * Takes a decision: where the cluster states no times, the state lasts until the next one by which it does not hold.
   *
   * @param {number} atMs
   * @param {number} job
   * @param {boolean} holds
   */
  decided(atMs, job, holds) {
    const last = this.byJob.get(job)?.at(-1);
    const open = last?.[UNTIL] === NEVER;
    if (holds && !open) this.#add(job, [atMs, NEVER]);
    else if (!holds && last && open) last[UNTIL] = atMs;
  }

  /**
   * Takes all spans of a job, as its cluster states them.
   *
   * @param {number} job
   * @param {Span[]} spans
   */
  set(job, spans) {
    this.byJob.set(job, structuredClone(spans));
  }

  /** @returns {StatedSpan[]} */
  get rows() {
    /** @type {StatedSpan[]} */
    const rows = [];
    for (const [job, spans] of this.byJob) for (const [from, until] of spans) rows.push([job, from, until]);
    return rows;
  }

  /**
   * Spans that have begun by p, as known at p: one that goes on then ends at Infinity.
   *
   * @param {number} p
   * @returns {StatedSpan[]}
   */
  begun(p) {
    return this.rows
      .filter(([, from]) => from <= p)
      .map(([job, from, until]) => [job, from, until === NEVER || until > p ? Infinity : until]);
  }

  /**
   * End of the newest span of a job, as known at p; NEVER without one that has begun.
   *
   * @param {number} job
   * @param {number} p
   */
  endOf(job, p) {
    const last = this.byJob.get(job)?.findLast(([from]) => from <= p);
    if (!last) return NEVER;
    return last[UNTIL] === NEVER || last[UNTIL] > p ? Infinity : last[UNTIL];
  }
}
