// Suspensions of jobs of a real cluster, which keep what they hold: their bars go on, other than in simulated runs.

import { NEVER } from './bars.js';

/** @typedef {[job: number, fromMs: number, untilMs: number]} Suspension until NEVER: until further notice */

const SUSPENDED = 'suspended'; // kind of the decision

export class Suspensions {
  constructor() {
    /** @type {Suspension[]} */
    this.rows = []; // in the order of the log
    /** @type {Map<number, Suspension>} */
    this.open = new Map(); // by job
  }

  /** @param {Suspension[]} rows */
  load(rows) {
    this.rows = structuredClone(rows);
    this.open = new Map(this.rows.filter(([, , until]) => until === NEVER).map((row) => [row[0], row]));
  }

  /**
   * Takes a decision: a suspension lasts until the next one of another kind.
   *
   * @param {number} atMs
   * @param {number} job
   * @param {string} kind
   */
  decided(atMs, job, kind) {
    const open = this.open.get(job);
    if (kind === SUSPENDED && !open) {
      /** @type {Suspension} */
      const row = [job, atMs, NEVER];
      this.rows.push(row);
      this.open.set(job, row);
    } else if (kind !== SUSPENDED && open) {
      open[2] = atMs;
      this.open.delete(job);
    }
  }

  /**
   * Those that have begun by p, as known at p: one that goes on then ends at Infinity.
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
