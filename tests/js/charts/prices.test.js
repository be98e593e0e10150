import assert from 'node:assert/strict';
import test from 'node:test';

import { CellCurves, serverPrices } from '../../../static/js/charts/prices.js';
import { labelled } from '../../../static/js/charts/layouts/small-multiples.js';
import { needsPage, open } from '../dom.js';

// [low, mean, high], each [cell]
const priced = (...prices) => [prices.map((v) => v - 1), prices, prices.map((v) => v + 1)];

test('the curves of the cells follow the prices slot by slot, and the last slot has an end', () => {
  const source = {
    prices: new Map([
      [0, priced(5, 50)],
      [1, priced(6, 60)],
    ]),
    defaultPrices: priced(9, 90),
  };
  const cells = new CellCurves(1000, 2);
  const [first, second] = cells.of(source, 1, 3);
  assert.deepEqual([...first.x], [0, 1000, 2000, 3000]);
  assert.deepEqual([...first.y], [5, 6, 9, 9]);
  assert.deepEqual([...second.low], [49, 59, 89, 89]);
  assert.deepEqual(first.extremes('y', 0, 3000), [5, 9]);

  source.prices.set(2, priced(20, 10));
  assert.deepEqual([...cells.of(source, 2, 3)[0].y], [5, 6, 20, 20]);
  assert.deepEqual(first.extremes('y', 0, 3000), [5, 20]);
  assert.deepEqual(second.extremes('high', 0, 3000), [11, 61]); // the last point is no slot, the third slot is 11
});

test('more slots go on where the curves ended; earlier ones are not read again', () => {
  const source = { prices: new Map([[0, priced(5)]]), defaultPrices: null };
  const cells = new CellCurves(1000, 1);
  const [curve] = cells.of(source, 1, 1);
  assert.deepEqual(curve.extremes('y', 0, 5000), [5, 5]);
  source.prices.set(3, priced(8));
  const [longer] = cells.of(source, 2, 4);
  assert.equal(longer, curve);
  assert.deepEqual([...longer.y], [5, NaN, NaN, 8, 8]);
  assert.deepEqual(longer.extremes('y', 0, 5000), [5, 8]);
  assert.deepEqual(longer.extremes('y', 1500, 2500), [Infinity, -Infinity]);
});

test('another source, and cells without a price', () => {
  const cells = new CellCurves(1000, 2);
  assert.deepEqual(cells.of({ prices: new Map(), defaultPrices: null }, 1, 2), [null, null]);
  const [one, none] = cells.of({ prices: new Map(), defaultPrices: priced(3) }, 1, 2);
  assert.deepEqual([...one.y], [3, 3, 3]);
  assert.equal(none, null);
});

test('on a phone the names of the rows of a heat map are short enough to be whole', needsPage, async () => {
  const window = open();
  const { rowAxis } = await import('../../../static/js/charts/layouts/heat-rows.js');
  const names = ['edge GPU', 'cloud memory', 'cloud bandwidth'];
  const shown = () => names.map((_, row) => rowAxis(names).ticks.callback(row + 0.5));
  assert.deepEqual(shown(), names);
  window.happyDOM.setViewport({ width: 390 });
  globalThis.innerWidth = window.innerWidth;
  assert.deepEqual(shown(), ['edge GPU', 'cloud mem.', 'cloud band.']);
});

test('a server has no price after the last slot', () => {
  const info = { resources: ['gpu', 'cpu'], cluster: { slot_ms: 10 } };
  const answer = { prices: { gpu: [1, 2], cpu: [3, 4] } };
  assert.deepEqual(serverPrices(answer, info, 19), { server0: 2, server1: 4 });
  assert.deepEqual(
    serverPrices(answer, info, 20),
    { server0: 2, server1: 4 },
    'the end of the last slot has its price',
  );
  assert.deepEqual(serverPrices(answer, info, 21), { server0: undefined, server1: undefined });
});

test('of the ticks of a low logarithmic plot, the roundest are labelled', () => {
  const of = (axis, ...values) =>
    labelled(
      axis,
      values.map((value) => ({ value })),
    ).map(({ value }) => value);
  const decades = { type: 'logarithmic', min: 0.01, max: 20 };
  assert.deepEqual(of(decades, 0.01, 0.03, 0.05, 0.08, 0.1, 0.3, 1, 2, 5, 8, 10, 20), [0.1, 1]);
  assert.deepEqual(of({ type: 'logarithmic', min: 2.5, max: 9.5 }, 3, 4, 5, 6, 8), [3, 5, 8]);
  assert.deepEqual(of({ type: 'linear', min: 0, max: 10 }, 0, 2, 4, 6, 8, 10), [2, 6]);
});
