// Tiles: how large a value is written follows from its length.

import assert from 'node:assert/strict';
import test from 'node:test';

import { needsPage, open } from './dom.js';

const characters = (element) => element.style.getPropertyValue('--characters');

test('the length of a value is passed to its style, also when it changes', needsPage, async () => {
  open();
  const { setTileText, tile } = await import('../../static/js/ui/tile.js');
  const node = tile('Total utility', '–', { hint: 'what it is', id: 'tile-utility' });
  const value = node.querySelector('dd');
  assert.deepEqual([node.title, value.id, characters(value)], ['what it is', 'tile-utility', '1']);
  setTileText(value, '629,638.6');
  assert.deepEqual([value.textContent, characters(value)], ['629,638.6', '9']);
});
