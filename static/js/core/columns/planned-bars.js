// Bars of the plans of a run: a plan replaces the future of the jobs, or of the workers, that it names; on a live
// cluster, it also replaces their past.

import { Columns } from './growing-columns.js';
import { BAR_TYPES, NEVER, OPEN, PS, storedName, workerName, workerOf } from './bars.js';

/** @typedef {import('./bars.js').BarColumns} BarColumns */
/** @typedef {import('./frames.js').Plan} Plan */
/** @typedef {import('./frames.js').FrameColumns} FrameColumns */

export class PlannedBars {
  constructor() {
    this.bars = /** @type {BarColumns} */ (new Columns(BAR_TYPES));
    /** @type {Map<number | string, number[]>} */
    this.alive = new Map(); // job, or worker as workerOf names it -> rows of the bars that its next plan replaces
  }

  /** Takes the bars of a snapshot. @param {Record<string, any>} columns */
  load(columns) {
    const { bars } = this;
    bars.load(Object.fromEntries(bars.names.map((name) => [name, columns[storedName(name)]])));
    for (let row = 0; row < bars.length; row++) {
      if (bars.died_ms[row] !== NEVER) continue;
      const worker = workerOf(bars, row);
      this.#lives(bars.job[row], row);
      if (worker !== null) this.#lives(worker, row);
    }
  }

  /**
   * The latest end of the bars, except those whose end is not known. 0 if there is none.
   *
   * @param {boolean} every also of the bars that a later plan has replaced
   */
  lastEnd(every) {
    const { bars } = this;
    let last = 0;
    for (let row = 0; row < bars.length; row++) {
      const end = bars.end_ms[row];
      if (end > last && end < OPEN && (every || bars.died_ms[row] === NEVER)) last = end;
    }
    return last;
  }

  /**
   * Takes a plan. Returns the latest end of its bars, except those whose end is not known; 0 if there is none.
   *
   * @param {number} atMs
   * @param {Plan} plan
   * @param {FrameColumns} columns
   */
  take(atMs, plan, columns) {
    const [first, end] = plan.ofWorkers ? plan.keys : plan.jobs;
    for (let i = first; i < end; i++) {
      const { keys_role: role, keys_server: server, keys_worker: worker } = columns;
      const key = plan.ofWorkers ? workerName(role[i] === PS, server[i], worker[i]) : columns.jobs_job[i];
      const rows = this.alive.get(key) ?? [];
      if (plan.restates) this.#restate(rows, atMs);
      else this.#replace(rows, atMs);
      this.alive.delete(key);
    }
    return this.#append(columns, plan, atMs);
  }

  /**
   * Ends the rows' future at atMs: started bars are cut, later ones dropped.
   *
   * @param {number[]} rows
   * @param {number} atMs
   */
  #replace(rows, atMs) {
    const { bars } = this;
    for (const row of rows) {
      if (bars.died_ms[row] !== NEVER || bars.end_ms[row] <= atMs) continue;
      bars.died_ms[row] = atMs;
      if (bars.start_ms[row] < atMs) {
        const cut = bars.extend(1);
        bars.copyRow(row, cut);
        bars.end_ms[cut] = atMs;
        bars.born_ms[cut] = atMs;
        bars.died_ms[cut] = NEVER;
      }
    }
  }

  /**
   * The history is logged again, from the job's start on.
   *
   * @param {number[]} rows
   * @param {number} atMs
   */
  #restate(rows, atMs) {
    for (const row of rows) this.bars.died_ms[row] = atMs;
  }

  /**
   * @param {FrameColumns} columns
   * @param {Plan} plan
   * @param {number} atMs
   */
  #append(columns, { ofWorkers, bars: [begin, end] }, atMs) {
    const { bars } = this;
    let row = bars.extend(end - begin);
    let last = 0;
    const slots = columns[`bars_${storedName('worker_slot')}`];
    for (let i = begin; i < end; i++, row++) {
      bars.job[row] = columns.bars_job[i];
      bars.role[row] = columns.bars_role[i];
      bars.server[row] = columns.bars_server[i];
      bars.start_ms[row] = columns.bars_start_ms[i];
      bars.end_ms[row] = columns.bars_end_ms[i];
      bars.count[row] = columns.bars_count[i];
      bars.worker_slot[row] = slots[i];
      bars.chunk[row] = columns.bars_chunk[i];
      bars.group[row] = columns.bars_group[i];
      bars.born_ms[row] = atMs;
      bars.died_ms[row] = NEVER;
      const until = bars.end_ms[row];
      if (until > last && until < OPEN) last = until;
      this.#lives(ofWorkers ? /** @type {string} */ (workerOf(bars, row)) : bars.job[row], row);
    }
    return last;
  }

  /**
   * Registers a valid row, so that the next plan of its job or worker finds it.
   *
   * @param {number | string} key
   * @param {number} row
   */
  #lives(key, row) {
    const rows = this.alive.get(key);
    if (rows) rows.push(row);
    else this.alive.set(key, [row]);
  }
}
