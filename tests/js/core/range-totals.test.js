// Totals of a range of time, and the jobs at one time: numbers worked out by hand.

import assert from 'node:assert/strict';
import test from 'node:test';

import { heldAt, meanPrices, rangeTotals } from '../../../static/js/core/ranges/range-totals.js';
import { Store } from '../../../static/js/core/store.js';
import { frame, plan } from '../builders.js';

const H = 3_600_000;
const [WORKER, PS] = [0, 1];
const bar = (job, role, start, end, count) => [job, role, 0, start * H, end * H, count, -1, -1, -1];

/** Two jobs: 0 has 2 workers of 2 GPUs from 1 h to 4 h and a parameter server; 1 waits and is rejected at 3 h. */
function twoJobs() {
  const store = new Store();
  store.feed(
    frame([
      [1, 0, 'job_arrived', { job: 0 }],
      [2, 1, 'plan_changed', plan(0, H, 4 * H, bar(0, WORKER, 1, 4, 2), bar(0, PS, 1, 4, 1))],
      [3, 2 * H, 'job_arrived', { job: 1 }],
      [4, 3 * H, 'decided', { job: 1, kind: 'rejected', code: 'payoff' }],
      [5, 4 * H, 'job_completed', { job: 0, utility: 3 }],
    ]),
  );
  return store;
}

const INFO = {
  used: [true, false, false, false, false],
  worker: [2000, 0, 0, 0, 0, 1000, 0, 0, 0, 0],
  ps: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
};

test('hours and jobs of a range are those inside it', () => {
  const whole = rangeTotals(twoJobs(), INFO, 5 * H, 0, 5 * H);
  assert.deepEqual(whole, {
    arrived: 2,
    started: 1,
    completed: 1,
    rejected: 1,
    ran: 1,
    gpu: 12, // 2 workers x 2 GPUs x 3 h
    workers: 6,
    machines: 0,
  });
  const part = rangeTotals(twoJobs(), INFO, 5 * H, 2 * H, 3 * H);
  assert.deepEqual([part.gpu, part.workers, part.started, part.ran, part.arrived], [4, 2, 0, 1, 1]);
  assert.equal(rangeTotals(twoJobs(), INFO, 0, 0, 5 * H).gpu, 0, 'nothing was planned at 0');
});

test('groups count the hours of their machines; the workers on them are bars and count once', () => {
  const store = twoJobs();
  store.groups.push([H, 3 * H, { jobs: [0, 1], servers: [0, 1, 2], ready_ms: [H, H], profiling: [0, 0] }]);
  assert.equal(rangeTotals(store, INFO, 5 * H, 2 * H, 9 * H).machines, 3);
  assert.deepEqual(heldAt(store, 2 * H, 5 * H), [[0, 2]]);
});

test('the jobs at one time come with their workers, and none before the plan was known', () => {
  assert.deepEqual(heldAt(twoJobs(), 2 * H, 5 * H), [[0, 2]]);
  assert.deepEqual(heldAt(twoJobs(), 4 * H, 5 * H), []);
  assert.deepEqual(heldAt(twoJobs(), 2 * H, 0), []);
});

test('mean prices are weighted by time, site by site', () => {
  const cells = (edge) => [[], [edge, 0, 0, 0, 0], []];
  const source = { prices: new Map([[1, cells(4)]]), defaultPrices: cells(1) };
  // half an hour at 1, an hour at 4, half an hour at 1
  assert.deepEqual(meanPrices(source, H, 0, 0.5 * H, 2.5 * H), [{ site: 'edge', price: 2.5 }]);
  assert.deepEqual(meanPrices({ prices: new Map(), defaultPrices: null }, H, 0, 0, H), []);
});
