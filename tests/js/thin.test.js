import assert from 'node:assert/strict';
import test from 'node:test';

import { thin } from '../../static/js/lib/thin.js';

const line = (count, f) => ({ x: Float64Array.from({ length: count }, (_, i) => i), y: Float64Array.from({ length: count }, (_, i) => f(i)) });

test('a short curve is given back, with one neighbour on each side of the picture', () => {
  const { x, y } = thin(line(20, (i) => 2 * i), 5.5, 9.5, 10);
  assert.deepEqual([...x], [5, 6, 7, 8, 9, 10]);
  assert.deepEqual([...y], [10, 12, 14, 16, 18, 20]);
});

test('each bin keeps its first, least, greatest and last, in order, and its band', () => {
  const values = [5, 9, 1, 6, 4, 4, 4, 4, 7, 8, 2, 3];
  const { x, y, low, high } = thin({ ...line(12, (i) => values[i]), low: Float64Array.from(values, (v) => v - 1), high: Float64Array.from(values, (v) => v + 1) }, 0, 12, 2);
  assert.deepEqual(x, [0, 1, 2, 5, 6, 9, 10, 11]);
  assert.deepEqual(y, [5, 9, 1, 4, 4, 8, 2, 3]);
  assert.deepEqual([low[0], high[0], low.at(-1), high.at(-1)], [0, 10, 1, 9]);
});

test('no peak of a long curve is lost', () => {
  const { y } = thin(line(100_000, (i) => (i === 54_321 ? 9 : i === 777 ? -3 : Math.sin(i))), 0, 100_000, 500);
  assert.ok(y.length <= 2004 && y.length >= 1000);
  assert.equal(Math.max(...y), 9);
  assert.equal(Math.min(...y), -3);
});

test('gaps stay gaps', () => {
  const { y } = thin(line(1000, (i) => (i < 500 ? NaN : 1)), 0, 1000, 10);
  assert.ok(Number.isNaN(y[0]));
  assert.equal(y.at(-1), 1);
});
