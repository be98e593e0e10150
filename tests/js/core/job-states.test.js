// What each job does at each moment of tests/fixtures/job_states.json.
// tests/twin/eventlog/test_job_states.py reads it, too.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { summary } from '../../../static/js/run/metrics/tiles.js';
import { paintServerTiles } from '../../../static/js/run/server/tiles.js';
import { ServerJobs } from '../../../static/js/run/server/jobs.js';
import { ABSENT, JOB_STATES, MEANING, UNSEEN, jobCounts, jobStates } from '../../../static/js/core/job-state.js';
import { statesOf } from '../../../static/js/models/index.js';
import { NEVER, OPEN } from '../../../static/js/core/columns/bars.js';
import { Store } from '../../../static/js/core/store.js';
import { frame, plan } from '../builders.js';
import { needsPage, open } from '../dom.js';

const pinned = JSON.parse(readFileSync(new URL('../../fixtures/job_states.json', import.meta.url)));
const JOBS = 9;

function storeUpTo(untilMs = Infinity) {
  const store = new Store();
  store.feed(frame(pinned.events.filter(([, at]) => at <= untilMs)));
  return store;
}

const words = (store, p) => {
  const codes = jobStates(store, p);
  return Array.from({ length: JOBS }, (_, job) => JOB_STATES[codes[job] ?? ABSENT] ?? 'not arrived');
};
const tally = (states) =>
  Object.fromEntries(JOB_STATES.map((name) => [name, states.filter((state) => state === name).length]));

test('the words are those of the file, and each has its meaning', () => {
  assert.deepEqual(JOB_STATES, pinned.states);
  assert.deepEqual(Object.keys(MEANING).sort(), [...JOB_STATES, 'not arrived'].sort());
  assert.deepEqual(
    statesOf({ phases: [{ from_ms: 0, model: 'slotted' }] }),
    JOB_STATES.filter((name) => name !== 'profiling' && name !== 'moving'),
  );
});

for (const { at_ms: at, states } of pinned.moments) {
  test(`the state of every job at ${at}, looking back and at the newest moment`, () => {
    assert.deepEqual(words(storeUpTo(), at), states);
    assert.deepEqual(words(storeUpTo(at), at), states);
  });

  test(`the chart at ${at} counts the same jobs`, () => {
    for (const store of [storeUpTo(), storeUpTo(at)]) {
      const sums = Object.fromEntries(
        Object.entries(jobCounts(store, at, at, 1, 1)).map(([name, sum]) => [name, sum[0]]),
      );
      assert.deepEqual(sums, tally(states));
    }
  });

  test(`the tiles at ${at} add up to the number of jobs`, () => {
    const sum = summary(storeUpTo(), at, JOBS);
    assert.deepEqual(tally(states), Object.fromEntries(JOB_STATES.map((name) => [name, sum[name]])));
    assert.equal(
      JOB_STATES.reduce((all, name) => all + sum[name], sum['not arrived']),
      JOBS,
    );
  });
}

test('a job that its cluster requeues waits again', () => {
  for (const { events, moments } of [pinned.cluster, pinned.requeued])
    for (const { at_ms: at, states } of moments)
      for (const until of [Infinity, at]) {
        const store = new Store();
        store.feed(frame(events.filter(([, when]) => when <= until)));
        assert.deepEqual(words(store, at).slice(0, states.length), states, `at ${at}`);
        const sums = Object.entries(jobCounts(store, at, at, 1, 1)).map(([name, sum]) => [name, sum[0]]);
        assert.deepEqual(Object.fromEntries(sums), tally(states), `at ${at}`);
      }
});

test('over any time every job that has arrived is in one state', () => {
  const store = storeUpTo();
  const sums = jobCounts(store, 1000, 0, 10, 100);
  for (let bin = 0; bin < 100; bin++) {
    const all = JOB_STATES.reduce((total, name) => total + sums[name][bin], 0);
    const arrived = Array.from(store.jobs.arrived_ms.subarray(0, JOBS)).reduce(
      (total, ms) => total + Math.min(1, Math.max(0, (10 * (bin + 1) - ms) / 10)),
      0,
    );
    assert.ok(Math.abs(all - arrived) < 1e-9, `bin ${bin}: ${all} of ${arrived}`);
  }
});

test('a job whose end is still to come in the next frame is not suspended', () => {
  const store = new Store();
  store.feed(
    frame([
      [1, 0, 'job_arrived', { job: 0 }],
      [2, 0, 'decided', { job: 0, kind: 'started', code: 'in_order', values: {} }],
      [3, 0, 'plan_changed', plan(0, 0, 100, [0, 0, 0, 0, 100, 1, -1, -1, -1])],
    ]),
  );
  assert.equal(JOB_STATES[jobStates(store, 100)[0]], 'running');
  store.feed(frame([[4, 100, 'job_completed', { job: 0, utility: 1 }]]));
  assert.equal(JOB_STATES[jobStates(store, 100)[0]], 'completed');
});

test('a job whose cluster does not state where it runs is running without a bar', () => {
  const observed = (finish) => ({ scope: 'observed', keys: [0], jobs: [[0, 50, finish]], bars: [] });
  const store = new Store();
  store.feed(
    frame([
      [1, 0, 'job_arrived', { job: 0 }],
      [2, 60, 'plan_changed', observed(-1)],
    ]),
  );
  assert.deepEqual(
    [40, 50, 500].map((at) => words(store, at)[0]),
    ['queued', 'running', 'running'],
  );
  assert.equal(jobCounts(store, 100, 40, 20, 3).running[1], 1);
  store.feed(
    frame([
      [3, 90, 'plan_changed', observed(80)],
      [4, 90, 'job_completed', { job: 0, utility: 0, ended_ms: 80 }],
    ]),
  );
  assert.deepEqual(
    [79, 80].map((at) => words(store, at)[0]),
    ['running', 'completed'],
  );
  assert.deepEqual([...jobCounts(store, 100, 40, 20, 3).running.subarray(0, 3)], [0.5, 1, 0]);
});

