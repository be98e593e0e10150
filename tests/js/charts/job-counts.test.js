// Curves of the number of jobs in each state.

import assert from 'node:assert/strict';
import test from 'node:test';

import { countCurves } from '../../../static/js/charts/job-counts.js';
import { Store } from '../../../static/js/core/store.js';
import { frame } from '../builders.js';
import { needsPage, open } from '../dom.js';

const STATES = [{ key: 'queued', name: 'queued' }];

test('the counts are steps, and at the end of a run they drop to those of the legend', needsPage, () => {
  open();
  const store = new Store();
  store.feed(
    frame([
      [1, 0, 'job_arrived', { job: 0 }],
      [2, 1000, 'run_finished', {}],
    ]),
  );
  const of = (p, to) => countCurves(store, STATES, { from: 0, to }, p, 4)[0];
  assert.deepEqual(
    [[...of(1000, 2000).x], [...of(1000, 2000).y]],
    [
      [0, 500, 1000],
      [1, 1, 0],
    ],
  );
  assert.deepEqual([...of(900, 2000).y], [1, 1, 1], 'the job waits before the end');
  assert.deepEqual([...of(1000, 800).x], [0, 200, 400, 600], 'the end is not in view');
  assert.equal(of(1000, 2000).stepped, true);
});
