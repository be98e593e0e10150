// The browser's fold against Python's: tests/twin/eventlog/test_golden_log.py wrote tests/fixtures/golden_log.json.
// Then a story: job 0 is admitted, and moved while it runs.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { unpack } from '../../../static/js/core/columns/column-codec.js';
import { NEVER, OPEN, endAt, storedName, validAt } from '../../../static/js/core/columns/bars.js';
import { Store } from '../../../static/js/core/store.js';
import { frame, plan, unpacked } from '../builders.js';

const golden = JSON.parse(readFileSync(new URL('../../fixtures/golden_log.json', import.meta.url)));
const HOUR = 3_600_000;
const MOVED = 1.5 * HOUR;
const STORY = [
  [1, 0, 'job_arrived', { job: 0 }],
  [2, 0, 'decided', { job: 0, kind: 'admitted', code: 'payoff_positive', values: {} }],
  [
    3,
    0,
    'plan_changed',
    plan(
      0,
      HOUR,
      4 * HOUR,
      [0, 0, 0, HOUR, 2 * HOUR, 2, -1, -1, -1],
      [0, 1, 1, HOUR, 2 * HOUR, 1, -1, -1, -1],
      [0, 0, 0, 3 * HOUR, 4 * HOUR, 2, -1, -1, -1],
    ),
  ],
  [4, MOVED, 'decided', { job: 0, kind: 'moved', code: 'in_order', values: {} }],
  [5, MOVED, 'plan_changed', plan(0, HOUR, 3 * HOUR, [0, 0, 1, MOVED, 3 * HOUR, 3, 1, 2, 4])],
];

function storeOf(log = frame(STORY)) {
  const store = new Store();
  store.feed(log);
  return store;
}

/** The whole state as plain data. */
function plain(store) {
  const table = (columns) =>
    Object.fromEntries(columns.names.map((name) => [name, [...columns[name].subarray(0, columns.length)]]));
  return {
    lastSeq: store.lastSeq,
    simMs: store.simMs,
    jobs: table(store.jobs),
    bars: table(store.bars),
    samples: table(store.samples.newest),
    use: table(store.samples.use),
    verdicts: store.verdicts,
    prices: [...store.prices],
    defaultPrices: store.defaultPrices,
    earlierPrices: store.earlierPrices,
    groups: store.groups,
    edits: store.edits,
    regroupings: store.regroupings,
    gaps: store.gaps,
    reservations: store.reservations,
    suspensions: store.suspensions.rows,
    requeues: store.requeues.rows,
    horizon: store.horizonMs,
  };
}

/** The store in the shape of state.snapshot(). */
function asSnapshot(store) {
  const columns = {};
  for (const [prefix, table] of [
    ['jobs_', store.jobs],
    ['bars_', store.bars],
    ['samples_', store.samples.newest],
    ['use_', store.samples.use],
  ])
    for (const name of table.names) columns[prefix + storedName(name)] = [...table[name].subarray(0, table.length)];
  const prices = [...store.prices].sort((a, b) => a[0] - b[0]).map(([slot, sides]) => [slot, ...sides]);
  const meta = {
    last_seq: store.lastSeq,
    sim_ms: store.simMs,
    finished: store.finished,
    started: store.started,
    verdicts: store.verdicts,
    default_prices: store.defaultPrices,
    earlier_prices: store.earlierPrices,
    groups: store.groups,
    edits: store.edits,
    regroupings: store.regroupings,
    gaps: store.gaps,
    reservations: store.reservations,
    suspensions: store.suspensions.rows,
    requeues: store.requeues.rows,
    prices,
  };
  return { meta, columns };
}

test('the golden log folds to the state that Python folded', () => {
  const store = storeOf(unpacked(golden.frame_base64));
  assert.deepEqual(asSnapshot(store), golden.state);
  assert.deepEqual([...store.unknownKinds], []);
});

test('the snapshot that Python packed loads to the same state', () => {
  const store = new Store();
  store.load(unpack(new Uint8Array(Buffer.from(golden.snapshot_base64, 'base64')).buffer));
  assert.deepEqual(asSnapshot(store), golden.state);
});

test('events that were folded already are passed over', () => {
  const store = storeOf(unpacked(golden.frame_base64));
  assert.equal(store.feed(unpacked(golden.frame_base64)), 0);
  assert.deepEqual(asSnapshot(store), golden.state);
});

test('before the move the playhead sees the plan of then, afterwards the cut past and the new plan', () => {
  const { bars } = storeOf();
  const picture = (p) =>
    [...Array(bars.length).keys()]
      .filter((row) => validAt(bars, row, p))
      .map((row) => [bars.server[row], bars.start_ms[row], bars.end_ms[row]]);
  assert.deepEqual(picture(HOUR), [
    [0, HOUR, 2 * HOUR],
    [1, HOUR, 2 * HOUR],
    [0, 3 * HOUR, 4 * HOUR],
  ]);
  assert.deepEqual(picture(MOVED), [
    [0, HOUR, MOVED],
    [1, HOUR, MOVED],
    [1, MOVED, 3 * HOUR],
  ]);
  assert.deepEqual(picture(-1), []);
});

