import assert from 'node:assert/strict';
import test from 'node:test';

import { layersOf } from '../../../static/js/charts/resource-stack.js';
import { OPEN } from '../../../static/js/core/columns/bars.js';
import { heldAt } from '../../../static/js/core/ranges/range-totals.js';
import { barsAt, serverRows } from '../../../static/js/run/server/jobs.js';

/** [job, start, end, count] -> columns of workers that are known from the beginning */
function bars(rows) {
  const column = (i) => rows.map((row) => row[i]);
  const zeros = rows.map(() => 0);
  return {
    job: column(0),
    start_ms: column(1),
    end_ms: column(2),
    count: column(3),
    role: zeros,
    born_ms: zeros,
    died_ms: rows.map(() => -1),
    length: rows.length,
  };
}

const GPUS = bars([
  [7, 0, OPEN, 1],
  [7, 0, OPEN, 1],
  [7, 0, OPEN, 1],
  [3, 40, 60, 2],
  [5, 10, 20, 4],
]);
const source = { bars: GPUS, rows: [0, 1, 2, 3, 4] };

test('equal bars of a job are one row with their sum; running jobs come before planned ones', () => {
  assert.deepEqual(serverRows(source, 15), [
    { job: 7, role: 0, start: 0, end: OPEN, count: 3, running: true },
    { job: 5, role: 0, start: 10, end: 20, count: 4, running: true },
    { job: 3, role: 0, start: 40, end: 60, count: 2, running: false },
  ]);
  assert.deepEqual(barsAt(source, 45), [0, 1, 2, 3]);
});

test('a job whose end is not known holds its server until the time shown, and is not planned after it', () => {
  const { layers } = layersOf(GPUS, source.rows, () => 1, 15, 0, 10, 6);
  const sumOf = (job) => [...layers.find((layer) => layer.job === job).sum.subarray(0, 6)];
  assert.deepEqual(sumOf(7), [3, 1.5, 0, 0, 0, 0]);
  assert.deepEqual(sumOf(3), [0, 0, 0, 0, 1, 1]);
  const store = { bars: GPUS, groups: [] };
  assert.deepEqual(heldAt(store, 15, 15), [
    [5, 4],
    [7, 3],
  ]);
  assert.deepEqual(heldAt(store, 45, 15), [[3, 2]]);
  assert.deepEqual(heldAt(store, 30, 15), []);
});
