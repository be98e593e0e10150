// The address of a server's page keeps the time and the range that the present page shows.

import assert from 'node:assert/strict';
import test from 'node:test';

import { serverLink } from '../../../static/js/ui/address/server-link.js';

const at = (search) => {
  globalThis.location = /** @type {any} */ ({ search });
};

test('the link has the time shown and the range, and nothing that belongs to the present page alone', () => {
  at('?t=5&from=10&to=90&rows=jobs&job=3');
  assert.equal(serverLink(7, 2, 14_400_000.4), '/runs/7/servers/2/?t=14400000&from=10&to=90');
  assert.equal(
    serverLink(7, 2, null),
    '/runs/7/servers/2/?from=10&to=90',
    'the newest time is not part of the address',
  );
  at('');
  assert.equal(serverLink(7, 2, null), '/runs/7/servers/2/');
});
