// Tools of the schedule: folded rows, the life of a job, the range in which most happens, and the strip of the run.

import assert from 'node:assert/strict';
import test from 'node:test';

import { busyRange } from '../../../static/js/core/ranges/busy-range.js';
import { Store } from '../../../static/js/core/store.js';
import { lifeOf } from '../../../static/js/gantt/layers/life.js';
import { RowGrid } from '../../../static/js/gantt/layers/row-grid.js';
import { sharesInUse } from '../../../static/js/models/index.js';
import { heights, load } from '../../../static/js/gantt/minimap.js';
import { MAX_ROW_PX } from '../../../static/js/gantt/assigned-sub-rows.js';
import { frame, plan, rowsOf } from '../builders.js';
import { byPayoff } from '../../../static/js/gantt/bar-colors.js';

const H = 3_600_000;
const bar = (job, server, start, end, count = 1) => [job, 0, server, start * H, end * H, count, -1, -1, -1];

/** Three jobs of two queues on two edge servers and one in the cloud. */
function three() {
  const store = new Store();
  store.feed(
    frame([
      [1, 0, 'job_arrived', { job: 0 }],
      [2, 0, 'job_arrived', { job: 1 }],
      [3, 0, 'job_arrived', { job: 2 }],
      [4, 0, 'plan_changed', plan(0, 0, 2 * H, bar(0, 0, 0, 1, 2), bar(0, 0, 2, 3))],
      [5, 0, 'plan_changed', plan(1, 0, 2 * H, bar(1, 1, 0, 2))],
      [6, 0, 'plan_changed', plan(2, 0, 2 * H, bar(2, 2, 0, 4))],
    ]),
  );
  return store;
}

const INFO = {
  cluster: {
    servers: [
      { name: 'e1', site: 'edge' },
      { name: 'e2', site: 'edge' },
      { name: 'c1', site: 'cloud' },
    ],
  },
  phases: [{ from_ms: 0, model: 'slotted', title: 'FIFO' }],
  ids: ['a', 'b', 'c'],
  groups: { words: ['big', 'small'], codes: [0, 1, 0] },
  used: [true],
  names: ['GPU'],
};
const labels = ({ list }) => list.map(({ kind, label, length }) => `${kind} ${label} ${length}`);

test('a site folds into one row with all its bars, and opens again', () => {
  const rows = rowsOf(three(), INFO, 'servers');
  assert.deepEqual(labels(rows), [
    'site edge · 2 servers 0',
    'server e1 2',
    'server e2 1',
    'site cloud · 1 server 0',
    'server c1 1',
  ]);
  assert.ok(rows.toggle(rows.list[0]));
  assert.deepEqual(labels(rows), ['many edge · 2 servers 3', 'site cloud · 1 server 0', 'server c1 1']);
  assert.equal(rows.countText, '3 servers');
  assert.ok(rows.toggle(rows.list[0]));
  assert.equal(rows.list.length, 5);
  assert.equal(rows.toggle(rows.list[1]), false, 'a server folds nothing');
});

test('after a change of the execution model the strip has one scale: the share in use', () => {
  // two hours of a group of two jobs, each half of the time on the CPU of one of two machines; then 2 of 8 GPUs
  const group = { jobs: [0, 1], machines: 1, servers: [0], comp_ms: [5, 5], comm_ms: [1, 1], pace_ms: [10, 10] };
  const servers = [0, 1].map((i) => ({ name: `e${i}`, site: 'edge', capacity: [4000, 0, 0, 0, 0] }));
  const phases = [
    { from_ms: 0, model: 'colocation', title: 'Harmony' },
    { from_ms: 2 * H, model: 'slotted', title: 'FIFO' },
  ];
  const info = { ...INFO, phases, cluster: { servers }, worker: [1000, 0, 0, 0, 0], ps: [0, 0, 0, 0, 0] };
  const bars = { length: 1, job: [0], role: [0], server: [0], count: [2], worker_slot: [-1], born_ms: [0] };
  Object.assign(bars, { start_ms: [2 * H], end_ms: [4 * H], died_ms: [Infinity] });
  const groups = [[0, 2 * H, { ...group, ready_ms: [0, 0] }]];
  const told = { groups, jobs: { completed_ms: [-1, -1] }, bars, simMs: 4 * H };
  assert.deepEqual(
    [...heights(told, (...span) => sharesInUse(told, info, ...span), 4 * H, 4, 4 * H)],
    [0.5, 0.5, 0.25, 0.25],
  );
  assert.deepEqual([...heights(three(), null, 4 * H, 4, 4 * H)], [4, 2, 2, 1], 'workers of one model');
});

