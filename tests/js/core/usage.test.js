// Difference arrays against brute force, and the curves made of them.

import assert from 'node:assert/strict';
import test from 'node:test';

import { allocated, offered } from '../../../static/js/charts/use/allocation.js';
import { observedCurves } from '../../../static/js/charts/use/allocated-used.js';
import { groupUse } from '../../../static/js/charts/use/group-use.js';
import { NEVER } from '../../../static/js/core/columns/bars.js';
import { jobCounts } from '../../../static/js/core/job-state.js';
import { observed } from '../../../static/js/models/observed.js';
import { slotted } from '../../../static/js/models/slotted.js';
import {
  addInterval,
  binsBegun,
  blankBefore,
  joined,
  meanUpTo,
  settle,
} from '../../../static/js/util/interval-sums.js';
import { Store } from '../../../static/js/core/store.js';
import { frame, plan } from '../builders.js';
import { needsPage, open } from '../dom.js';

function bruteForce(intervals, bins, from, width) {
  return Array.from({ length: bins }, (_, i) => {
    const [low, high] = [from + i * width, from + (i + 1) * width];
    return intervals.reduce(
      (sum, [start, end, amount]) => sum + (amount * Math.max(0, Math.min(end, high) - Math.max(start, low))) / width,
      0,
    );
  });
}

test('intervals that overlap or touch are joined', () => {
  assert.deepEqual(joined([]), []);
  // prettier-ignore
  assert.deepEqual(joined([[0, 9], [2, 5], [9, 12], [13, 14]]), [[0, 12], [13, 14]]);
});

test('half a bin, one and a half bins: 0.5, then 2 x 1 and 2 x 0.5', () => {
  const diff = new Float64Array(4 + 2);
  addInterval(diff, 4, 0, 10, 5, 10, 1);
  addInterval(diff, 4, 0, 10, 20, 35, 2);
  assert.deepEqual([...settle(diff, 4).subarray(0, 4)], [0.5, 0, 2, 1]);
});

