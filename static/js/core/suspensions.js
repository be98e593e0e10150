// Suspensions of jobs of a real cluster, which keep what they hold: their bars go on, other than in simulated runs.

import { NEVER } from './columns/bars.js';

/** @typedef {[job: number, fromMs: number, untilMs: number]} Suspension until NEVER: until further notice */
/** @typedef {[fromMs: number, untilMs: number]} Span */

const SUSPENDED = 'suspended'; // kind of the decision
const UNTIL = 1; // column of a span

export class Suspensions {
  constructor() {
    /** @type {Map<number, Span[]>} */
    this.byJob = new Map();
  }

  /** @param {Suspension[]} rows */
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
   * Takes a decision: a suspension lasts until the next one of another kind, where the cluster states no times.
   *
   * @param {number} atMs
   * @param {number} job
   * @param {string} kind
   */
  decided(atMs, job, kind) {
    const last = this.byJob.get(job)?.at(-1);
    const open = last?.[UNTIL] === NEVER;
    if (kind === SUSPENDED && !open) this.#add(job, [atMs, NEVER]);
    else if (kind !== SUSPENDED && last && open) last[UNTIL] = atMs;
  }

  /**
   * Takes all suspensions of a job, as its cluster states them.
   *
   * @param {number} job
   * @param {Span[]} spans
   */
  set(job, spans) {
    this.byJob.set(job, structuredClone(spans));
  }

  /** @returns {Suspension[]} */
  get rows() {
    /** @type {Suspension[]} */
    const rows = [];
    for (const [job, spans] of this.byJob) for (const [from, until] of spans) rows.push([job, from, until]);
    return rows;
  }

  /**
   * Suspensions that have begun by p, as known at p: one that goes on then ends at Infinity.
   *
   * @param {number} p
   * @returns {Suspension[]}
   */
  begun(p) {
    return this.rows
      .filter(([, from]) => from <= p)
      .map(([job, from, until]) => [job, from, until === NEVER || until > p ? Infinity : until]);
  }
}
