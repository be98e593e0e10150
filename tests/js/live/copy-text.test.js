// Buttons that copy a text say whether it was copied, also where the browser gives the page no clipboard.

import assert from 'node:assert/strict';
import test from 'node:test';

import { needsPage, openPage } from '../dom.js';

/** Clicks the button "Copy" of a command on a page with this clipboard and this answer of the copy command. */
async function clicked(clipboard, allowed) {
  openPage('/live/connect/', 'connect.html', {});
  Object.defineProperty(globalThis, 'navigator', { value: { clipboard }, configurable: true });
  const selected = [];
  document.execCommand = () => selected.push(document.activeElement.value) && allowed;
  const { copyable } = await import('../../../static/js/live/trial-result.js');
  document.body.append(copyable('sacctmgr show user'));
  const button = document.querySelector('.command button');
  button.click();
  for (let turn = 0; turn < 10; turn++) await null;
  return { says: button.textContent, selected, focused: document.activeElement === button };
}

test('without TLS there is no clipboard: the command of the browser copies', needsPage, async () => {
  const { says, selected, focused } = await clicked(undefined, true);
  assert.deepEqual([says, selected, focused], ['Copied', ['sacctmgr show user'], true]);
  assert.equal(document.querySelector('.command textarea'), null);
});

test('a text that was not copied is not called copied', needsPage, async () => {
  const { says } = await clicked({ writeText: async () => Promise.reject(new Error('denied')) }, false);
  assert.equal(says, 'Not copied');
});

test('a clipboard that takes the text is enough', needsPage, async () => {
  const { says, selected } = await clicked({ writeText: async () => {} }, false);
  assert.deepEqual([says, selected], ['Copied', []]);
});