test('a job that its cluster suspends is suspended although its bar goes on', () => {
  const decided = (seq, at, kind) => [seq, at, 'decided', { job: 0, kind, code: kind, values: {} }];
  const observed = (finish, end) => ({ ...plan(0, 0, finish, [0, 0, 0, 0, end, 1, -1, -1, -1]), scope: 'observed' });
  const log = [
    [1, 0, 'job_arrived', { job: 0 }],
    decided(2, 0, 'started'),
    [3, 0, 'plan_changed', observed(-1, 2 ** 53)],
    decided(4, 100, 'suspended'),
    decided(5, 150, 'suspended'),
    decided(6, 200, 'resumed'),
    decided(7, 300, 'suspended'),
    [8, 400, 'plan_changed', observed(400, 400)],
    decided(9, 400, 'ended'),
    [10, 400, 'job_completed', { job: 0, utility: 0, ended_ms: 400 }],
  ];
  const whole = new Store();
  whole.feed(frame(log));
  const loaded = new Store();
  loaded.suspensions.load([
    [0, 100, 200],
    [0, 300, -1],
  ]);
  loaded.suspensions.decided(400, 0, false);
  assert.deepEqual(loaded.suspensions.rows, whole.suspensions.rows);
  for (const [at, state] of Object.entries({ 50: 'running', 100: 'suspended', 200: 'running', 300: 'suspended' })) {
    const early = new Store();
    early.feed(frame(log.filter(([, ms]) => ms <= +at)));
    for (const store of [whole, early]) {
      assert.equal(words(store, +at)[0], state);
      assert.equal(jobCounts(store, +at, +at, 1, 1)[state][0], 1);
    }
  }
  const stated = new Store();
  stated.feed(
    frame([
      ...log.slice(0, 7),
      [
        8,
        450,
        'suspensions_set',
        {
          job: 0,
          spans: [
            [40, 200],
            [300, NEVER],
          ],
        },
      ],
    ]),
  );
  assert.deepEqual(
    [39, 40, 199, 200, 300].map((at) => words(stated, at)[0]),
    ['running', 'suspended', 'suspended', 'running', 'suspended'],
  );
  stated.feed(frame([decided(9, 500, 'resumed')]));
  assert.deepEqual(stated.suspensions.rows, [
    [0, 40, 200],
    [0, 300, 500],
  ]);
  const sums = jobCounts(whole, 400, 0, 100, 4);
  assert.deepEqual([...sums.running.subarray(0, 4)], [1, 0, 1, 0]);
  assert.deepEqual([...sums.suspended.subarray(0, 4)], [0, 1, 0, 1]);
});

test('a job of a real cluster that is streamed before the number of jobs is known is not counted below zero', () => {
  const { 'not arrived': before } = summary(storeUpTo(), Infinity, 0);
  assert.equal(before, 0);
});

test('before a real cluster was observed for the first time no state of a job is known', needsPage, () => {
  open('/', '<dl id="tiles"></dl><span id="jobs-note"></span><div id="jobs"></div>');
  const store = new Store();
  const bar = [0, 0, 0, 20, OPEN, 1, -1, -1, -1];
  store.feed(
    frame([
      [1, 0, 'run_started', { scheduler: 'observed' }],
      [2, 90, 'gap', { from_ms: 0, to_ms: 90, reason: 'not yet followed' }],
      [3, 90, 'job_arrived', { job: 0, submitted_ms: 10 }],
      [4, 90, 'job_arrived', { job: 1, submitted_ms: 60 }],
      [5, 90, 'plan_changed', { scope: 'observed', keys: [0], jobs: [[0, 20, -1]], bars: [bar] }],
    ]),
  );
  assert.deepEqual([...jobStates(store, 50)], [UNSEEN, ABSENT]);
  assert.deepEqual([...jobStates(store, 89)], [UNSEEN, UNSEEN]);
  assert.deepEqual(words(store, 90).slice(0, 2), ['running', 'queued']);
  const { running, queued, jct, 'not arrived': absent } = summary(store, 50, 2);
  assert.deepEqual([running, queued, jct, absent], [NaN, NaN, NaN, 1]);
  assert.equal(summary(store, 90, 2).running, 1);

  const source = { bars: store.bars, rows: [0] };
  const measures = [{ title: 'GPU', unit: 'GPU', capacity: [[Infinity, 2]], amountOf: () => 1 }];
  const tilesAt = (p) => {
    const isSeen = p >= store.seenFromMs;
    const given = { source, p, measures, capacityThen: ({ capacity }) => capacity, restriction: null, measured: [] };
    paintServerTiles(document.querySelector('#tiles'), { ...given, isSeen });
    return [...document.querySelectorAll('#tiles dd')].map(({ textContent }) => textContent);
  };
  assert.deepEqual(
    [tilesAt(50), tilesAt(90)],
    [
      ['–', '– of 2'],
      ['1', '1 of 2'],
    ],
  );
  const server = { name: 'n1', capacity: [2000, 0, 0, 0, 0], away: [] };
  const own = new ServerJobs({ runId: 1, store, server, outagesAt: () => [], nameOf: String, onPick() {} });
  const textAt = (p) => {
    own.paint(source, p);
    return document.querySelector('#jobs').textContent;
  };
  assert.match(textAt(50), /^Jobs are not known/);
  assert.match(textAt(90), /running/);
});
