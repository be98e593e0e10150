// The command palette: which entries match, and how many of a group are shown.

import assert from 'node:assert/strict';
import test from 'node:test';

import { matching, more } from '../../static/js/search/palette.js';

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
