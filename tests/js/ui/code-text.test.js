// Messages with commands and dates: commands are code, dates stay on one line.

import assert from 'node:assert/strict';
import test from 'node:test';

import { codeText } from '../../../static/js/ui/labels/code-text.js';
import { h } from '../../../static/js/ui/dom.js';
import { needsPage, open } from '../dom.js';

function shown(text) {
  open('/', '<main></main>');
  return [...h('p', {}, codeText(text)).childNodes].map((node) => [node.className ?? '', node.textContent]);
}

test('a date in a message stays on one line, with or without its time', needsPage, () => {
  assert.deepEqual(shown('gpu05 is down since 2026-11-30 12:26:17 UTC: no answer'), [
    ['', 'gpu05 is down since '],
    ['nowrap', '2026-11-30 12:26:17 UTC'],
    ['', ': no answer'],
  ]);
  assert.deepEqual(shown('2026-11-30 12:26').at(1), ['nowrap', '2026-11-30 12:26']);
  assert.deepEqual(shown('since 2026-11-30').at(1), ['nowrap', '2026-11-30']);
});

test('a command in a message is code', needsPage, () => {
  open('/', '<main></main>');
  const parts = [...h('p', {}, codeText('run `bin/up` again')).childNodes];
  assert.deepEqual(
    parts.map((node) => [node.tagName ?? '', node.textContent]),
    [
      ['', 'run '],
      ['CODE', 'bin/up'],
      ['', ' again'],
    ],
  );
});
