// State of a job with its mark; jobs of a live cluster show how they ended.

import assert from 'node:assert/strict';
import test from 'node:test';

import { needsPage, open } from '../dom.js';

test('an ended job of a live cluster shows how it ended, in its word and its mark', needsPage, async () => {
  open('/');
  const { jobMark } = await import('../../../static/js/ui/labels/job-mark.js');
  const shown = (...given) => {
    const mark = jobMark(...given);
    return [mark.dataset.state, mark.textContent];
  };
  assert.deepEqual(shown('completed', 'ended', 'completed'), ['completed', 'completed']);
  assert.deepEqual(shown('completed', 'ended', 'failed'), ['failed', 'failed']);
  assert.deepEqual(shown('completed', 'ended', 'out_of_memory'), ['out_of_memory', 'out of memory']);
  assert.deepEqual(shown('rejected', 'rejected', 'cancelled'), ['cancelled', 'cancelled'], 'while it waited');
  assert.deepEqual(shown('completed', 'ended', 'lost'), ['ended', 'ended'], 'nobody knows how');
  assert.deepEqual(shown('completed', 'completed'), ['completed', 'completed'], 'of a simulated run');
  assert.deepEqual(shown('running', 'running', 'failed'), ['running', 'running'], 'at a time before its end');
});

test('the decisions about a job state its outcome with the last one', needsPage, async () => {
  const { outcomeOf } = await import('../../../static/js/ui/labels/job-mark.js');
  assert.equal(outcomeOf([{ code: 'started' }, { code: 'ended', values: { outcome: 'timeout' } }]), 'timeout');
  assert.equal(outcomeOf([{ code: 'ended', values: { outcome: 'failed' } }, { code: 'requeued' }]), null);
  assert.equal(outcomeOf(), null);
});
