// The command palette: which entries match, and how many of a group are shown.

import assert from 'node:assert/strict';
import test from 'node:test';

import { matching, more } from '../../../static/js/search/palette.js';
import { needsPage, open, serve, until } from '../dom.js';

const GROUPS = [
  { title: 'Pages', hits: [{ title: 'Live clusters' }, { title: 'Alerts' }] },
  { title: 'Actions', hits: [{ title: 'Switch to the dark theme' }] },
];

test('entries with every word of the text are found, in any case and order', () => {
  assert.deepEqual(matching(GROUPS, ''), GROUPS);
  assert.deepEqual(matching(GROUPS, 'aL'), [{ title: 'Pages', hits: [{ title: 'Alerts' }] }]);
  assert.deepEqual(matching(GROUPS, 'theme switch'), [GROUPS[1]]);
  assert.deepEqual(matching(GROUPS, 'theme live'), []);
});

test('entries that begin with the text come first', () => {
  const hits = ['Live clusters', 'Clusters', 'Runs'].map((title) => ({ title }));
  const titles = (text) => matching([{ title: 'Pages', hits }], text)[0].hits.map(({ title }) => title);
  assert.deepEqual(titles('clust'), ['Clusters', 'Live clusters']);
  assert.deepEqual(titles('live clust'), ['Live clusters']);
  assert.deepEqual(titles(''), ['Live clusters', 'Clusters', 'Runs']);
});

test('a group with more entries than are shown gives both numbers', () => {
  assert.equal(more({ count: 40, hits: [1, 2] }), ' · first 2 of 40');
  assert.equal(more({ count: 2, hits: [1, 2] }), '');
  assert.equal(more({ hits: [1] }), '');
});

test('an entry that was chosen before the server has answered stays chosen', needsPage, async () => {
  const window = open('/', '<main></main><a href="/live/">Live clusters</a>');
  let answer;
  serve([['/api/search/', () => new Promise((resolve) => (answer = resolve))]]);
  const { Palette } = await import('../../../static/js/search/palette.js');
  const palette = new Palette();
  palette.open();
  palette.local = GROUPS;
  palette.input.value = 'l';
  palette.input.dispatchEvent(new window.Event('input'));
  palette.input.dispatchEvent(new window.KeyboardEvent('keydown', { key: 'ArrowDown' }));
  const chosen = () => palette.list.querySelector('[aria-selected="true"]').textContent;
  assert.equal(chosen(), 'Alerts');
  answer([{ title: 'Runs', count: 1, hits: [{ title: 'run 7', href: '/runs/7/' }] }]);
  await until(() => palette.list.textContent.includes('run 7'));
  assert.equal(chosen(), 'Alerts');
});
