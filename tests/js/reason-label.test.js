// Labels of decision reasons.

import assert from 'node:assert/strict';
import test from 'node:test';

import { reasonLabel } from '../../static/js/run/drawer/reason-label.js';

test('a code is a label in words, without the name of its scheduler', () => {
  assert.equal(reasonLabel('payoff_not_positive'), 'utility does not exceed cost');
  assert.equal(reasonLabel('too_late'), 'too late');
  assert.equal(reasonLabel('easy.in_turn'), 'in turn');
  assert.equal(reasonLabel('gavel.runs'), 'runs in this round');
});
