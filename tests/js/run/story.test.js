// The story of a job in the drawer: what it requests, where it ran, and how it ended.

import assert from 'node:assert/strict';
import test from 'node:test';

import { wallOf, wallText } from '../../../static/js/util/wall-clock.js';
import { stopsOf } from '../../../static/js/models/index.js';
import { askedText, endOf, moment, notRunText, ranText, whereItRan } from '../../../static/js/run/drawer/story.js';
import { needsPage, open } from '../dom.js';

const HOUR = 3_600_000;

test('what a job requests is a sentence of the fields that it has', () => {
  const fields = (given) => Object.entries(given).map(([name, value]) => ({ name, value }));
  const worker = { gpu: 1, cpu: 4, memory: 0, storage: 0, bandwidth: 0.5 };
  assert.equal(
    askedText(fields({ requested_workers: 4, worker, model: 'resnet50', group: 'vc1', limit_ms: 2 * HOUR })),
    'Requests 4 workers of 1 GPU, 4 vCPU and 0.5 Gbps each; model resnet50; queue vc1; time limit 2h.',
  );
  assert.equal(
    askedText(fields({ requested_workers: 1, worker: { ...worker, cpu: 0, bandwidth: 0 } })),
    'Requests 1 worker of 1 GPU.',
  );
  assert.equal(
    askedText(fields({ requested_workers: 15, worker: { ...worker, cpu: 0, bandwidth: 0 } }), ['requested_workers']),
    'Requests workers of 1 GPU each.',
    'the scheduler chooses the number',
  );
  assert.equal(askedText(fields({ worker_type: 2, user: 'ann' })), 'Requests workers of type 2; user ann.');
  assert.equal(
    askedText(fields({ requested_workers: 3, worker, worker_type: 'a' }), ['worker']),
    'Requests 3 workers of type a.',
  );
  assert.equal(askedText(fields({ model: 'lstm' })), 'Model lstm.');
  assert.equal(askedText([]), '');
});

const SIMULATED = { phases: [{ model: 'slotted' }] };
const FIELDS = ['job', 'role', 'server', 'start_ms', 'end_ms', 'count', 'died_ms'];

test('where a job ran: its servers, the most workers at a time, and how often it was suspended', () => {
  const bars = [
    [0, 0, 3, 0, HOUR, 2, -1],
    [0, 0, 1, 0, HOUR, 1, -1],
    [0, 1, 9, 0, HOUR, 1, -1], // a parameter server
    [0, 0, 1, HOUR, 2 * HOUR, 1, -1],
    [0, 0, 1, 3 * HOUR, 5 * HOUR, 4, -1],
    [0, 0, 7, 0, 9 * HOUR, 4, 5], // a plan that was replaced
  ];
  const ended = { servers: [1, 3], begin: 0, end: 5 * HOUR, workers: 4, pauses: 1 };
  assert.deepEqual(whereItRan(bars, FIELDS, 6 * HOUR), ended);
  assert.deepEqual(whereItRan(bars, FIELDS, 4 * HOUR).end, null, 'it still runs');
  assert.deepEqual(whereItRan(bars, FIELDS, 2 * HOUR), {
    servers: [1, 3],
    begin: 0,
    end: 2 * HOUR,
    workers: 3,
    pauses: 0,
  });
  assert.equal(whereItRan([[0, 0, 3, HOUR, 2 * HOUR, 2, -1]], FIELDS, 0), null, 'it is only planned');
  assert.equal(
    ranText(ended, (server) => `p${server}`, stopsOf(SIMULATED, {}, ended)),
    'On p1 and p3, at most 4 workers at a time, suspended once.',
  );
  assert.equal(
    ranText({ servers: [1, 2, 3, 4, 5], workers: 1 }, (server) => `p${server}`, { suspended: 3 }),
    'On p1, p2, p3 and 2 more, at most 1 worker at a time, suspended 3 times.',
  );
  assert.equal(
    ranText({ servers: [1], workers: 1 }, () => 'p1', { suspended: 0 }),
    'On p1, at most 1 worker at a time.',
  );
});

