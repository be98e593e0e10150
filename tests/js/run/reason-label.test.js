// Labels of decision reasons.

import assert from 'node:assert/strict';
import test from 'node:test';

import { reasonLabel } from '../../../static/js/run/drawer/reason-label.js';

test('a code is a label in words, without the name of its scheduler', () => {
  assert.equal(reasonLabel('payoff_not_positive'), 'utility does not exceed cost');
  assert.equal(reasonLabel('too_late'), 'too late');
  assert.equal(reasonLabel('easy.in_turn'), 'in turn');
  assert.equal(reasonLabel('gavel.runs'), 'runs in this round');
  assert.equal(reasonLabel('themis.left_over'), 'got workers left by the auction');
  assert.equal(reasonLabel('gone.not_now'), 'not now'); // of a scheduler that is no longer installed
});
