// The browser's fold against Python's: tests/twin/test_golden_log.py wrote tests/fixtures/golden_log.json. Then a story: job 0
// is admitted, and moved while it runs.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { unpack } from '../../static/js/lib/columns.js';
import { Store, trueAt } from '../../static/js/store.js';

const golden = JSON.parse(readFileSync(new URL('../fixtures/golden_log.json', import.meta.url)));
const HOUR = 3_600_000;
const MOVED = 1.5 * HOUR;
const STORY = [
  [1, 0, 'job_arrived', { job: 0 }],
  [2, 0, 'decided', { job: 0, kind: 'admitted', code: 'payoff_positive', values: {} }],
  [3, 0, 'planned', { job: 0, finish_ms: 4 * HOUR, bars: [0, 0, 0, HOUR, 2 * HOUR, 2, -1, -1, -1, 0, 1, 1, HOUR, 2 * HOUR, 1, -1, -1, -1, 0, 0, 0, 3 * HOUR, 4 * HOUR, 2, -1, -1, -1] }],
  [4, MOVED, 'decided', { job: 0, kind: 'moved', code: 'in_order', values: {} }],
  [5, MOVED, 'planned', { job: 0, finish_ms: 3 * HOUR, bars: [0, 0, 1, MOVED, 3 * HOUR, 3, 1, 2, 4] }],
];

function told(events = STORY) {
  const store = new Store();
  store.feed(events);
  return store;
}

/** The whole state as plain data. */
function plain(store) {
  const table = (columns) => Object.fromEntries(columns.names.map((name) => [name, [...columns[name].subarray(0, columns.length)]]));
  return { lastSeq: store.lastSeq, simMs: store.simMs, jobs: table(store.jobs), bars: table(store.bars), verdicts: store.verdicts, prices: [...store.prices], groups: store.groups, edits: store.edits, regroupings: store.regroupings, horizon: store.horizonMs };
}

/** The store in the shape of state.snapshot(). */
function asSnapshot(store) {
  const columns = {};
  for (const [prefix, table] of [['jobs_', store.jobs], ['bars_', store.bars]]) for (const name of table.names) columns[prefix + name] = [...table[name].subarray(0, table.length)];
  const prices = [...store.prices].sort((a, b) => a[0] - b[0]).map(([slot, sides]) => [slot, ...sides]);
  const meta = { last_seq: store.lastSeq, sim_ms: store.simMs, finished: store.finished, started: store.started, verdicts: store.verdicts, default_prices: store.defaultPrices, groups: store.groups, edits: store.edits, regroupings: store.regroupings, prices };
  return { meta, columns };
}

test('the golden log folds to the state that Python folded', () => {
  assert.deepEqual(asSnapshot(told(golden.events)), golden.state);
});

test('the snapshot that Python packed loads to the same state', () => {
  const store = new Store();
  store.load(unpack(new Uint8Array(Buffer.from(golden.snapshot_base64, 'base64')).buffer));
  assert.deepEqual(asSnapshot(store), golden.state);
});

test('events that were folded already are passed over', () => {
  const store = told(golden.events);
  assert.equal(store.feed(golden.events), 0);
  assert.deepEqual(asSnapshot(store), golden.state);
});

test('before the move the playhead sees the plan of then, afterwards the cut past and the new plan', () => {
  const { bars } = told();
  const picture = (p) => [...Array(bars.length).keys()].filter((row) => trueAt(bars, row, p)).map((row) => [bars.server[row], bars.start_ms[row], bars.end_ms[row]]);
  assert.deepEqual(picture(HOUR), [[0, HOUR, 2 * HOUR], [1, HOUR, 2 * HOUR], [0, 3 * HOUR, 4 * HOUR]]);
  assert.deepEqual(picture(MOVED), [[0, HOUR, MOVED], [1, HOUR, MOVED], [1, MOVED, 3 * HOUR]]);
  assert.deepEqual(picture(-1), []);
});

test('the first verdict is kept beside the latest', () => {
  const store = told();
  assert.deepEqual(store.verdicts, [['admitted', 'moved', 'in_order']]);
  assert.deepEqual([store.jobs.decided_ms[0], store.jobs.start_ms[0], store.jobs.finish_ms[0]], [0, HOUR, 3 * HOUR]);
});

test('a snapshot at any event of the golden log, and the events after it, give the state of all events', () => {
  const { events } = golden;
  const whole = plain(told(events));
  for (let cut = 1; cut < events.length; cut++) {
    const early = told(events.slice(0, cut));
    const columns = {};
    for (const [prefix, table] of [['jobs_', early.jobs], ['bars_', early.bars]]) for (const name of table.names) columns[prefix + name] = table[name].slice(0, table.length);
    const meta = { last_seq: early.lastSeq, sim_ms: early.simMs, finished: early.finished, started: early.started, verdicts: structuredClone(early.verdicts),
      default_prices: early.defaultPrices, groups: structuredClone(early.groups), edits: structuredClone(early.edits), regroupings: structuredClone(early.regroupings), prices: [...early.prices].map(([slot, sides]) => [slot, ...sides]) };
    const store = new Store();
    store.load({ meta, columns });
    store.feed(events.slice(cut));
    const joined = plain(store);
    for (const key of Object.keys(whole)) assert.deepEqual(joined[key], whole[key], `${key} after a snapshot of ${cut} events`);
  }
});

test('columns grow past their capacity without losing rows', () => {
  const bars = Array.from({ length: 3000 }, (_, i) => [0, 0, 0, i * 10, i * 10 + 10, 1, -1, -1, -1]).flat();
  const store = told([[1, 0, 'planned', { job: 0, finish_ms: 30_000, bars }]]);
  assert.equal(store.bars.length, 3000);
  assert.equal(store.bars.start_ms[2999], 29_990);
  assert.equal(store.horizonMs, 30_000);
  assert.equal(store.jobs.start_ms[0], 0);
});
