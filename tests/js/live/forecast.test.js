// Forecasts of waiting jobs in words, their badge, and where the Gantt draws them.

import assert from 'node:assert/strict';
import test from 'node:test';

import { Store } from '../../../static/js/core/store.js';
import { ForecastLayer } from '../../../static/js/gantt/layers/forecast.js';
import { calibrationText, outdated, words } from '../../../static/js/live/forecasts.js';
import { rowsOf } from '../builders.js';

const EPOCH = Date.UTC(2026, 10, 22, 14);
const NOW = EPOCH + 60_000;
const MINUTE = 60_000;

const row = (changes = {}) => ({
  job: 1,
  start_ms: 20 * MINUTE,
  finish_ms: 80 * MINUTE,
  low_ms: 5 * MINUTE,
  high_ms: 70 * MINUTE,
  servers: [0],
  why: 'resources',
  waits_for: ['7', '8'],
  more: 0,
  ahead: 3,
  system_ms: 300 * MINUTE,
  never: '',
  ...changes,
});

test('a forecast is its start, its band, the estimate of the cluster, and what it waits for', () => {
  assert.deepEqual(words(row(), EPOCH, 'calibrated', NOW), [
    'Forecast: starts at 14:20 UTC, between 14:05 UTC and 15:10 UTC; the cluster estimates 19:00 UTC.',
    'It waits for 7, 8 to end.',
    '3 waiting jobs are ahead of it. It would end at 15:20 UTC, after 1h.',
  ]);
});

test('without a band, an estimate or jobs ahead, nothing is said of them; near starts have seconds', () => {
  const bare = row({ low_ms: null, high_ms: null, system_ms: null, ahead: 0, why: 'now', start_ms: 2 * MINUTE });
  assert.deepEqual(words(bare, EPOCH, 'calibrated', NOW), [
    'Forecast: starts at 14:02:00 UTC.',
    'It fits now, and waits for the next cycle of the scheduler.',
    'It would end at 15:20:00 UTC, after 1h 18m.',
  ]);
});

test('a job that fits now could start now, and forecasts that are not calibrated say so', () => {
  const due = row({ low_ms: null, system_ms: null, ahead: 0, why: 'now', start_ms: MINUTE, finish_ms: 79 * MINUTE });
  assert.deepEqual(words(due, EPOCH, 'learning', NOW), [
    'Forecast, not calibrated yet: could start now.',
    'It fits now, and waits for the next cycle of the scheduler.',
    'It would run for 1h 18m.',
  ]);
});

test('a job that never starts is given the reason', () => {
  const never = row({ start_ms: null, finish_ms: null, never: 'It is held.', system_ms: null });
  assert.deepEqual(words(never, EPOCH, 'calibrated', NOW), ['No start is forecast.', 'It is held.']);
});

test('a failed forecast is named as the reason why there is no newer one', () => {
  assert.deepEqual(outdated('it took longer than 120 s'), [
    'The forecast is not up to date: it took longer than 120 s.',
  ]);
  assert.deepEqual(outdated(''), []);
});

test('starts on another day are shown with their date', () => {
  const late = row({ start_ms: 3 * 1440 * MINUTE, low_ms: null, system_ms: null });
  assert.match(words(late, EPOCH, 'calibrated', NOW)[0], /^Forecast: starts at 2026-11-25 14:00 UTC\.$/);
});

test('the badge shows the state of the calibration, with its share', () => {
  assert.equal(
    calibrationText({ state: 'learning', count: 7, least: 100, share: 1 }).title,
    'forecasts: learning (7 of 100)',
  );
  assert.equal(
    calibrationText({ state: 'off', count: 150, least: 100, share: 0.5 }).title,
    'forecasts: not calibrated (50 % inside the 80 % band)',
  );
});

test('forecasts on one server get sub-rows where they overlap, and none is drawn in the past', () => {
  const layer = new ForecastLayer();
  let live = true;
  layer.update([row(), row({ job: 2 }), row({ job: 3, start_ms: 80 * MINUTE, finish_ms: 90 * MINUTE })], () => live);
  const held = layer.byServer.get(0);
  assert.deepEqual(
    held.boxes.map(({ subRow }) => subRow),
    [0, 1, 0],
  );
  const frame = {
    area: { left: 0, top: 0, right: 100, bottom: 40 },
    rowPx: 22,
    c: {},
    p: 0,
    views: [{ row: { kind: 'server', index: 0 }, y: 0 }],
    spanOf: (from, until) => [from / MINUTE, until / MINUTE],
    dims: () => false,
    paint: () => ['#123456', '#fff'],
    jobName: (job) => `j${job}`,
  };
  const ctx = new Proxy({}, { get: () => () => {}, set: () => true });
  layer.paint(ctx, frame);
  assert.equal(layer.boxes.length, 3);
  assert.equal(layer.hit(30, 5, frame).job, 1);
  assert.equal(layer.hit(30, 15, frame).job, 2);
  assert.equal(layer.hit(30, 39, frame), null);
  assert.deepEqual(layer.describe(layer.hit(30, 5, frame), frame), [['j1', 'forecast: starts in 20m, runs 1h', 1]]);
  const groupsOf = ({ job }) => [job === 2 ? 'bob' : 'ada'];
  const views = [{ row: { kind: 'many', index: 'ada' }, y: 0 }];
  layer.paint(ctx, { ...frame, views, rows: { order: 'users', groupsOf } });
  assert.deepEqual(
    layer.boxes.map(([left, , , , { job }]) => [left, job]),
    [
      [20, 1],
      [80, 3],
    ],
    'a collapsed row of a user has the forecasts of its jobs',
  );
  live = false;
  layer.paint(ctx, frame);
  assert.equal(layer.boxes.length, 0);
});

test('a forecast belongs to the row of the site of its servers, or to that of the user or queue of its job', () => {
  const servers = [
    { name: 'a', site: 'edge' },
    { name: 'b', site: 'cloud' },
    { name: 'c', site: 'cloud' },
  ];
  const info = { cluster: { servers }, users: { words: ['ada', 'bob'], codes: [0, 1] }, phases: [], ids: ['1', '2'] };
  const keys = (order) => [...rowsOf(new Store(), info, order).groupsOf({ job: 1, servers: [1, 2] })];
  assert.deepEqual([keys('sites'), keys('servers'), keys('users')], [['cloud'], ['cloud'], [1]]);
});