test('a job of a real cluster that ran again was requeued, and keeps its place while it is suspended', () => {
  const bars = [
    [0, 0, 1, 0, HOUR, 2, -1],
    [0, 3, 1, HOUR, 2 * HOUR, 2, -1], // suspended, without its CPUs
    [0, 0, 1, 2 * HOUR, 3 * HOUR, 2, -1],
    [0, 0, 2, 5 * HOUR, 6 * HOUR, 2, -1],
    [0, 0, 1, 8 * HOUR, 9 * HOUR, 2, -1],
  ];
  const found = whereItRan(bars, FIELDS, 9 * HOUR);
  assert.deepEqual(found, { servers: [1, 2], begin: 0, end: 9 * HOUR, workers: 2, pauses: 2 });
  const stops = stopsOf({ phases: [{ model: 'observed' }] }, { suspensions: [[HOUR, 2 * HOUR]] }, found);
  assert.equal(
    ranText(found, (server) => `p${server}`, stops),
    'On p1 and p2, at most 2 workers at a time, suspended once, requeued twice.',
  );
});

test('how a job ended, or is to end', () => {
  const done = { state: 'completed', completed_ms: 9 * HOUR, jct_ms: 4 * HOUR, utility: 2.5 };
  assert.deepEqual(endOf(done), ['Completed', 'Completion time (JCT) 4h. It earned a utility of 2.50.', 9 * HOUR]);
  assert.equal(endOf(done, 'ended')[0], 'Ended', 'as on a real cluster, where the job may have failed');
  const rejected = {
    state: 'rejected',
    decisions: [
      { kind: 'waits', at_ms: 1 },
      { kind: 'rejected', at_ms: 7 },
    ],
  };
  assert.deepEqual(endOf(rejected), ['Rejected', 'It will not run.', 7]);
  assert.deepEqual(endOf({ state: 'running', finish_ms: HOUR, completed_ms: null }), [
    'Planned finish',
    'As planned at the time shown.',
    HOUR,
  ]);
  assert.equal(endOf({ state: 'unfinished', finish_ms: HOUR })[0], 'Unfinished');
  assert.equal(endOf({ state: 'queued' })[0], 'Not ended');
  assert.equal(notRunText({ state: 'unfinished' }), 'It did not run.');
  assert.equal(notRunText({ state: 'queued' }), 'It has not run yet.');
  assert.equal(notRunText({ state: null }), 'Its cluster had not been observed yet.');
});

test('a wall clock gives times since its last start; it says UTC and, where it differs, the local time', () => {
  const clock = { sim_ms: HOUR, wall_ms: Date.UTC(2026, 10, 24, 22, 40, 5), speed: 2 };
  assert.equal(wallOf(clock, 3 * HOUR), clock.wall_ms + HOUR);
  assert.equal(wallOf(clock, HOUR - 1), null, 'before its last change');
  assert.equal(wallOf({ ...clock, speed: 0 }, 3 * HOUR), null, 'paused');
  assert.equal(wallOf({ ...clock, wall_ms: null }, 3 * HOUR), null);
  assert.equal(wallOf(null, 0), null);
  assert.equal(wallText(clock.wall_ms, 0), '2026-11-24 22:40:05 UTC');
  assert.equal(wallText(clock.wall_ms, 60), '2026-11-24 22:40:05 UTC, 23:40:05 local (UTC+1)');
  assert.equal(wallText(clock.wall_ms, 330), '2026-11-24 22:40:05 UTC, 2026-11-25 04:10:05 local (UTC+5:30)');
  assert.equal(wallText(clock.wall_ms, -210), '2026-11-24 22:40:05 UTC, 19:10:05 local (UTC−3:30)');
});

test('a moment has the time of the run, the time since the arrival, and the wall clock', needsPage, () => {
  open();
  const clock = { sim_ms: 0, wall_ms: Date.UTC(2026, 10, 24), speed: 1 };
  const text = (...given) => moment(...given).textContent;
  assert.equal(text(3 * HOUR, HOUR, null), '03:00:00 (2h after arrival)');
  assert.equal(text(HOUR, HOUR, null), '01:00:00');
  assert.match(text(3 * HOUR, HOUR, clock), /^03:00:00 \(2h after arrival; 2026-11-24 03:00:00 UTC/);
});
