// About how many jobs a choice takes, and the choice as the API wants it.

import assert from 'node:assert/strict';
import test from 'node:test';

import { about, importBody, roundHours } from '../../../static/js/traces/import-choice.js';
import { inWindow } from '../../../static/js/charts/traces/arrival-histogram.js';

const HOUR = 3_600_000;
// 100 jobs in four hours: 10, 20, 30 and 40 an hour; 60 of cluster a, 40 of cluster b
const scan = {
  jobs: 100,
  arrivals: { from_ms: 0, bin_ms: HOUR, counts: [10, 20, 30, 40] },
  groups: [
    ['a', 60],
    ['b', 40],
  ],
};

test('a window counts the bins in it, and those that it cuts by their share', () => {
  assert.equal(inWindow(scan.arrivals, HOUR, 3 * HOUR), 50);
  assert.equal(inWindow(scan.arrivals, 0.5 * HOUR, null), 95);
  assert.equal(inWindow(scan.arrivals, 9 * HOUR, null), 0);
});

test('window, clusters, sample and limit are applied one after the other', () => {
  assert.equal(about(scan, {}).jobs, 100);
  assert.deepEqual(about(scan, { groups: ['b'] }), { jobs: 40, exact: true, over: null });
  const cut = about(scan, { from_ms: HOUR, to_ms: 3 * HOUR, groups: ['a'] });
  assert.deepEqual(cut, { jobs: 30, exact: false, over: null });
  assert.equal(about(scan, { from_ms: HOUR, to_ms: 3 * HOUR, sample: 7 }).jobs, 7);
  assert.equal(about(scan, { sample: 7 }).over, null, 'a sample is drawn by the import');
  assert.equal(about(scan, { sample: 1000 }).jobs, 100);
  assert.equal(about(scan, { limit: 50 }).jobs, 50);
});

/** What a scan reports of these arrivals, with the arrivals of the jobs `places`. */
function scanOf(arrivals, places = []) {
  const bin = Math.ceil((arrivals.at(-1) + 1) / 120);
  const counts = Array.from({ length: 120 }, (_, i) => arrivals.filter((ms) => Math.floor(ms / bin) === i).length);
  const ranks = places.map((n) => [n, arrivals[n - 1]]);
  return { jobs: arrivals.length, arrivals: { from_ms: 0, bin_ms: bin, counts, ranks }, groups: null };
}

test('the span is that of the jobs chosen, however unevenly jobs arrive', () => {
  // 300 jobs over 26.5 h, and then many more in a short time
  const slow = Array.from({ length: 300 }, (_, i) => Math.round((i * 26.5 * HOUR) / 299));
  const fast = Array.from({ length: 2700 }, (_, i) => 27 * HOUR + i * 10_000);
  const uneven = scanOf([...slow, ...fast], [1, 300, 310, 320, 3000]);
  assert.deepEqual(about(uneven, { limit: 300 }).over, [26.5 * HOUR, 26.5 * HOUR]);
  assert.deepEqual(about(uneven, { limit: 300, rate: 2 }).over, [13.25 * HOUR, 13.25 * HOUR]);
  assert.deepEqual(about(uneven, {}).over, [fast.at(-1), fast.at(-1)]);
  const between = about(uneven, { limit: 315 }).over;
  assert.ok(between[0] < fast[14] && fast[14] < between[1], 'between two known arrivals');
  assert.ok(between[1] - between[0] < 0.01 * fast[14]);
  const later = about(uneven, { from_ms: 5 * HOUR, limit: 200 }).over;
  const firstIn = slow.findIndex((ms) => ms >= 5 * HOUR);
  const real = slow[firstIn + 199] - slow[firstIn];
  assert.ok(later[0] <= real && real <= later[1], 'by the histogram, where the window begins later');
});

test('no span is stated where the histogram is too coarse for one', () => {
  const lone = Array.from({ length: 400 }, (_, i) => i * 1000);
  const scanned = scanOf([...lone, 1000 * HOUR]); // all but one job arrive in the first bin
  assert.equal(about(scanned, { limit: 300 }).over, null);
  assert.equal(about(scanned, { from_ms: HOUR, to_ms: 2 * HOUR }).over, null);
});

test('a dragged window gets as few digits as it needs', () => {
  assert.equal(roundHours(81.387 * HOUR, 336 * HOUR), 81);
  assert.equal(roundHours(0.123456 * HOUR, HOUR), 0.123);
  assert.equal(roundHours(0, HOUR), 0);
});

test('an import says only what was chosen, and keeps the format and the mapping', () => {
  const trace = { format: 'mapped_csv', seed: 3, options: { mapping: { arrival: 't' } } };
  assert.deepEqual(importBody(trace, { groups: null, rate: 1, name: '' }), {
    format: 'mapped_csv',
    seed: 3,
    mapping: { arrival: 't' },
  });
  assert.deepEqual(
    importBody(
      { format: 'auto', seed: 0 },
      { from_ms: 5, to_ms: undefined, groups: ['a'], rate: 2, seed: 9, slot_ms: 60000, name: 'n' },
    ),
    { format: 'auto', seed: 9, from_ms: 5, groups: ['a'], rate: 2, slot_ms: 60000, name: 'n' },
  );
});
