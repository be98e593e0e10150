// Tiles: how large a value is written follows from its length.

import assert from 'node:assert/strict';
import test from 'node:test';

import { needsPage, open } from '../dom.js';

const characters = (element) => element.style.getPropertyValue('--characters');

test('the length of a value is passed to its style, also when it changes', needsPage, async () => {
  open();
  const { setTileText, tile } = await import('../../../static/js/ui/labels/tile.js');
  const node = tile('Total utility', '–', { hint: 'what it is', id: 'tile-utility' });
  const value = node.querySelector('dd');
  assert.deepEqual([value.id, characters(value)], ['tile-utility', '1']);
  assert.equal(node.querySelector('dt > button.term').textContent, 'Total utility');
  assert.equal(tile('Jobs here', '3').querySelector('button'), null, 'a title without a definition is text');
  setTileText(value, '629,638.6');
  assert.deepEqual([value.textContent, characters(value)], ['629,638.6', '9']);
});

test('a second number that gives way on narrow tiles does not make the value smaller', needsPage, async () => {
  const window = open();
  const { tile } = await import('../../../static/js/ui/labels/tile.js');
  const of = (properties) => {
    const second = Object.assign(window.document.createElement('small'), { textContent: ' 152 of 235', ...properties });
    return characters(tile('GPU allocation', ['57 %', second]).querySelector('dd'));
  };
  assert.deepEqual([of({}), of({ className: 'aside' })], ['12', '4']);
});
