// Height of rows that fit a schedule.

import assert from 'node:assert/strict';
import test from 'node:test';

import { fittedPx } from '../../../static/js/gantt/row-fit.js';

const rows = (count, order) => ({ list: Array(count).fill(0), order, many: !['servers', 'jobs'].includes(order) });

test('a hundred servers all fit, where each gets 3 px', () => {
  assert.equal(fittedPx(306, rows(102, 'servers')), 3);
  assert.equal(fittedPx(380, rows(82, 'servers')), 380 / 82);
  assert.equal(fittedPx(300, rows(102, 'servers')), 5, 'otherwise they scroll, at a height at which names are legible');
});

test('rows of jobs stay high enough for their bars, and few rows are not too high', () => {
  assert.equal(fittedPx(306, rows(102, 'jobs')), 5);
  assert.equal(fittedPx(400, rows(2, 'jobs')), 40);
  assert.equal(fittedPx(400, rows(2, 'sites')), 200);
});
