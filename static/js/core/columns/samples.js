// Samples of the use of servers, folded as twin/eventlog/fold.py does: the newest of each server, and the sums of each
// site over time. twin/eventlog/samples.py says what the fields mean.

import { Columns } from './growing-columns.js';

/** @typedef {import('./frames.js').Sampled} Sampled */
/** @typedef {import('./frames.js').FrameColumns} FrameColumns */
/** @typedef {Record<string, ArrayLike<number>>} Plain */
/** @typedef {Columns & Record<typeof SAMPLE_FIELDS[number], Float64Array>} SampleColumns */
/** @typedef {Columns & Record<typeof USE_FIELDS[number], Float64Array>} UseColumns */

export const UNKNOWN = -1;
const SAMPLE_FIELDS = /** @type {const} */ (['at_ms', 'gpu', 'cpu', 'memory', 'gpu_busy']);
const USE_FIELDS = /** @type {const} */ ([
  ...['at_ms', 'until_ms', 'site', 'servers', 'gpu', 'cpu', 'memory', 'busy'],
  ...['gpu_of', 'cpu_of', 'memory_of', 'busy_of'],
]);

export class Samples {
  constructor() {
    this.newest = /** @type {SampleColumns} */ (new Columns(typesOf(SAMPLE_FIELDS), 64)); // [server]
    this.use = /** @type {UseColumns} */ (new Columns(typesOf(USE_FIELDS), 64)); // in the order of the log
  }

  /**
   * Takes the columns of a snapshot; a run that nobody samples has none.
   *
   * @param {Plain} newest
   * @param {Plain} use
   */
  load(newest, use) {
    if (newest.at_ms) this.newest.load(newest);
    if (use.at_ms) this.use.load(use);
  }

  /**
   * Newer samples replace those of their servers.
   *
   * @param {Sampled} data
   * @param {FrameColumns} columns
   */
  feed({ use: sums, rows: [begin, end] }, columns) {
    const { newest, use } = this;
    for (const values of sums) {
      const row = use.extend(1);
      USE_FIELDS.forEach((name, i) => (use[name][row] = values[i]));
    }
    for (let i = begin; i < end; i++) {
      const server = columns.samples_server[i];
      while (newest.length <= server) newest.fill(newest.extend(1), UNKNOWN);
      if (columns.samples_at_ms[i] <= newest.at_ms[server]) continue;
      for (const name of SAMPLE_FIELDS) newest[name][server] = columns[`samples_${name}`][i];
    }
  }
}

/** @param {readonly string[]} names */
function typesOf(names) {
  return Object.fromEntries(names.map((name) => [name, Float64Array]));
}
