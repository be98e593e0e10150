// Frames of hand-written events, as the server would send them, and the rows of a schedule.

import { unpack } from '../../static/js/core/columns/column-codec.js';
import { frameOf } from '../../static/js/core/columns/frames.js';
import { Rows } from '../../static/js/gantt/rows.js';
import { modelsOf } from '../../static/js/models/index.js';

const TABLES = {
  jobs: ['job', 'start_ms', 'finish_ms'],
  bars: ['job', 'role', 'server', 'start_ms', 'end_ms', 'count', 'lane', 'chunk', 'group'],
  keys: ['role', 'server', 'worker'],
  samples: ['server', 'at_ms', 'gpu', 'cpu', 'memory', 'gpu_busy'],
};

/**
 * Of [seq, atMs, kind, data] each; the data of a plan: {scope, keys, jobs, bars}, of samples: {use, rows}, rows of
 * numbers.
 */
export function frame(events) {
  const rows = { jobs: [], bars: [], keys: [], samples: [] };
  const lines = events.map(([, at, kind, data]) => {
    if (kind === 'sampled') {
      rows.samples.push(...data.rows);
      return [at, kind, [data.use, data.rows.length]];
    }
    if (kind !== 'plan_changed') return [at, kind, data];
    const of = { jobs: data.jobs, bars: data.bars, keys: data.scope === 'worker' ? data.keys : [] };
    for (const name of Object.keys(of)) rows[name].push(...of[name]);
    return [at, kind, [data.scope, of.jobs.length, of.bars.length, of.keys.length]];
  });
  const columns = {};
  for (const [name, fields] of Object.entries(TABLES)) {
    fields.forEach((field, i) => (columns[`${name}_${field}`] = rows[name].map((row) => row[i])));
  }
  const [first, last] = [events[0], events.at(-1)];
  return { type: 'frame', first: first[0], last: last[0], sim_ms: last[1], events: lines, columns };
}

/** The data of a plan of one job. */
export function plan(job, startMs, finishMs, ...bars) {
  return { scope: 'job', keys: [job], jobs: [[job, startMs, finishMs]], bars };
}

/** The frame of a batch as Python packed it, in base64. */
export function unpacked(base64) {
  return frameOf(unpack(new Uint8Array(Buffer.from(base64, 'base64')).buffer));
}

/** The rows of a Gantt of a run, in an order, with the execution models of its phases. */
export const rowsOf = (store, info, order) => new Rows(store, info, order, modelsOf(info));
