// Fields of a job: their titles are those of scheduling/reporting/job_fields.py, their values have units.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { TITLES, fieldText, fieldTitle } from '../../../static/js/util/job-fields.js';

test('the titles are those of the sentences', () => {
  assert.deepEqual(
    TITLES,
    JSON.parse(readFileSync(new URL('../../fixtures/job_fields.json', import.meta.url), 'utf8')),
  );
  assert.equal(fieldTitle('gradient_mb'), 'Gradient size');
  assert.equal(fieldTitle('colour'), 'colour', 'a field without a title');
  assert.equal(fieldTitle('worker.cpu'), 'vCPU of a worker');
  assert.equal(fieldTitle('ps.memory'), 'Memory of a parameter server');
});

test('a long list of times has the least and the longest one', () => {
  const values = [3_600_000, 0, 0, 0, 0, 0, 14_400_000];
  assert.equal(fieldText('upload_ms', values), '7 values, 0 ms to 4h');
});

test('the resources of a worker are those of which it has some', () => {
  const gpus = { gpu: 1, cpu: 0, memory: 0, storage: 0, bandwidth: 0 };
  assert.equal(fieldText('worker', gpus), '1 GPU');
  assert.equal(fieldText('worker', { ...gpus, memory: 1.5 }), '1 GPU, 1.5 GB memory');
  assert.equal(fieldText('ps', { ...gpus, gpu: 0 }), 'none');
});
