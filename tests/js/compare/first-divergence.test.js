// Texts of the first divergence of two runs: decisions, plans, and states of jobs without a decision.

import assert from 'node:assert/strict';
import test from 'node:test';

import { headText, noneText, planText, standingText } from '../../../static/js/compare/first-divergence.js';

const HOUR = 3_600_000;

test('a job with a plan has its state and the plan', () => {
  const plan = { start_ms: 2 * HOUR, finish_ms: 3 * HOUR };
  const lead = {
    planned: 'it is planned',
    running: 'it is running, with a plan',
    profiling: 'it is in a group, and its times are being measured, with a plan',
    moving: 'it is in a group, and its model and input are being transferred, with a plan',
    suspended: 'it is suspended, with a plan',
  };
  for (const [state, text] of Object.entries(lead))
    assert.equal(
      standingText({ state, at_ms: HOUR, plan }),
      `${text} from 02:00:00 to 03:00:00, as decided at 01:00:00`,
    );
  assert.equal(
    standingText({ state: 'running', at_ms: HOUR, plan: { start_ms: HOUR, finish_ms: null } }),
    'it is running, with a plan from 01:00:00 to an unknown end, as decided at 01:00:00',
  );
});

test('a job without a plan has its state', () => {
  assert.equal(standingText({ state: 'running', at_ms: HOUR, plan: null }), 'it is running');
  assert.equal(
    standingText({ state: 'unfinished', at_ms: HOUR, plan: null }),
    'it was unfinished when the run ended at 01:00:00',
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

test('a decision that differs only in the plan is called the same, and what differs is named', () => {
  const decision = (sentence, changed) => ({
    immediate: true,
    next: {
      kind: 'admitted',
      sentence,
      plan: { start_ms: 0, finish_ms: HOUR, workers: 14, servers: ['w01'], more: 0, own: [], own_more: 0, ...changed },
    },
  });
  const words = (base, other) => headText({ model: 'resnet-50', base, other }, 'j0025').join('');
  const same = ', the runs make the same decision for job j0025 (resnet-50), but ';
  const details = `${same}the times or the numbers of its workers or parameter servers differ.`;
  const different = ', the runs make different decisions for job j0025 (resnet-50).';
  assert.equal(
    words(decision('Admitted: x.', { own: ['w03'] }), decision('Admitted: x.', {})),
    `${same}place it on other servers.`,
  );
  assert.equal(words(decision('Admitted: x.', {}), decision('Admitted: x.', {})), details);
  assert.equal(words(decision('Admitted: x.', {}), decision('Admitted: y.', {})), different);
  assert.equal(words(decision('Admitted: x.', {}), decision('Admitted: x.', { workers: 13 })), different);
  const rejected = { immediate: true, next: { kind: 'rejected', sentence: 'Admitted: x.', plan: null } };
  const later = { immediate: false, next: null };
  assert.equal(words(decision('Admitted: x.', {}), rejected), different);
  assert.equal(words(decision('Admitted: x.', {}), later), different);
});
