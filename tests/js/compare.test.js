import assert from 'node:assert/strict';
import { test } from 'node:test';
import { address, deltaText, inFull, leading, logTicks, masks, place, relativeText, runsOf, shareAt, valueText, wide, withBase } from '../../static/js/lib/compare.js';

const BITS = { shifted: 1, moved: 2, admitted: 4, rejected: 8, preempted: 16 };
const HOUR = 3_600_000;

test('the address names runs once, in order, and nothing else', () => {
  assert.deepEqual(runsOf('3, 5,x,5,-1,07'), [3, 5, 7]);
  assert.deepEqual(runsOf(null), []);
  assert.equal(address([3, 5], { race: 2 }), '/compare/?runs=3,5&race=2');
});

test('a run becomes the base, or takes the last place among those compared in full', () => {
  assert.deepEqual(withBase([1, 2, 3], 3), [3, 1, 2]);
  assert.deepEqual(inFull([1, 2, 3, 4, 5], 5, 3), [1, 2, 5, 3, 4]);
});

test('values and deltas carry their unit and their sign', () => {
  assert.equal(valueText(2 * HOUR + 300_000, 'ms'), '2 h 5 min');
  assert.equal(valueText(0.753, 'share'), '75.3 %');
  assert.equal(valueText(1.254, 'x'), '1.25 ×');
  assert.equal(valueText(null, 'ms'), '–');
  assert.equal(deltaText(-HOUR, 'ms'), '−1 h');
  assert.equal(deltaText(0.032, 'share'), '+3.2 points');
  assert.equal(deltaText(0, 'ms'), '±0');
  assert.equal(deltaText(null, ''), '');
  assert.equal(deltaText(0.001, ''), '≈ 0');
  assert.equal(relativeText(-0.123), '−12 %');
  assert.equal(relativeText(0.05), '+5 %');
  assert.equal(relativeText(null), '');
});

test('an admission against a rejection colours a job before a shift does', () => {
  assert.equal(leading(1 | 2, BITS), 'moved');
  assert.equal(leading(1 | 4, BITS), 'admitted');
  assert.equal(leading(0, BITS), null);
});

test('the base gets the kinds of the run it is told against, job by job', () => {
  const columns = { run_1: new Uint8Array(3), run_2: Uint8Array.of(9, 4, 1), shared_1: Int32Array.of(0, 2), shared_2: Int32Array.of(1, 2) };
  assert.deepEqual([...masks(columns, 1, 2).base], [4, 0, 1]);
  assert.deepEqual([...masks(columns, 1, 2).other], [9, 4, 1]);
});

test('the share below a value is read off the quantiles', () => {
  const values = [10, 20, 40];
  assert.deepEqual([5, 10, 15, 20, 30, 40, 99].map((x) => shareAt(values, x)), [0, 0, 0.25, 0.5, 0.75, 1, 1]);
  assert.equal(shareAt([], 3), null);
  assert.equal(shareAt([7, 7, 7], 7), 1);
});

test('an axis is logarithmic when the tail is long', () => {
  const curve = (low, high) => ({ values: Array.from({ length: 101 }, (_, i) => (i < 100 ? low : high)) });
  assert.equal(wide([curve(1, 10)]), false);
  assert.equal(wide([curve(1, 10), curve(2, 100)]), true);
  assert.equal(wide([{ values: [] }]), false);
});

test('a bar is placed in per cent of the span and never too thin to see', () => {
  assert.deepEqual(place(25, 75, [0, 100]), [25, 50]);
  assert.deepEqual(place(50, 50, [0, 100]), [50, 0.6]);
  assert.equal(place(null, 75, [0, 100]), null);
});

test('a logarithmic axis of time has round ticks, and not too many', () => {
  assert.deepEqual(logTicks(HOUR / 2, 6 * HOUR), [HOUR / 2, HOUR, 2 * HOUR, 5 * HOUR]);
  assert.ok(logTicks(1, 1e12).length <= 6);
});
