// Effects of edits on pages: the busiest servers, and the sentences of the curves.

import assert from 'node:assert/strict';
import test from 'node:test';

import { arrivalsText, capacityText } from '../../../static/js/charts/edit-curves.js';
import { busiest, loadsOf } from '../../../static/js/scenarios/server-loads.js';

const LOADS = {
  scale: ['gpu', 'cpu'],
  servers: {
    name: ['a', 'b', 'c', 'd', 'e'],
    shares: [
      [500, 0, 1000, -1, 500],
      [250, 0, 100, 800, 500],
    ],
    jobs: [1, 0, 2, 1, 3],
    state: [0, 0, 1, 0, 0],
  },
};

test('the busiest are available, by their largest share and then by their jobs', () => {
  const loads = loadsOf(LOADS);
  assert.deepEqual(busiest(loads, 2), ['d', 'e']);
  assert.deepEqual(busiest(loads, 9), ['d', 'e', 'a']);
  assert.deepEqual([loads.get('d').share, loads.get('d').of], [0.8, 'vCPU']);
  assert.deepEqual(busiest(loadsOf({}), 3), []);
});

test('the text of a curve says what the edits change, and nothing without a change', () => {
  const before = [[0, 8]];
  assert.equal(capacityText({ before, after: before }, 'GPU'), '');
  const less = [...before, [3_600_000, 4], [7_200_000, 8]]; // prettier-ignore
  assert.equal(capacityText({ before, after: less }, 'GPU'), 'lowest 4 of 8 GPU, from 01:00:00');
  const more = [...before, [3_600_000, 10]]; // prettier-ignore
  assert.equal(capacityText({ before, after: more }, 'GPU'), 'highest 10 instead of 8 GPU, from 01:00:00');
  assert.equal(arrivalsText({ before: [1, 2], after: [1, 2] }), '');
  assert.equal(arrivalsText({ before: [1, 2], after: [2, 1] }), 'the same number of jobs (3), some at other times');
  assert.equal(arrivalsText({ before: [1, 2], after: [1, 4] }), '5 instead of 3 jobs in total');
});
