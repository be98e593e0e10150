// Numbers and times on screen.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import test from 'node:test';

import {
  amount,
  alignedText,
  capital,
  clock,
  exactClock,
  duration,
  percent,
  plural,
  rounded,
  significant,
  telling,
  timeTicks,
  wallSeconds,
} from '../../../static/js/util/format.js';
import { speedText } from '../../../static/js/util/speeds.js';

test('points in time say days only when there are some, and as much as the step needs', () => {
  assert.equal(clock(0), '00:00:00');
  assert.equal(clock(90_061_500), '1d 01:01:01');
  assert.equal(clock(90_061_500, 3_600_000), '1d 01:01');
  assert.equal(clock(1_250, 50), '00:00:01.250');
  assert.deepEqual([1_250, 1_000, 999.7].map(exactClock), ['00:00:01.250', '00:00:01', '00:00:01']);
  assert.equal(clock(null), '–');
});

test('lengths of time have two units at most, and never 60 of the smaller', () => {
  assert.deepEqual([850, 12_500, 200_000, 3_599_900, 7_500_000, 273_600_000].map(duration), [
    '850 ms',
    '12.5 s',
    '3m 20s',
    '60m',
    '2h 5m',
    '3d 4h',
  ]);
});

test('small and large values keep three digits', () => {
  assert.deepEqual([0, 0.0012345, 0.00001, 12.345, 1234.5, 1e9].map(significant), [
    '0',
    '0.00123',
    '1.00e-5',
    '12.3',
    '1,235',
    '1.00e+9',
  ]);
  assert.deepEqual(
    [percent(0.456, 1), percent(-1e-12), percent(-1e-12, 1), percent(-0.02)],
    ['45.6 %', '0 %', '0.0 %', '−2 %'],
  );
  assert.deepEqual([plural(1, 'job'), plural(1200, 'job')], ['1 job', '1,200 jobs']);
});

test('ticks are round and inside the range', () => {
  assert.deepEqual(timeTicks(0, 3_600_000, 6), {
    step: 600_000,
    ticks: [0, 600_000, 1_200_000, 1_800_000, 2_400_000, 3_000_000, 3_600_000],
  });
  assert.deepEqual(timeTicks(95, 305, 2).ticks, [200]);
});

test('a range of centuries has as few ticks as one of hours', () => {
  const { step, ticks } = timeTicks(0, 2 ** 53, 8);
  assert.equal(step, 20_000_000 * 86_400_000);
  assert.equal(ticks.length, 6);
});

test('as many digits as separate two values', () => {
  assert.equal(telling([100, 200, 900]), 3);
  assert.equal(telling([179.991, 180]), 7);
  assert.equal(telling([5, 5]), 3);
  assert.deepEqual(
    [180.29, 180.304].map((value) => alignedText(value, 6, 180.304)),
    ['180.290', '180.304'],
  );
  assert.equal(telling([]), 3);
  assert.equal(rounded(179.9912, 7), '179.9912');
  assert.equal(rounded(12345.678, 7), '12,345.68');
  assert.deepEqual([0, 2.12e-5, 0.0047, -0.001, 0.005, 1234.5, null].map(amount), [
    '0.00',
    '2.12e-5',
    '0.0047',
    '−0.001',
    '0.005',
    '1,234.50',
    '–',
  ]);
  assert.equal(significant(12345.678), '12,346');
});

test('counts in sentences have a singular', () => {
  const root = new URL('../../../static/js/', import.meta.url);
  const nouns = 'jobs|servers|nodes|slots|rows|bars|machines|events|decisions|workers|files|edits|tokens|GPUs';
  const fixed = new RegExp(`number\\((?:[^()]|\\([^()]*\\))*, 0\\)\\} (?:${nouns})\\b(?! and nodes)`);
  for (const name of readdirSync(root, { recursive: true }).filter((one) => one.endsWith('.js')))
    assert.doesNotMatch(readFileSync(new URL(name, root), 'utf8'), fixed, name);
});

test('a text begins with a capital letter, but vCPU is written as it is', () => {
  assert.equal(capital('memory'), 'Memory');
  assert.equal(capital('vCPU'), 'vCPU');
  assert.equal(capital('GPU'), 'GPU');
  assert.equal(capital(''), '');
});

test('a speed is simulated time per second, with minutes as min', () => {
  assert.deepEqual([1, 300, 90, 3600, 5400, 604_800].map(speedText), [
    '1 s/s',
    '5 min/s',
    '1 min 30 s/s',
    '1 h/s',
    '1 h 30 min/s',
    '7 d/s',
  ]);
});

test('a time from which others are counted has seconds', () => {
  assert.equal(wallSeconds('2026-01-01T10:15:42.250Z'), '2026-01-01 10:15:42 UTC');
});

test('days of a long duration have separators', () => {
  assert.equal(duration((2486 * 24 + 23) * 3_600_000), '2,486d 23h');
});
