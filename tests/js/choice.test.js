// About how many jobs a choice takes, and the choice as the API wants it.

import assert from 'node:assert/strict';
import test from 'node:test';

import { about, importBody, inWindow, roundHours } from '../../static/js/traces/import-choice.js';

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
  assert.deepEqual(about(scan, {}), { jobs: 100, exact: true, over_ms: 4 * HOUR });
  assert.deepEqual(about(scan, { groups: ['b'] }), { jobs: 40, exact: true, over_ms: 4 * HOUR });
  assert.deepEqual(about(scan, { from_ms: HOUR, to_ms: 3 * HOUR, groups: ['a'] }), {
    jobs: 30,
    exact: false,
    over_ms: 2 * HOUR,
  });
  assert.equal(about(scan, { from_ms: HOUR, to_ms: 3 * HOUR, sample: 7 }).jobs, 7);
  assert.equal(about(scan, { sample: 1000 }).jobs, 100);
  assert.deepEqual(
    about(scan, { limit: 50 }),
    { jobs: 50, exact: true, over_ms: 2 * HOUR },
    'the first half, by arrival',
  );
  assert.equal(about(scan, { rate: 4 }).over_ms, HOUR);
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
