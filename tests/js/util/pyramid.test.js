import assert from 'node:assert/strict';
import test from 'node:test';

import { LongCurve, spans } from '../../../static/js/util/step-series.js';
import { Pyramid } from '../../../static/js/util/min-max-pyramid.js';

/** Numbers in [0, 1), the same each time. */
function draws(seed) {
  return () => (seed = (seed * 1664525 + 1013904223) % 4294967296) / 4294967296;
}

function plain(values, start, end) {
  const seen = [...values.subarray(start, end)].filter((v) => !Number.isNaN(v));
  return [Math.min(...seen), Math.max(...seen)];
}

function asked(pyramid, stretches) {
  const [low, high] = [new Float64Array(stretches.length), new Float64Array(stretches.length)];
  pyramid.stretches(
    stretches.map(([start]) => start),
    stretches.map(([, end]) => end),
    low,
    high,
  );
  return stretches.map((_, i) => [low[i], high[i]]);
}

for (const length of [0, 1, 7, 8, 9, 64, 65, 1000, 4097]) {
  test(`stretches of ${length} values have the extremes that reading them finds, also after changes`, () => {
    const draw = draws(length + 1);
    const value = () => (draw() < 0.1 ? NaN : 100 * draw() - 50);
    let values = Float64Array.from({ length }, value);
    const pyramid = new Pyramid(values);
    const check = () => {
      const stretches = Array.from({ length: 200 }, () => {
        const start = Math.floor(draw() * (values.length + 1));
        return [start, start + Math.floor(draw() * (values.length + 1 - start))];
      });
      stretches.push([0, values.length]);
      assert.deepEqual(
        asked(pyramid, stretches),
        stretches.map(([start, end]) => plain(values, start, end)),
      );
    };
    check();
    const first = Math.floor(length / 3);
    const last = Math.min(length, first + 40);
    for (let i = first; i < last; i++) values[i] = value();
    pyramid.changed(first, last);
    check();
    const longer = new Float64Array(2 * length + 5);
    longer.set(values);
    for (let i = length; i < longer.length; i++) longer[i] = value();
    values = longer;
    pyramid.grown(values, length);
    check();
  });
}

test('no peak of a long curve is lost: each column shows the extremes of its points and the value before them', () => {
  const x = Float64Array.from({ length: 10_000 }, (_, i) => i * 10);
  const y = x.map((_, i) => (i === 5_432 ? 9 : i === 777 ? -3 : Math.sin(i)));
  const curve = new LongCurve({ x, y });
  for (const [from, to] of [
    [0, 100_000],
    [54_315, 54_325],
    [7_000, 9_000],
    [-50_000, 200_000],
  ]) {
    const found = curve.columns('y', spans(x, from, to, 500));
    for (let i = 0; i < 500; i++) {
      const [begin, end] = [from + ((to - from) * i) / 500, from + ((to - from) * (i + 1)) / 500];
      const here = x.findIndex((t) => t >= begin);
      const next = x.findIndex((t) => t >= end);
      const expected = here < 0 ? [Infinity, -Infinity] : plain(y, Math.max(0, here - 1), next < 0 ? x.length : next);
      assert.deepEqual([found.low[i], found.high[i]], expected, `column ${i} of ${from}..${to}`);
    }
  }
  assert.deepEqual(curve.extremes('y', 0, 100_000), [-3, 9]);
  assert.deepEqual(curve.extremes('y', 54_311, 54_319), [y[5_431], y[5_431]]);
});

test('a curve gives its points of the picture, with one neighbour on each side', () => {
  const x = Float64Array.from({ length: 20 }, (_, i) => i);
  const { x: shown, y } = new LongCurve({ x, y: x.map((v) => 2 * v) }).within(5.5, 9.5);
  assert.deepEqual([...shown], [5, 6, 7, 8, 9, 10]);
  assert.deepEqual([...y], [10, 12, 14, 16, 18, 20]);
});

test('what has changed shows in the next columns', () => {
  const x = Float64Array.from({ length: 1000 }, (_, i) => i);
  const curve = new LongCurve({ x, y: x.map(() => 1) });
  assert.deepEqual(curve.extremes('y', 0, 1000), [1, 1]);
  curve.y[500] = 7;
  curve.changed(500, 501);
  assert.deepEqual(curve.extremes('y', 0, 1000), [1, 7]);
});