test('intervals inside one bin, across the borders of the view and outside agree with brute force', () => {
  let seed = 99;
  const random = () => (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648;
  const intervals = Array.from({ length: 500 }, () => {
    const start = Math.floor(random() * 3000) - 1000;
    return [start, start + Math.floor(random() ** 3 * 900), 1 + Math.floor(random() * 5)];
  });
  const [bins, from, width] = [37, -13, 21.7];
  const diff = new Float64Array(bins + 2);
  for (const [start, end, amount] of intervals) addInterval(diff, bins, from, width, start, end, amount);
  settle(diff, bins);
  bruteForce(intervals, bins, from, width).forEach((wanted, i) =>
    assert.ok(Math.abs(diff[i] - wanted) < 1e-6, `bin ${i}: ${diff[i]} is not ${wanted}`),
  );
});

test('the mean of the bin of a time covers its part up to that time', () => {
  const diff = new Float64Array(4 + 2);
  addInterval(diff, 4, 0, 10, 5, 15, 2); // known up to the ms of 14
  settle(diff, 4);
  assert.deepEqual([...meanUpTo(diff.slice(), 4, 0, 10, 14).subarray(0, 4)], [1, 2, 0, 0]);
  for (const p of [-1, 19, 40]) assert.deepEqual(meanUpTo(diff.slice(), 4, 0, 10, p), diff);
});

test('a bin has begun when a time after its start is shown', () => {
  assert.deepEqual(
    [-5, 0, 1, 10, 11, 40, 99].map((p) => binsBegun(4, 0, 10, p)),
    [0, 0, 1, 1, 2, 4, 4],
  );
});

test('a job is queued for 10 s, runs 20 s, and counts as completed from then on', () => {
  const store = new Store();
  store.feed(
    frame([
      [1, 0, 'job_arrived', { job: 0 }],
      [2, 10_000, 'decided', { job: 0, kind: 'started', code: 'in_order', values: {} }],
      [3, 10_000, 'plan_changed', plan(0, 10_000, 30_000, [0, 0, 0, 10_000, 30_000, 1, -1, -1, -1])],
      [4, 30_000, 'job_completed', { job: 0, utility: 1 }],
    ]),
  );
  const sums = jobCounts(store, 40_000, 0, 10_000, 4);
  const bins = (name) => [...sums[name].subarray(0, 4)];
  assert.deepEqual(
    [bins('queued'), bins('running'), bins('completed')],
    [
      [1, 0, 0, 0],
      [0, 1, 1, 0],
      [0, 0, 0, 1],
    ],
  );
  const early = jobCounts(store, 4_999, 0, 10_000, 4);
  assert.deepEqual([...early.queued.subarray(0, 4)], [1, 0, 0, 0], 'up to the time shown it is queued all the time');
  const later = jobCounts(store, 34_999, 0, 10_000, 4);
  assert.deepEqual([...later.completed.subarray(0, 4)], [0, 0, 0, 1]);
});

const jobs = { completed_ms: [-1, -1] };

test('a group that is open when the run ends uses nothing from then on', () => {
  const group = [
    0,
    NEVER,
    { jobs: [0], servers: [0], machines: 2, comp_ms: [5], comm_ms: [2], pace_ms: [10], ready_ms: [0] },
  ];
  const info = { cluster: { servers: [{ site: 'edge' }] } };
  const used = (finished, p) => groupUse({ groups: [group], jobs, finished, simMs: 100 }, info, p, p, 1, 1).cpu[0][0];
  assert.deepEqual([used(false, 100), used(true, 99), used(true, 100)], [1, 1, 0]);
});

test('jobs of a group use machines at their own pace, and none before they are ready', () => {
  const data = {
    jobs: [0, 1],
    servers: [0],
    machines: 3,
    comp_ms: [6, 2],
    comm_ms: [3, 8],
    pace_ms: [12, 10],
    ready_ms: [0, 30],
  };
  const info = { cluster: { servers: [{ site: 'edge' }] } };
  const { cpu, net } = groupUse({ groups: [[0, 40, data]], jobs, finished: false, simMs: 100 }, info, 100, 0, 20, 2);
  assert.deepEqual([...cpu[0].slice(0, 2)], [1.5, 1.8], '3 x 6/12, and in half of the second bin 3 x 2/10 more');
  assert.deepEqual([...net[0].slice(0, 2)], [0.75, 1.95]);
  const over = { groups: [[0, 40, data]], jobs: { completed_ms: [10, -1] }, finished: false, simMs: 100 };
  assert.deepEqual([...groupUse(over, info, 100, 0, 20, 2).cpu[0].slice(0, 2)], [0.75, 0.3], 'a group outlasts a job');
});

/** {store, servers, info}: a job that arrives at 0 with these bars, on one server of 4 GPUs, 1 GPU a worker. */
function oneJob(until, bars, server = {}) {
  const store = new Store();
  store.feed(
    frame([
      [1, 0, 'run_started', {}],
      [2, 0, 'job_arrived', { job: 0 }],
      [3, 0, 'plan_changed', plan(0, 0, until, ...bars)],
    ]),
  );
  const servers = [{ site: 'edge', capacity: [4000, 0, 0, 0, 0], ...server }];
  return { store, servers, info: { cluster: { servers }, worker: [1000, 0, 0, 0, 0], ps: [0, 0, 0, 0, 0] } };
}

test('a worker on a typed worker allocates no resources, before and after a phase that packs them', () => {
  const bars = [
    [0, 0, 0, 0, 10, 1, 1, -1, -1],
    [0, 0, 0, 10, 20, 2, -1, -1, -1],
  ];
  const { store, info } = oneJob(20, bars);
  assert.deepEqual([...allocated(store, info, 0, 0, 10, 2)[0].slice(0, 2)], [0, 2000]);
  assert.equal(observed.stacks, slotted.stacks, 'the page of a server counts the same on a real cluster');
});

test('what a job holds on an unavailable server is not allocated, as its capacity is not offered', () => {
  const { store, servers, info } = oneJob(40, [[0, 0, 0, 0, 40, 2, -1, -1, -1]], { away: [[10, 25]] });
  assert.deepEqual([...allocated(store, info, 0, 0, 10, 4)[0].slice(0, 4)], [2000, 0, 1000, 2000]);
  assert.deepEqual([...offered(servers, 0, 0, 10, 4)[0].slice(0, 4)], [4000, 0, 2000, 4000]);
});

test('bins that begin before a time are unknown', () => {
  const blank = (ms) => [...blankBefore(Float64Array.of(1, 2, 3), 100, 10, ms)];
  assert.deepEqual(blank(100), [1, 2, 3]);
  assert.deepEqual(blank(111), [NaN, NaN, 3]);
  assert.deepEqual(blank(999), [NaN, NaN, NaN]);
});

test('before the first poll of a real cluster its charts are blank', needsPage, () => {
  open();
  const store = new Store();
  store.feed(
    frame([
      [1, 40, 'job_arrived', { job: 0, submitted_ms: 10 }],
      [2, 40, 'gap', { from_ms: 0, to_ms: 40, reason: 'the cluster was not followed before this time' }],
    ]),
  );
  assert.equal(store.seenFromMs, 40);
  assert.deepEqual([...jobCounts(store, 79, 0, 20, 4).queued.subarray(0, 4)], [NaN, NaN, 1, 1]);
  const server = { site: 'edge', capacity: [4, 8, 0, 0, 0], away: [] };
  const info = {
    cluster: { servers: [server] },
    ...{ names: ['GPU', 'vCPU'], used: [true, false], worker: [1, 0, 0, 0, 0], ps: [0, 0, 0, 0, 0] },
  };
  const { curves, exact } = observedCurves(store, info);
  assert.deepEqual([...curves({ from: 0, to: 80 }, 79, 4, 20)[0].y], [NaN, NaN, 0, 0]);
  assert.deepEqual([exact(39, 79)['00'], exact(40, 79)['00']], [undefined, 0]);
  assert.deepEqual([...observed.shares(store, info, 79, 0, 20, 4).gpu], [NaN, NaN, 0, 0]);
});

test('a later time without polls does not blank what was seen before', () => {
  const store = new Store();
  store.feed(frame([[1, 90, 'gap', { from_ms: 50, to_ms: 90, reason: 'slurmctld does not answer' }]]));
  assert.equal(store.seenFromMs, 0);
});