test('bars that a later plan replaced are not counted', () => {
  const store = storeOf();
  assert.deepEqual([store.bars.length, store.standing], [6, 3]);
});

test('the first verdict is kept beside the latest', () => {
  const store = storeOf();
  assert.deepEqual(store.verdicts, [['admitted', 'moved', 'in_order']]);
  assert.deepEqual([store.jobs.decided_ms[0], store.jobs.start_ms[0], store.jobs.finish_ms[0]], [0, HOUR, 3 * HOUR]);
});

test('a snapshot at any event of the golden log, and the events after it, give the state of all events', () => {
  const log = unpacked(golden.frame_base64);
  const whole = plain(storeOf(log));
  for (let cut = 1; cut < log.events.length; cut++) {
    const early = storeOf({ ...log, events: log.events.slice(0, cut) });
    const columns = {};
    for (const [prefix, table] of [
      ['jobs_', early.jobs],
      ['bars_', early.bars],
      ['samples_', early.samples.newest],
      ['use_', early.samples.use],
    ])
      for (const name of table.names) columns[prefix + storedName(name)] = table[name].slice(0, table.length);
    const meta = {
      last_seq: early.lastSeq,
      sim_ms: early.simMs,
      finished: early.finished,
      started: early.started,
      verdicts: structuredClone(early.verdicts),
      default_prices: early.defaultPrices,
      earlier_prices: structuredClone(early.earlierPrices),
      groups: structuredClone(early.groups),
      edits: structuredClone(early.edits),
      regroupings: structuredClone(early.regroupings),
      gaps: structuredClone(early.gaps),
      reservations: structuredClone(early.reservations),
      suspensions: early.suspensions.rows,
      requeues: early.requeues.rows,
      prices: [...early.prices].map(([slot, sides]) => [slot, ...sides]),
    };
    const store = new Store();
    store.load({ meta, columns });
    store.feed(log);
    const joined = plain(store);
    for (const key of Object.keys(whole))
      assert.deepEqual(joined[key], whole[key], `${key} after a snapshot of ${cut} events`);
  }
});

test('every job has arrived, also those with which the columns grow', () => {
  const store = new Store();
  const log = Array.from({ length: 5000 }, (_, job) => [job + 1, job, 'job_arrived', { job }]);
  for (let first = 0; first < log.length; first += 500) store.feed(frame(log.slice(first, first + 500)));
  assert.deepEqual([...store.jobs.arrived_ms.subarray(0, store.jobs.length)], [...log.keys()]);
});

test('columns grow past their capacity without losing rows', () => {
  const bars = Array.from({ length: 3000 }, (_, i) => [0, 0, 0, i * 10, i * 10 + 10, 1, -1, -1, -1]);
  const store = storeOf(frame([[1, 0, 'plan_changed', plan(0, 0, 30_000, ...bars)]]));
  assert.equal(store.bars.length, 3000);
  assert.equal(store.bars.start_ms[2999], 29_990);
  assert.equal(store.horizonMs, 30_000);
  assert.equal(store.jobs.start_ms[0], 0);
});

test('a plan of a real cluster repeats its past; what has not ended ends at the time shown', () => {
  const store = new Store();
  const bar = (end) => [0, 0, 0, 5, end, 2, -1, -1, -1];
  const observed = (...bars) => ({ scope: 'observed', keys: [0], jobs: [[0, 5, -1]], bars });
  store.feed(
    frame([
      [1, 1, 'job_arrived', { job: 0, submitted_ms: 0 }],
      [2, 1, 'decided', { job: 0, kind: 'waits', code: 'waits', values: {} }],
      [3, 6, 'plan_changed', observed(bar(OPEN))],
    ]),
  );
  assert.equal(store.jobs.arrived_ms[0], 0);
  store.feed(frame([[4, 6, 'server_added', { server: 0, fields: {} }]]));
  assert.deepEqual([store.added, store.unknownKinds.size], [1, 0], 'the page takes up what was added');
  assert.equal(store.jobs.decided_ms[0], NEVER, 'a reason to wait decides nothing');
  assert.equal(store.horizonMs, 6, 'a bar without an end does not stretch the axis');
  assert.equal(endAt(store.bars, 0, 20), 20);
  store.feed(frame([[5, 30, 'plan_changed', observed(bar(25))]]));
  assert.deepEqual(
    [validAt(store.bars, 0, 29), validAt(store.bars, 0, 30), validAt(store.bars, 1, 30)],
    [true, false, true],
  );
  assert.equal(endAt(store.bars, 1, 99), 25);
});
