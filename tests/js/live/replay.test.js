import assert from 'node:assert/strict';
import { test } from 'node:test';

import { needsPage, open } from '../dom.js';
import { differenceText, progressText, replaySection } from '../../../static/js/live/fidelity/replay.js';

test('the difference of makespans has a sign', () => {
  assert.equal(differenceText(0.0123), '+1.2 %');
  assert.equal(differenceText(-0.0033), '−0.3 %');
  assert.equal(differenceText(0.0001), 'none');
  assert.equal(differenceText(null), '–');
});

test('the progress of a replay', () => {
  assert.equal(progressText(null), '');
  assert.equal(progressText({ status: 'queued', cut: false }), 'Waiting for a worker');
  assert.equal(progressText({ status: 'computing', cut: false }), 'Preparing the replayed window');
  assert.equal(progressText({ status: 'computing', cut: true }), 'Simulating the replayed window');
});

test('the replayed window has times in UTC', needsPage, () => {
  open('/');
  const newest = {
    from_ms: 3_600_000,
    until_ms: 7_200_000,
    began_at: '2026-01-01T10:15:42Z',
    run: 3,
    replay: 4,
    jobs: 2,
    at: '2026-01-01T13:00:00Z',
    first: { job: 'j1', simulated_ms: 3_660_000, real_ms: 3_720_000 },
    within_ms: 30_000,
    sentences: [],
  };
  const text = replaySection({ newest, before: [] })
    .map((node) => node?.textContent)
    .join(' ');
  assert.match(text, /^From 2026-01-01 11:15 UTC to 2026-01-01 12:15 UTC of run 3/);
  assert.match(text, /job j1 starts at 2026-01-01 11:16 UTC in the simulation, and started at 2026-01-01 11:17 UTC/);
});
