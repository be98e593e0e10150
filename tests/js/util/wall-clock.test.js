// Times of runs as text: by the clock of the run, or in UTC.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { datedClock, runTime, utcTime, wallOf } from '../../../static/js/util/wall-clock.js';

const NOW = Date.UTC(2026, 10, 24, 19, 40);
const HOUR = 3_600_000;

test('the times of a run that counts from a moment of the real world are in UTC', () => {
  const began = '2026-11-24T10:15:42Z';
  assert.equal(runTime(2 * HOUR, began, NOW), '12:15:42 UTC');
  assert.equal(runTime(14 * HOUR, began, NOW), '2026-11-25 00:15 UTC', 'another day');
  assert.equal(runTime(null, began, NOW), '–');
});

test('the times of any other run are those of its clock', () => {
  assert.equal(runTime(26 * HOUR, null, NOW), '1d 02:00:00');
  assert.equal(runTime(HOUR, undefined, NOW), '01:00:00');
});

test('a run that counts from a moment has a clock of the real world, and no other run', () => {
  const began = '2026-11-24T10:15:42Z';
  assert.equal(wallOf(datedClock(began), 2 * HOUR), Date.parse(began) + 2 * HOUR);
  assert.equal(wallOf(datedClock(null), 2 * HOUR), null);
});

test('a time in UTC has its date where that is not the present one', () => {
  assert.equal(utcTime(NOW - HOUR, NOW), '18:40:00 UTC');
  assert.equal(utcTime(NOW - 20 * HOUR, NOW), '2026-11-23 23:40 UTC');
});
