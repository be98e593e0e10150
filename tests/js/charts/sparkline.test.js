// The line below a metric: where it is drawn.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { needsPage, open } from '../dom.js';

test('a line of a few px is left out, as it is a stray dot', needsPage, async () => {
  open('/');
  const { sparkline } = await import('../../../static/js/charts/sparkline.js');
  /** Number of points that are drawn for the values on 60 px. */
  const points = (values) => {
    let count = 0;
    const context = new Proxy(
      {},
      { get: (_, name) => (name === 'lineTo' ? () => count++ : () => {}), set: () => true },
    );
    const canvas = { clientWidth: 60, clientHeight: 20, width: 0, isConnected: true, getContext: () => context };
    sparkline(/** @type {any} */ (canvas), values, values.length, 60);
    return count;
  };
  const unseen = new Array(50).fill(NaN);
  assert.equal(points([...unseen, 4]), 0);
  assert.equal(points([...unseen, 4, 4, 4]), 0);
  assert.equal(points([...unseen, 1, 2, 3, 4, 5, 6, 7, 8, 9]), 9);
});
