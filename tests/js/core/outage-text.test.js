// When a server has no capacity, in words: before an edit added it, and in outages.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { OPEN } from '../../../static/js/core/columns/bars.js';
import { outageText, restrictionOf, zeroText } from '../../../static/js/core/ranges/outage-text.js';

const HOUR = 3_600_000;

test('a server that an edit added is not called unavailable before', () => {
  const added = { added_ms: 10 * HOUR };
  assert.equal(zeroText(added, []), '');
  assert.equal(zeroText(added, [[0, 10 * HOUR]]), '; 0 until it was added at 10:00:00');
  assert.equal(
    zeroText(added, [
      [0, 10 * HOUR],
      [12 * HOUR, 13 * HOUR],
    ]),
    '; 0 until it was added at 10:00:00; 0 in outages',
  );
  assert.equal(zeroText({}, [[12 * HOUR, 13 * HOUR]]), '; 0 in outages');
  assert.equal(outageText(added, [0, 10 * HOUR], 11 * HOUR), 'not in the cluster until it was added at 10:00:00');
});

test('a server is unavailable, or draining, with the reason that its cluster states', () => {
  const server = {
    states: [
      [HOUR, 'draining', 'firmware'],
      [2 * HOUR, 'down', 'Not responding'],
    ],
  };
  const away = [[2 * HOUR, OPEN]];
  assert.equal(restrictionOf(server, away, 0), null);
  assert.deepEqual(restrictionOf(server, away, 1.5 * HOUR), {
    state: 'draining',
    text: 'draining, takes no new jobs: firmware',
  });
  assert.deepEqual(restrictionOf(server, away, 3 * HOUR), {
    state: 'unavailable',
    text: 'unavailable: Not responding',
  });
});
