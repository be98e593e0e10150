// Batches of the log, as the server stores and sends them (twin/eventlog/batch_codec.py): consecutive events, and the
// rows of their plans as columns.

/** @typedef {[atMs: number, kind: string, data: any]} Line */
/** @typedef {Record<string, ArrayLike<number>>} FrameColumns by table and field: jobs_job, bars_start_ms, keys_role */
/**
 * @typedef {{
 *   type: 'frame', first: number, last: number, sim_ms: number, events: Line[], columns: FrameColumns,
 * }} Frame
 */
/** @typedef {[first: number, end: number]} Range of rows */
/**
 * A plan. ofWorkers: whether its keys are workers, and not jobs; restates: whether it also replaces the past of what it
 * names (scheduling/kernel/plan_scopes.py).
 *
 * @typedef {{ofWorkers: boolean, restates: boolean, jobs: Range, bars: Range, keys: Range}} Plan
 */
/** @typedef {{use: number[][], rows: Range}} Sampled */

/**
 * The frame of a payload.
 *
 * @param {import('./column-codec.js').Payload} payload
 * @returns {Frame}
 */
export function frameOf({ meta, columns }) {
  return { ...meta, columns };
}

/**
 * Calls take(seq, atMs, kind, data) for each event in order; plans and samples have ranges of rows of the columns.
 *
 * @param {Frame} frame
 * @param {(seq: number, atMs: number, kind: string, data: any) => void} take
 */
export function eachEvent(frame, take) {
  let [job, bar, key, sample] = [0, 0, 0, 0];
  frame.events.forEach(([atMs, kind, data], i) => {
    if (kind === 'sampled') {
      const [use, count] = data;
      /** @type {Sampled} */
      const sampled = { use, rows: [sample, sample + count] };
      [, sample] = sampled.rows;
      return take(frame.first + i, atMs, kind, sampled);
    }
    if (kind !== 'plan_changed') return take(frame.first + i, atMs, kind, data);
    const [scope, jobs, bars, keys] = data;
    /** @type {Plan} */
    const plan = {
      ofWorkers: scope === 'worker',
      restates: scope === 'observed',
      jobs: [job, job + jobs],
      bars: [bar, bar + bars],
      keys: [key, key + keys],
    };
    [job, bar, key] = [job + jobs, bar + bars, key + keys];
    take(frame.first + i, atMs, kind, plan);
  });
}
