// The axis of shares grows with what jobs hold beyond the capacity.

import assert from 'node:assert/strict';
import test from 'node:test';

import { SHARE_AXIS, shareTicks } from '../../../static/js/charts/use/share-axis.js';

test('an axis of shares that grows beyond 100 % has a mark and a line there', () => {
  assert.deepEqual(shareTicks(1), [0, 0.25, 0.5, 0.75, 1]);
  assert.deepEqual(shareTicks(1.6), [0, 0.5, 1, 1.5]);
  assert.deepEqual(shareTicks(4), [0, 1, 2, 3, 4]);
  assert.deepEqual(shareTicks(6), [0, 1, 2, 4, 6]);
  assert.deepEqual(shareTicks(30), [0, 10, 20, 30], '100 % would be close to 0');
  assert.ok(shareTicks(7000).length < 4);
  assert.equal('max' in SHARE_AXIS, false);
  const width = (value, max) => SHARE_AXIS.grid.lineWidth({ tick: { value }, scale: { max } });
  assert.deepEqual([width(1, 1), width(1, 1.5), width(0.5, 1.5)], [1, 2, 1]);
});
