// Workers over time on two typed servers and in the cloud, uploads under way, and what was suspended: by hand.

import assert from 'node:assert/strict';
import test from 'node:test';

import { Uploads } from '../../../static/js/gantt/layers/uploads.js';
import { typedWorkerRows, typedWorkerUse } from '../../../static/js/charts/use/typed-workers.js';
import { Segments } from '../../../static/js/gantt/layers/suspensions.js';
import { capacityAt } from '../../../static/js/util/capacity.js';
import { typedWorkers } from '../../../static/js/models/typed-workers.js';
import { Store } from '../../../static/js/core/store.js';
import { frame, rowsOf } from '../builders.js';

const info = {
  phases: [{ from_ms: 0, model: 'typed_workers' }],
  ids: ['a', 'b'],
  worker: [],
  ps: [],
  run: { id: 1 },
  cluster: {
    cloud: true,
    servers: [
      { name: 's0', site: 'edge', lanes: [2, 0] },
      { name: 's1', site: 'edge', lanes: [1, 0], away: [[50, 100]] },
    ],
  },
  typed_workers: {
    types: ['x', 'y'],
    of_job: [0, 1],
    workers: [
      [1, 1],
      [0, 1],
    ],
  },
};
// job, role, server, start, end, count, worker slot, chunk, group
const workers = (keys, jobs, ...bars) => ({ scope: 'worker', keys, jobs, bars });
const bar = (job, server, start, end, slot, chunk) => [job, 0, server, start, end, 1, slot, chunk, -1];

/** a: a chunk on s0 from 10 to 30, then two in the cloud from 40 to 60; b, dispatched at 20, stops a until 25. */
function story() {
  const store = new Store();
  store.feed(
    frame([
      [1, 0, 'job_arrived', { job: 0 }],
      [
        2,
        0,
        'plan_changed',
        workers(
          [
            [0, 0, 0],
            [0, -2, 0],
          ],
          [[0, 10, 60]],
          bar(0, 0, 10, 30, 0, 0),
          bar(0, -2, 40, 60, -1, 1),
          bar(0, -2, 40, 60, -1, 2),
        ),
      ],
      [
        3,
        20,
        'plan_changed',
        workers(
          [[0, 0, 0]],
          [
            [0, 10, 60],
            [1, 20, 25],
          ],
          bar(1, 0, 20, 25, 0, 0),
          bar(0, 0, 25, 35, 0, 0),
        ),
      ],
    ]),
  );
  return store;
}

// a: 10 to s0, 0 to s1, 40 to the cloud; b: none
const delays = { values: [0, 10, 40], width: 3, code: [1, 0, 2, 0, 0, 2] };

test('busy and present workers of each site, type and the cloud', () => {
  const rows = typedWorkerRows(info);
  assert.deepEqual(
    rows.map(({ name }) => name),
    ['edge workers', 'edge x', 'edge y', 'workers in the unlimited cloud'],
  );
  const sums = typedWorkerUse(story(), info, rows, 100, 0, 10, 10).map((pair) =>
    pair.map((sum) => [...sum.subarray(0, 10)]),
  );
  assert.deepEqual(sums[1][0], [0, 1, 0.5, 0.5, 0, 0, 0, 0, 0, 0]);
  assert.deepEqual(sums[2], [
    [0, 0, 0.5, 0, 0, 0, 0, 0, 0, 0],
    [2, 2, 2, 2, 2, 1, 1, 1, 1, 1],
  ]);
  assert.deepEqual(sums[3][0], [0, 0, 0, 0, 2, 2, 0, 0, 0, 0]);
});

test('a chunk is under way from its dispatch for its delay, also in a snapshot, and not before it is known', () => {
  const store = story();
  const rows = rowsOf(store, info, 'servers');
  const cloud = rows.list.find((row) => row.index === -2);
  const server = rows.list.find((row) => row.index === 0);
  const flight = new Uploads(store, info, () => {}, delays);
  assert.deepEqual(flight.grouped(server, 0, 100, 100), [{ job: 0, server: 0, from: 0, until: 10, count: 1 }]);
  assert.deepEqual(flight.grouped(cloud, 0, 100, 100), [{ job: 0, server: -2, from: 0, until: 40, count: 2 }]);
  assert.deepEqual(flight.grouped(cloud, 41, 100, 100), []);
  store.feed(frame([[4, 70, 'plan_changed', workers([[0, -2, 1]], [[1, 110, 120]], bar(1, -2, 110, 120, -1, 1))]]));
  assert.equal(flight.grouped(cloud, 0, 200, 69).length, 1);
  assert.deepEqual(flight.grouped(cloud, 60, 200, 70), [{ job: 1, server: -2, from: 70, until: 110, count: 1 }]);
});

test('a bar that was stopped and goes on later differs from one that only a new plan cuts', () => {
  const store = story();
  const segments = new Segments(store);
  const { bars } = store;
  const find = (start, end) =>
    [...Array(bars.length).keys()].find(
      (i) => bars.start_ms[i] === start && bars.end_ms[i] === end && bars.died_ms[i] === -1,
    );
  assert.deepEqual(segments.ends(find(10, 20), 30), [true, false]);
  assert.deepEqual(segments.ends(find(25, 35), 30), [false, true]);
  assert.deepEqual(segments.ends(find(20, 25), 30), [false, false]);
  store.feed(frame([[4, 30, 'plan_changed', workers([[0, 0, 0]], [[0, 10, 60]], bar(0, 0, 30, 35, 0, 0))]]));
  assert.deepEqual(segments.ends(find(25, 30), 40), [false, true], 'the next segment touches');
});

test('the chunks of a job in the cloud share a sub-row and one bar', () => {
  const rows = rowsOf(story(), info, 'servers');
  const cloud = rows.list.find((row) => row.index === -2);
  assert.equal(rows.subRows.of(cloud, 40), 1);
  assert.deepEqual(
    [...cloud.sorted.subarray(0, 2)].map((row) => rows.subRows.copiesOf(row)),
    [2, 0],
  );
});

test('a server whose capacity was changed had another number of workers before', () => {
  const server = { name: 's0', site: 'edge', lanes: [1, 2], lanes_was: [[40, [4, 8]]], away: [[60, 70]] };
  const one = { types: ['any'], of_job: [0, 0], workers: [[1]] };
  const resized = { ...info, cluster: { cloud: false, servers: [server] }, typed_workers: one };
  const [[, present]] = typedWorkerUse(story(), resized, typedWorkerRows(resized), 100, 0, 10, 8);
  assert.deepEqual([...present.subarray(0, 8)], [4, 4, 4, 4, 1, 1, 0, 1]);
  assert.deepEqual(typedWorkers.subRows(server), [4, 8]);
  const bars = () => ({ worker_slot: [3], role: [0] });
  const [workers] = typedWorkers.stacks(server, resized, bars);
  assert.deepEqual(
    [39, 40].map((ms) => capacityAt(workers.capacity, ms)),
    [4, 1],
  );
});

test('types of workers are listed by name, whichever was used first', () => {
  const typed = { types: ['w10', 'w2'], workers: [[1, 1]] };
  const rows = typedWorkerRows({ cluster: { servers: [{ site: 'edge' }], cloud: false }, typed_workers: typed });
  assert.deepEqual(
    rows.map(({ name }) => name),
    ['edge workers', 'edge w2', 'edge w10'],
  );
});
