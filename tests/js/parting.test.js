// How a job stands where nothing is decided about it: only one without a plan is queued or suspended.

import assert from 'node:assert/strict';
import test from 'node:test';

import { noneText, planText, standingText } from '../../static/js/compare/first-divergence.js';

const HOUR = 3_600_000;

test('a job whose earlier plan stands is planned, and one without a plan has its state', () => {
  assert.equal(
    standingText({ state: 'planned', at_ms: HOUR, plan: { start_ms: 2 * HOUR, finish_ms: 3 * HOUR } }),
    'it is planned from 02:00:00 to 03:00:00, as decided at 01:00:00',
  );
  for (const state of ['queued', 'suspended'])
    assert.equal(standingText({ state, at_ms: HOUR, plan: null }), `it has been ${state} since 01:00:00`);
  assert.equal(standingText({ state: 'completed', at_ms: HOUR, plan: null }), 'it was completed at 01:00:00');
  assert.equal(standingText({ state: 'completed', at_ms: HOUR, plan: null }, true), 'it ended at 01:00:00');
  assert.equal(standingText({ state: 'rejected', at_ms: HOUR, plan: null }), 'it was rejected at 01:00:00');
  assert.equal(standingText({ state: 'not arrived', at_ms: 2 * HOUR, plan: null }), 'it arrives at 02:00:00');
  assert.equal(standingText({ state: 'not arrived', at_ms: null, plan: null }), 'it has not arrived');
});

test('where runs cannot be compared, the reason is shown instead of a divergence', () => {
  assert.equal(
    noneText({ why: null }, null),
    'No divergence up to the end: both runs decide the same about every common job.',
  );
  assert.equal(
    noneText({}, 2 * HOUR),
    'No divergence up to 02:00:00: both runs decide the same about every common job.',
  );
  assert.equal(noneText({ why: 'Other jobs.' }, null), 'No first divergence. Other jobs.');
});

test('the plan of a job in a group names no servers', () => {
  const plan = { start_ms: 0, finish_ms: HOUR, workers: 20, servers: [], more: 0 };
  assert.equal(planText(plan), 'Plan: from 00:00:00 to 01:00:00, at most 20 workers.');
  assert.equal(
    planText({ ...plan, finish_ms: null, servers: ['cloud', 'w00'], more: 2 }),
    'Plan: from 00:00:00 to an unknown end, at most 20 workers, on cloud, w00 and 2 more.',
  );
});
