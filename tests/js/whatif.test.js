import assert from 'node:assert/strict';
import { test } from 'node:test';

import { effectWords } from '../../static/js/controls/edit-list.js';
import { offered } from '../../static/js/charts/utilization.js';
import { History } from '../../static/js/lib/history.js';
import { parseTime, timeText } from '../../static/js/lib/moments.js';
import { cells, confidence, named, parseValues } from '../../static/js/lib/sweep.js';

test('times are read as people type them, and written so that they are read back', () => {
  const H = 3_600_000;
  for (const [text, ms] of [['0', 0], ['2d 03:15', 51.25 * H], ['03:15:20.5', 3.25 * H + 20_500], ['90 min', 1.5 * H], ['1.5 h', 1.5 * H], ['2 d 4 h', 52 * H], ['250 ms', 250], ['26:00', 26 * H]]) assert.equal(parseTime(text), ms, text);
  for (const text of ['', 'soon', '3', '1:2:3', '4 weeks', '-1 h']) assert.equal(parseTime(text), null, text);
  for (const ms of [0, 1, 999, 1000, 61_001, 51.25 * H, 100 * 24 * H + 7]) assert.equal(parseTime(timeText(ms)), ms);
});

test('undo and redo go back and forth; a change drops what was undone', () => {
  let told = 0;
  const history = new History([], () => told++);
  history.change([1]);
  history.change([1, 2]);
  history.undo();
  assert.deepEqual(history.value, [1]);
  history.redo();
  assert.deepEqual(history.value, [1, 2]);
  history.undo();
  history.change([3]);
  history.redo();
  assert.deepEqual([history.value, told], [[3], 6]);
});

test('what edits do, in words', () => {
  assert.deepEqual(effectWords({ servers: 2, capacity: { gpu: 0.12, cpu: 0.12, memory: 0.12, storage: 0.12, bandwidth: 0.12 } }), ['+2 servers', 'capacity +12 %']);
  assert.deepEqual(effectWords({ capacity: { gpu: -0.05 }, jobs_touched: 3, jobs_added: 1 }), ['GPU −5.0 %', '1 job added', '3 jobs touched']);
  assert.deepEqual(effectWords({ away: 1, cloud: false, scheduler: 'fifo' }), ['1 server is away for a time', 'cloud off', 'scheduler fifo']);
});

test('the confidence of a mean over seeds', () => {
  assert.deepEqual(confidence([]), { mean: null, half: null, count: 0 });
  assert.deepEqual(confidence([3]), { mean: 3, half: null, count: 1 });
  const { mean, half } = confidence([1, 2, 3, 4]);
  assert.equal(mean, 2.5);
  assert.ok(Math.abs(half - (3.182 * Math.sqrt(5 / 3)) / 2) < 1e-9, String(half));
  const grid = cells([{ place: [0, 1], figures: { x: 2 } }, { place: [0, 1], figures: { x: 4 } }, { place: [1, 0], figures: {} }], 'x');
  assert.deepEqual([grid.get('0,1').mean, grid.get('1,0').mean], [3, null]);
});

test('the values of an axis', () => {
  assert.deepEqual(parseValues('1, 2, marginal'), [1, 2, 'marginal']);
  assert.deepEqual(parseValues('0.1..0.5 by 0.2'), [0.1, 0.3, 0.5]);
  assert.deepEqual(parseValues('1..8 times 2'), [1, 2, 4, 8]);
  assert.throws(() => parseValues('5..1 by 1'), /goes from less to more/);
  assert.throws(() => parseValues(' '), /Give values as/);
});

test('a server that was resized offers what it had at the time', () => {
  const server = { site: 'edge', capacity: [4000, 0, 0, 0, 0], was: [[10, [1000, 0, 0, 0, 0]], [20, [2000, 0, 0, 0, 0]]], away: [[25, 30]] };
  assert.deepEqual([...offered([server], 0, 5, 8)[0].slice(0, 8)], [1000, 1000, 2000, 2000, 4000, 0, 4000, 4000]);
});

test('an axis in ms is read as a length of time', () => {
  const axis = named({ edit: 1, field: 'for_ms' }, 'edit 1: fail servers, for_ms');
  assert.deepEqual([axis.title, axis.text(3_600_000)], ['edit 1: fail servers, for', '1 h']);
  const other = named({ parameter: 'floor_scale' }, 'floor_scale');
  assert.deepEqual([other.title, other.text(0.5)], ['floor scale', '0.5']);
});
