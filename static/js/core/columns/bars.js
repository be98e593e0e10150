// Bars of a run: the columns that hold them, and what holds of a bar at a playhead.
//
// Bars are bitemporal: born_ms is when they were decided, died_ms when a later plan replaced them (-1 = still valid).
// At playhead p the visible rows are those that are valid then (validAt).

import { CPU, RESOURCE_COUNT } from '../../util/capacity.js';

/** @typedef {import('./growing-columns.js').Columns} Columns */

export const NEVER = -1;
export const OPEN = 2 ** 53; // end of a bar of a real cluster that has not ended
export const WORKER = 0;
export const PS = 1;
export const TRANSFER = 2;
export const SUSPENDED = 3; // a worker of a suspended job of a real cluster: everything but its CPUs is held
export const CLOUD = -2;
const ROLE_NAMES = ['worker', 'parameter server', 'transfer', 'suspended worker'];

/** Name of a column in logs and frames, where a worker slot is still called lane (docs/decisions/0025). */
export const storedName = (/** @type {string} */ name) => (name === 'worker_slot' ? 'lane' : name);

/**
 * @typedef {Columns & {
 *   job: Int32Array, role: Int32Array, server: Int32Array, start_ms: Float64Array, end_ms: Float64Array,
 *   count: Int32Array, worker_slot: Int32Array, chunk: Int32Array, group: Int32Array, born_ms: Float64Array,
 *   died_ms: Float64Array,
 * }} BarColumns
 */

/** @typedef {[untilMs: number, worker: number[], workers: number]} EarlierSize of a job that restarted with another */
/**
 * @typedef {{worker: ArrayLike<number>, ps: ArrayLike<number>, slotsAreGpus?: boolean,
 *   earlier_sizes?: Record<number, EarlierSize[]>}} Demands what a unit of the bars of each job holds
 */

export const BAR_TYPES = {
  job: Int32Array,
  role: Int32Array,
  server: Int32Array,
  start_ms: Float64Array,
  end_ms: Float64Array,
  count: Int32Array,
  worker_slot: Int32Array,
  chunk: Int32Array,
  group: Int32Array,
  born_ms: Float64Array,
  died_ms: Float64Array,
};

/**
 * True if a bar is valid at playhead p: decided by then, and not yet replaced.
 *
 * @param {BarColumns} bars
 * @param {number} row
 * @param {number} p
 */
export function validAt(bars, row, p) {
  const died = bars.died_ms[row];
  return bars.born_ms[row] <= p && (died === NEVER || died > p);
}

/**
 * The end of a bar as shown at playhead p; p for one that has not ended.
 *
 * @param {BarColumns} bars
 * @param {number} row
 * @param {number} p
 */
export function endAt(bars, row, p) {
  return bars.end_ms[row] < OPEN ? bars.end_ms[row] : Math.max(p, bars.start_ms[row] + 1);
}

/**
 * Amount of a resource that a bar holds, in thousandths: 0 while a gang loads its data, and on a typed worker, which is
 * taken in place of resources. The slot of a bar of a real cluster is a GPU, and its job has the size of its start.
 *
 * @param {Pick<BarColumns, 'role' | 'job' | 'count' | 'worker_slot' | 'start_ms'>} bars
 * @param {number} bar
 * @param {number} r
 * @param {Demands} info
 */
export function heldBy({ role, job, count, worker_slot: slot, start_ms: start }, bar, r, info) {
  const { worker, ps, slotsAreGpus, earlier_sizes: earlier } = info;
  if ((slot[bar] >= 0 && !slotsAreGpus) || role[bar] === TRANSFER || (role[bar] === SUSPENDED && r === CPU)) return 0;
  const then = earlier?.[job[bar]]?.find(([until]) => start[bar] < until);
  if (then) return then[1][r] * count[bar];
  return (role[bar] === PS ? ps : worker)[job[bar] * RESOURCE_COUNT + r] * count[bar];
}

const NO_CHUNK = 0xfffff; // in place of the chunk of a bar without one

/**
 * The same number for the bars of one chunk, or of the workers of a job without chunks.
 *
 * @param {BarColumns} bars
 * @param {number} bar
 */
export function chunkKey({ job, chunk }, bar) {
  return job[bar] * (NO_CHUNK + 1) + (chunk[bar] < 0 ? NO_CHUNK : chunk[bar]);
}

/**
 * The worker of a bar, for plans of workers: bars with a chunk, and bars of dedicated parameter servers; else null.
 *
 * @param {BarColumns} bars
 * @param {number} row
 */
export function workerOf(bars, row) {
  const isPs = bars.role[row] === PS;
  const onCloud = bars.server[row] === CLOUD;
  if (bars.chunk[row] < 0 && !(isPs && (bars.worker_slot[row] >= 0 || onCloud))) return null;
  return workerName(isPs, bars.server[row], onCloud ? bars.job[row] : bars.worker_slot[row]);
}

/**
 * The key of a worker or parameter server in plans of workers.
 *
 * @param {boolean} isPs
 * @param {number} server
 * @param {number} worker
 */
export function workerName(isPs, server, worker) {
  return `${isPs ? 'p' : 'w'}${server}/${worker}`;
}

/**
 * The name of a role of bars, for one of them or several.
 *
 * @param {number} role
 */
export function roleName(role, count = 1) {
  const name = ROLE_NAMES[role] ?? 'bar';
  return count === 1 ? name : `${name}s`;
}
