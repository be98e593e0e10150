// Times of a page whose run counts from a moment of the real world: in UTC, on axes, in tables and as typed.

import assert from 'node:assert/strict';
import test, { afterEach } from 'node:test';

import { clock, countFrom, elapsed, exactClock, lengthTicks, timeTicks } from '../../../static/js/util/format.js';
import { parsePoint, pointExample, timeText } from '../../../static/js/util/time-text.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOW = Date.UTC(2026, 10, 30, 21);

afterEach(() => countFrom(null));

test('a time is written in UTC, with the date where it is not that of today', () => {
  countFrom('2026-11-30T03:00:00Z');
  assert.equal(clock(20 * 60_000 + 5000, 1000, NOW), '03:20:05 UTC');
  assert.equal(clock(-4 * HOUR, 1000, NOW), '11-29 23:00:00 UTC');
  assert.equal(clock(HOUR, HOUR, NOW), '04:00', 'a label of an axis');
  assert.equal(clock(250, 1, NOW), '03:00:00.250 UTC');
  assert.equal(clock(null), '–');
  countFrom('2020-01-01T00:00:00Z');
  assert.equal(exactClock(1), '01-01 00:00:00.001 UTC');
});

test('lengths, and the times of other runs, count from 0', () => {
  countFrom('2026-11-30T03:00:00Z');
  assert.equal(elapsed(DAY + HOUR), '1d 01:00:00');
  assert.equal(timeText(HOUR), '01:00:00');
  countFrom(null);
  assert.equal(clock(DAY + HOUR), '1d 01:00:00');
});

test('the ticks of an axis are at round times of the clock', () => {
  countFrom('2026-11-30T03:00:00Z');
  const { step, ticks } = timeTicks(0, DAY, 5);
  assert.equal(step, 6 * HOUR);
  assert.deepEqual(
    ticks.map((ms) => clock(ms, step, NOW)),
    ['06:00', '12:00', '18:00', '12-01 00:00'],
  );
  assert.deepEqual(lengthTicks(0, DAY, 5).ticks, [0, 6 * HOUR, 12 * HOUR, 18 * HOUR, DAY], 'lengths count from 0');
});

test('a typed time is one of the clock, at the latest at the end of the run', () => {
  countFrom('2026-11-29T22:00:00Z');
  const end = 6 * HOUR; // 04:00 of the next day
  assert.equal(parsePoint('03:30', end), 5.5 * HOUR);
  assert.equal(parsePoint('3:30 UTC', end), 5.5 * HOUR);
  assert.equal(parsePoint('23:15', end), 1.25 * HOUR, 'of the day before');
  assert.equal(parsePoint('11-29 23:15:30', end), 1.25 * HOUR + 30_000);
  assert.equal(parsePoint('2026-11-30 01:00', end), 3 * HOUR);
  assert.equal(parsePoint('2026-11-28 01:00', end), 0, 'before the run');
  assert.equal(parsePoint('25:00', end), null);
  assert.equal(parsePoint('2 h', end), 2 * HOUR);
  assert.match(pointExample(), /UTC/);
  countFrom(null);
  assert.equal(parsePoint('2d 03:15', end), 2 * DAY + 3.25 * HOUR);
});