test('a filter that matches no row is named beside the empty schedule', () => {
  const rows = rowsOf(three(), INFO, 'servers');
  rows.query = 'zz';
  rows.rebuild();
  assert.equal(rows.withBars(105), 'No row matches “zz”');
  rows.query = '';
  rows.rebuild();
  assert.equal(rows.withBars(105), '3 servers, 105 bars');
});

test('a queue opens into a row for each of its jobs, also for one that arrives later', () => {
  const store = three();
  const rows = rowsOf(store, INFO, 'groups');
  assert.deepEqual(labels(rows), ['many big 3', 'many small 1']);
  rows.toggle(rows.list[0]);
  assert.deepEqual(labels(rows), ['site big · 2 jobs 0', 'job a 2', 'job c 1', 'many small 1']);
  INFO.groups.codes.push(0);
  store.feed(frame([[7, H, 'job_arrived', { job: 3 }]]));
  assert.ok(rows.sync());
  assert.equal(rows.list[0].label, 'big · 3 jobs');
  INFO.groups.codes.pop();
});

test('a life goes from the arrival to the completion, or to what is planned', () => {
  const store = three();
  assert.deepEqual(lifeOf(store, 0, H), [0, 2 * H]);
  store.feed(frame([[7, 5 * H, 'job_completed', { job: 0, utility: 1 }]]));
  assert.deepEqual(lifeOf(store, 0, 6 * H), [0, 5 * H]);
  assert.deepEqual(lifeOf(store, 0, H), [0, H], 'at 1 h it had not completed, and its plan at that time is not known');
  assert.equal(lifeOf(store, 9, H), null);
});

test('the first range holds the bulk of the bars, unless that is about the whole run', () => {
  const store = new Store();
  const bars = Array.from({ length: 200 }, (_, i) => bar(0, 0, i / 10, (i + 1) / 10));
  store.feed(frame([[1, 0, 'plan_changed', plan(0, 0, H, ...bars)]]));
  assert.equal(busyRange(store), null, 'bars fill the run');
  store.feed(frame([[2, 0, 'plan_changed', plan(1, 0, H, bar(1, 0, 0, 600))]]));
  const [from, to] = busyRange(store);
  assert.equal(from, 0);
  assert.ok(to > 19.5 * H && to < 23 * H, `${to / H} h`);
  assert.equal(busyRange(three()), null, 'few bars all count');
});

test('the strip has the mean number of workers in each bin', () => {
  assert.deepEqual([...load(three(), 4 * H, 4)], [4, 2, 2, 1]);
});

test('classes of payoffs are found though the payoffs come before the jobs', () => {
  const store = { jobs: { length: 0 } };
  const payoffs = new Map([
    [0, 1],
    [1, 5],
  ]);
  const scheme = byPayoff(store, payoffs);
  const palette = { steps: ['a', 'b', 'c', 'd', 'e'], same: 'none' };
  assert.deepEqual(scheme.legend(palette).keys, []);
  store.jobs.length = 2;
  assert.ok(scheme.legend(palette).keys.length > 1);
});

test('parameter servers of a server with many typed workers are hidden in low rows, and never in the tallest', () => {
  const rows = rowsOf(three(), INFO, 'servers');
  const row = { unlaid: 0, typed: [4, 40], subRows: 44 };
  assert.deepEqual(
    [20, MAX_ROW_PX - 1, MAX_ROW_PX].map((px) => rows.subRows.of(row, px)),
    [4, 4, 44],
  );
});

test('an outage is not known before the edit that announces it, or before it begins on a real cluster', () => {
  const first = [
    [10, 20],
    [80, 90],
  ];
  const server = { away: [first[0], [50, 60], first[1]], away_was: [[30, first]] }; // announced at 30
  const hits = (p, mode) => {
    const info = { run: { mode }, cluster: { servers: [server] } };
    const frame = { p, info, at: (t) => ({ row: { kind: 'server', index: 0 }, t }) };
    return [15, 55, 85].map((t) => Boolean(new RowGrid().hit(t, 0, frame)));
  };
  assert.deepEqual(hits(29, 'batch'), [true, false, true], 'the third outage is known from the beginning');
  assert.deepEqual(hits(30, 'batch'), [true, true, true]);
  assert.deepEqual(hits(40, 'mirror'), [true, false, false]);
});
