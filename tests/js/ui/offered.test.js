// Options for what the API lists by name.

import assert from 'node:assert/strict';
import test from 'node:test';

import { offeredText } from '../../../static/js/ui/fields/offered.js';
import { choices } from '../../../static/js/ui/fields/scheduler-choices.js';

test('what cannot be used says so, and is not chosen', () => {
  const broken = { name: 'a', title: 'A', unavailable: 'boom' };
  const able = { name: 'b', title: 'B', unavailable: null };
  assert.deepEqual([offeredText(broken), offeredText(able)], ['A (not available)', 'B']);
  assert.deepEqual(
    choices([broken, able], 'a').map(({ disabled, selected }) => [disabled, selected]),
    [
      [true, false],
      [false, true],
    ],
  );
});
