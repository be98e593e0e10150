import assert from 'node:assert/strict';
import test from 'node:test';

import { classOf, classes } from '../../../static/js/gantt/bar-colors.js';
import { Stack, layersOf, ticksUpTo } from '../../../static/js/charts/resource-stack.js';
import { slotsUntil, utilityAt } from '../../../static/js/charts/utility-curve.js';
import { Playhead } from '../../../static/js/core/playhead.js';
import { View } from '../../../static/js/core/ranges/time-range.js';
import { needsPage, open } from '../dom.js';

/** [job, start, end, born, died] -> columns */
function bars(rows) {
  const column = (i) => rows.map((row) => row[i]);
  return {
    job: column(0),
    start_ms: column(1),
    end_ms: column(2),
    born_ms: column(3),
    died_ms: column(4),
    length: rows.length,
  };
}

test('a server with two jobs: mean amounts per bin, by first bar, as known at the moment', () => {
  const known = bars([
    [7, 0, 20, 0, -1],
    [3, 10, 30, 5, -1],
    [3, 30, 40, 5, 8],
    [9, 0, 40, 50, -1],
  ]);
  const { layers, rest } = layersOf(known, [0, 1, 2, 3], (bar) => [2, 1, 1, 5][bar], 10, 0, 10, 4);
  assert.equal(rest, 0);
  assert.deepEqual(
    layers.map(({ job }) => job),
    [7, 3],
  );
  assert.deepEqual([...layers[0].sum.subarray(0, 4)], [2, 2, 0, 0]);
  assert.deepEqual([...layers[1].sum.subarray(0, 4)], [0, 1, 1, 0]);
});

test('beyond sixty jobs the smallest share one layer, and are counted', () => {
  const known = bars(Array.from({ length: 70 }, (_, job) => [job, 0, 10, 0, -1]));
  const { layers, rest } = layersOf(known, known.job, (bar) => bar + 1, 0, 0, 10, 1);
  assert.equal(rest, 10);
  assert.equal(layers.length, 61);
  assert.equal(layers.at(-1).job, -1);
  assert.equal(layers.at(-1).sum[0], 55); // 1 + ... + 10
  assert.equal(
    layers.reduce((sum, layer) => sum + layer.sum[0], 0),
    (70 * 71) / 2,
  );
});

test('the axis of amounts has round ticks below the capacity, and one at the capacity', () => {
  assert.deepEqual(ticksUpTo(70.46), [0, 50, 70.46]);
  assert.deepEqual(ticksUpTo(2), [0, 1, 2]);
  assert.deepEqual(ticksUpTo(1), [0, 0.5, 1]);
  assert.deepEqual(ticksUpTo(35.23), [0, 20, 35.23]);
  assert.deepEqual(ticksUpTo(5.5), [0, 2, 4, 5.5], 'no tick touches that of the capacity');
});

test('classes hold equally many values', () => {
  const bounds = classes([5, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11]);
  assert.deepEqual(bounds, [1, 3, 5, 7, 9, 11]);
  assert.deepEqual(
    [1, 2.9, 3, 8, 9, 11, 99].map((value) => classOf(bounds, value)),
    [0, 0, 1, 3, 4, 4, 4],
  );
  assert.deepEqual(classes([]), []);
});

test('the utility of a duration and the slots of a completion are those of scheduling/model/utility.py', () => {
  const worth = { priority: 40, sensitivity: 0.5, target_slots: 10, slot_ms: 3_600_000, from_slot: 3 };
  assert.equal(utilityAt(worth, 10), 20);
  assert.ok(Math.abs(utilityAt(worth, 0) - 40 / (1 + Math.exp(-5))) < 1e-12);
  assert.equal(utilityAt({ ...worth, sensitivity: 10 }, 1000), 0);
  assert.equal(slotsUntil(worth, 5 * 3_600_000), 1); // done at the end of slot 4
  assert.equal(slotsUntil(worth, 5 * 3_600_000 + 1), 2);
  assert.equal(slotsUntil(worth, 3_600_000), 0);
});

test('before a real cluster was observed for the first time the amounts are unknown', needsPage, () => {
  open('/', '<div><canvas id="stack"></canvas></div>');
  const view = new View();
  view.setExtent(100);
  view.set(0, 100);
  const playhead = new Playhead();
  playhead.setLive(100);
  const known = bars([[7, 0, 100, 50, -1]]);
  const stack = new Stack(document.querySelector('#stack'), {
    ...{ view, playhead, unit: 'GPU', nameOf: String, tip: { show() {}, hide() {} }, onPick() {} },
    ...{ source: () => ({ bars: known, rows: [0] }), amountOf: () => 2, capacity: () => [[Infinity, 2]] },
    ...{ outagesThen: () => [], seenFrom: () => 50 },
  });
  stack.chart.update('none');
  const amounts = stack.table().rows.map(([, amount]) => amount);
  assert.deepEqual(new Set(amounts), new Set(['–', '2']));
  assert.equal(amounts.lastIndexOf('–') + 1, amounts.indexOf('2'), 'unknown up to the first observation');
});
