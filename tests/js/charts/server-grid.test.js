// The picture of the servers of a scenario: its key follows the theme and states what each colour means.

import assert from 'node:assert/strict';
import test from 'node:test';

import { needsPage, open } from '../dom.js';

test('the key of the loads is in the colours of the theme', needsPage, async () => {
  const { document } = open('/scenarios/1/', '<div id="servers"></div>');
  const { ServerPicture } = await import('../../../static/js/charts/servers/server-grid.js');
  const { themeChanged } = await import('../../../static/js/util/colors.js');
  const picture = new ServerPicture(document.getElementById('servers'), () => {});
  const texts = () => [...document.querySelectorAll('.legend span')].map((one) => one.textContent.trim());
  const marks = ['added', 'removed', 'unavailable', 'resized'];
  assert.deepEqual(texts(), [...marks, 'unchanged']);
  picture.setLoads(new Map([['a', { share: 0.2, jobs: 1, of: 'GPU', available: true }]]));
  const key = ['Allocated at the fork:', '0 %', ...[20, 40, 60, 80, 100].map((share) => `up to ${share} %`)];
  assert.deepEqual(texts(), [...marks, ...key]);
  const last = () => /** @type {HTMLElement} */ ([...document.querySelectorAll('.legend .mark')].at(-1));
  const before = last();
  themeChanged();
  assert.notEqual(last(), before, 'the key is painted again');
  assert.deepEqual(texts(), [...marks, ...key], 'once');
  picture.setLoads(new Map([['a', { share: 0, jobs: 0, of: 'GPU', available: false }]]));
  assert.deepEqual(texts(), [...marks, ...key], 'unavailable has one mark, by an edit or at the fork');
  assert.equal(document.querySelectorAll('.legend .mark.struck').length, 1);
});
