// Schedulers that cannot be used here are shown with their reason, and never chosen.

import assert from 'node:assert/strict';
import test from 'node:test';

import { choices } from '../../../static/js/ui/fields/scheduler-choices.js';

const FIFO = { name: 'fifo', title: 'FIFO', unavailable: null };
const OASIS = { name: 'oasis', title: 'OASiS', unavailable: null };
const MISSING = { name: 'pd_ors', title: 'pd_ors', unavailable: 'it needs the package highspy' };

test('one that is not available is listed but cannot be chosen', () => {
  assert.deepEqual(choices([FIFO, OASIS, MISSING], 'oasis'), [
    { value: 'fifo', text: 'FIFO', disabled: false, selected: false },
    { value: 'oasis', text: 'OASiS', disabled: false, selected: true },
    { value: 'pd_ors', text: 'pd_ors (not available)', disabled: true, selected: false },
  ]);
});

test('where the usual one is not available, the first that is begins', () => {
  assert.deepEqual(
    choices([MISSING, FIFO], 'pd_ors').map(({ selected }) => selected),
    [false, true],
  );
});
