// Experiments: the series of a chart, the scale of a check, and the words of both.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scaleOf } from '../../../static/js/experiments/checks.js';
import { seriesOf } from '../../../static/js/experiments/series.js';
import { bandText, cellText, checksText, progressText, unavailableText } from '../../../static/js/experiments/words.js';

const CHART = { columns: [], rows: [], turned: false, variant: '' };
const TABLE = {
  columns: ['jobs', 'OASiS', 'Dorm'],
  rows: [
    [100, 5, 4],
    [200, 8, null],
  ],
  spread: [
    [null, [4, 6], null],
    [null, [8, 8], null],
  ],
};

test('numbers in the first column are an axis, and every other column is a line', () => {
  const { lines, xTitle, series } = seriesOf(TABLE, CHART);
  assert.deepEqual([lines, xTitle, series.map(({ name }) => name)], [true, 'jobs', ['OASiS', 'Dorm']]);
  assert.deepEqual(series[0].points[0], { label: '100', x: 100, value: 5, low: 4, high: 6 });
  assert.equal(series[1].points[1].value, null);
});

test('a turned chart has a series for each row', () => {
  const { lines, series } = seriesOf(TABLE, { ...CHART, turned: true, columns: ['OASiS'] });
  assert.equal(lines, false);
  assert.deepEqual(
    series.map(({ name, points }) => [name, points.map(({ label, value }) => `${label} ${value}`)]),
    [
      ['100 jobs', ['OASiS 5']],
      ['200 jobs', ['OASiS 8']],
    ],
  );
});

test('a variant is the rows that are named after it, over their numbers', () => {
  const rows = [
    ['10, calibrated', 1],
    ['10, literal', 2],
    ['30, literal', 3],
  ];
  const table = { columns: ['servers', 'PD-ORS'], rows, spread: [] };
  const { lines, series } = seriesOf(table, { ...CHART, variant: 'literal' });
  assert.equal(lines, true);
  assert.deepEqual(
    series[0].points.map(({ x, value }) => [x, value]),
    [
      [10, 2],
      [30, 3],
    ],
  );
});

test('one row, or rows with names, are bars', () => {
  assert.equal(seriesOf({ ...TABLE, rows: TABLE.rows.slice(0, 1) }, CHART).lines, false);
  const named = { columns: ['a', 'b'], rows: [['x', 'infinite']], spread: [] };
  assert.equal(seriesOf(named, CHART).series[0].points[0].value, null);
});

test('the scale of a check has the value, the bound and 0 within it', () => {
  for (const check of [
    { value: 1.3, bound: 1 },
    { value: -0.2, bound: 0 },
    { value: 3, bound: 3 },
    { value: 'infinite', bound: 1.6 },
  ]) {
    const at = scaleOf(check);
    for (const number of [check.value, check.bound, 0]) assert.ok(at(number) >= 6 && at(number) <= 144);
  }
  const at = scaleOf({ value: 2, bound: 1 });
  assert.ok(at(0) < at(1) && at(1) < at(2));
});

test('values, bands and verdicts in words', () => {
  assert.deepEqual([1234.5, 0.12345, 12, null, 'infinite', 'OASiS'].map(cellText), [
    '1,235',
    '0.123',
    '12',
    'not run',
    '∞',
    'OASiS',
  ]);
  assert.equal(bandText({ bound: 1.3, at_least: true, unit: 'x' }), '≥ 1.3 ×');
  assert.equal(bandText({ bound: 0, at_least: false, unit: '' }), '≤ 0');
  assert.equal(bandText({ bound: 0.855, at_least: false, unit: 'share' }), '≤ 85.5 %');
  assert.equal(bandText({ bound: null, at_least: false, unit: 'x' }), '');
  assert.equal(checksText({ held: 3, judged: 4 }), '3 of 4 checks hold');
  assert.equal(checksText({ held: 1, judged: 1 }), '1 of 1 check holds');
  assert.equal(progressText({ status: 'computing', done: 1, total: 5 }), 'computing, 1 of 5 parts');
  assert.equal(progressText({ status: 'cancelled', done: 1, total: 5 }), 'cancelled, 1 of 5 parts');
});

test('an experiment that cannot run says why', () => {
  assert.equal(unavailableText({ unavailable: '' }), '');
  assert.equal(
    unavailableText({ unavailable: 'it needs the package highspy' }),
    'This experiment cannot run: it needs the package highspy.',
  );
});
