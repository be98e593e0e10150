// Sub-rows: no two bars that are true at once share a sub-row, and sub-rows once given do not change.

import assert from 'node:assert/strict';
import test from 'node:test';

import { giveSubRows } from '../../../static/js/gantt/sub-rows.js';
import { lowerBound, upperBound } from '../../../static/js/util/binary-search.js';

function columns(bars) {
  const column = (i) => Float64Array.from(bars, (bar) => bar[i]);
  return {
    start_ms: column(0),
    end_ms: column(1),
    born_ms: Float64Array.from(bars, (bar) => bar[2] ?? 0),
    died_ms: Float64Array.from(bars, (bar) => bar[3] ?? -1),
  };
}

function laid(bars, fresh = bars.map((_, i) => i), subRows = new Uint8Array(bars.length).fill(255)) {
  const sorted = Int32Array.from(bars.keys()).sort((a, b) => bars[a][0] - bars[b][0] || a - b);
  const longest = Math.max(...bars.map((bar) => bar[1] - bar[0]));
  const count = giveSubRows(columns(bars), sorted, bars.length, longest, fresh, subRows);
  return { subRows, count };
}

test('three bars, two at once: the third goes back to the first sub-row', () => {
  const { subRows, count } = laid([
    [0, 10],
    [5, 15],
    [10, 20],
  ]);
  assert.deepEqual([...subRows], [0, 1, 0]);
  assert.equal(count, 2);
});

test('a bar takes the sub-row of one that was replaced before it was decided', () => {
  const { subRows } = laid([
    [0, 100, 0, 50],
    [0, 100, 0],
    [50, 100, 50],
  ]);
  assert.deepEqual([...subRows], [0, 1, 0]);
});

test('bars that arrive later leave the sub-rows of the earlier ones alone', () => {
  const bars = [
    [10, 20],
    [30, 40],
    [0, 50],
  ];
  const subRows = new Uint8Array(3).fill(255);
  laid(bars, [0, 1], subRows);
  assert.deepEqual([...subRows], [0, 0, 255]);
  laid(bars, [2], subRows);
  assert.deepEqual([...subRows], [0, 0, 1]);
});

test('random bars: no overlap within a sub-row, and at most as many sub-rows as bars at the busiest moment', () => {
  let seed = 12345;
  const random = () => (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648;
  const bars = Array.from({ length: 400 }, () => {
    const start = Math.floor(random() * 1000);
    return [start, start + 1 + Math.floor(random() * 30)];
  });
  const { subRows, count } = laid(bars);
  for (let a = 0; a < bars.length; a++) {
    for (let b = 0; b < a; b++) {
      if (subRows[a] === subRows[b])
        assert.ok(
          bars[a][1] <= bars[b][0] || bars[b][1] <= bars[a][0],
          `bars ${a} and ${b} share sub-row ${subRows[a]}`,
        );
    }
  }
  assert.equal(count, Math.max(...subRows) + 1);
});

test('binary search finds the ends of equal keys, of nothing and of everything', () => {
  const keys = [1, 3, 3, 3, 7];
  const key = (i) => keys[i];
  assert.deepEqual(
    [0, 1, 2, 3, 7, 8].map((v) => lowerBound(5, v, key)),
    [0, 0, 1, 1, 4, 5],
  );
  assert.deepEqual(
    [0, 1, 2, 3, 7, 8].map((v) => upperBound(5, v, key)),
    [0, 1, 1, 4, 5, 5],
  );
  assert.equal(lowerBound(0, 5, key), 0);
});
