// Stays of jobs on a machine that groups share: as known at each time, with the end that was planned then.

import assert from 'node:assert/strict';
import test from 'node:test';

import { validAt } from '../../../static/js/core/columns/bars.js';
import { staysOn } from '../../../static/js/models/group-stays.js';

const group = (number, servers, jobs) => ({ group: number, servers, jobs, ready_ms: [], profiling: [] });
// Group 5 holds servers 0 and 1; job 7 joins at 10, is alone from 40 on and leaves at 60. Job 8 leaves at 40.
const STORE = {
  simMs: 60,
  groups: [
    [0, 10, group(5, [0, 1], [8])],
    [10, 40, group(5, [0, 1], [7, 8])],
    [40, 60, group(5, [0], [7])],
    [60, 70, group(6, [0], [9])],
    [70, -1, group(6, [0], [9])], // its disk ratio has changed, and no plan
  ],
  bars: bars([
    // job, group, born, end
    [8, 5, 0, 30],
    [8, 5, 10, 45],
    [8, 5, 10, 10], // the part of a replaced bar that had run
    [7, 5, 10, 90],
    [7, 5, 40, 40],
    [7, 5, 40, 65],
    [9, 6, 60, 200],
  ]),
};

function bars(rows) {
  const column = (i) => Float64Array.from(rows, (row) => row[i]);
  return { length: rows.length, job: column(0), group: column(1), born_ms: column(2), end_ms: column(3) };
}

/** [job, start, end] of the stays as known at p. */
function at(p, server) {
  const rows = staysOn(STORE, server);
  const column = (i) => Float64Array.from(rows, (row) => row[i]);
  const known = { length: rows.length, born_ms: column(3), died_ms: column(4) };
  return rows.filter((_, i) => validAt(known, i, p)).map(([job, start, end]) => [job, start, end]);
}

test('a stay begins when the job joins, whatever changes in its group, and ends as planned at the time shown', () => {
  assert.deepEqual(at(0, 0), [[8, 0, 30]]);
  assert.deepEqual(at(39, 0), [
    [8, 0, 45],
    [7, 10, 90],
  ]);
  assert.deepEqual(at(59, 0), [
    [8, 0, 40],
    [7, 10, 65],
  ]);
  assert.deepEqual(at(60, 0), [
    [8, 0, 40],
    [7, 10, 60],
    [9, 60, 200],
  ]);
  assert.deepEqual(at(150, 0).at(-1), [9, 60, 200], 'after the newest event, too, until the next one');
});

test('a machine that leaves a group ends the stays of its jobs', () => {
  assert.deepEqual(at(39, 1), [
    [8, 0, 45],
    [7, 10, 90],
  ]);
  assert.deepEqual(at(60, 1), [
    [8, 0, 40],
    [7, 10, 40],
  ]);
});
