import assert from 'node:assert/strict';
import { test } from 'node:test';

import { differenceText, progressText } from '../../static/js/live/fidelity/replay.js';

test('the difference of makespans has a sign', () => {
  assert.equal(differenceText(0.0123), '+1.2 %');
  assert.equal(differenceText(-0.0033), '−0.3 %');
  assert.equal(differenceText(0.0001), 'none');
  assert.equal(differenceText(null), '–');
});

test('the progress of a replay', () => {
  assert.equal(progressText(null), '');
  assert.equal(progressText({ status: 'queued', cut: false }), 'Waiting for a worker');
  assert.equal(progressText({ status: 'computing', cut: false }), 'Preparing the window');
  assert.equal(progressText({ status: 'computing', cut: true }), 'Simulating the window');
});
