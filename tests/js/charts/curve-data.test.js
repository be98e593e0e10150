// Data of curves as Chart.js gets them, and the value of a curve at a time.

import assert from 'node:assert/strict';
import test from 'node:test';

import { datasetsOf, valueAt } from '../../../static/js/charts/parts/curve-data.js';

const VIEW = { from: 0, to: 40 };

test('a curve has its points, with gaps where no value is known, and is hidden by its key', () => {
  const curve = { key: 'a', axis: 'y', color: '#123456', x: [0, 10, 20], y: [1, NaN, 3], stepped: true, fill: true };
  const [shown] = datasetsOf([curve], new Set(), [], VIEW);
  const gaps = [
    { x: 0, y: 1 },
    { x: 10, y: null },
    { x: 20, y: 3 },
  ];
  assert.deepEqual(shown.data, gaps);
  assert.deepEqual([shown.hidden, shown.stepped, shown.fill, shown.spanGaps], [false, true, 'origin', false]);
  assert.equal(datasetsOf([curve], new Set(['a']), [], VIEW)[0].hidden, true);
});

test('long curves of an axis have one dataset, of two points that span their values', () => {
  const long = (axis, low, high) => ({ axis, long: { extremes: () => [low, high] } });
  const curves = [long('y0', 1, 5), long('y0', 3, 8), long('y1', Infinity, -Infinity)];
  const [first, second, ...more] = datasetsOf(curves, new Set(), curves, VIEW);
  const ends = [
    { x: 0, y: 1 },
    { x: 40, y: 8 },
  ];
  assert.deepEqual([first.yAxisID, first.data, first.showLine], ['y0', ends, false]);
  assert.deepEqual([second.yAxisID, second.data], ['y1', []], 'no value in view');
  assert.deepEqual(more, []);
});

test('a curve has the value of the last point at or before a time', () => {
  const curve = { x: [10, 20], y: [1, 2] };
  assert.deepEqual(
    [5, 10, 19, 20, 99].map((t) => valueAt(curve, t)),
    [null, 1, 1, 2, 2],
  );
});
