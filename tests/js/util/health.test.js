// Faults of the twin as sentences: what /healthz answers when something is wrong.

import assert from 'node:assert/strict';
import test from 'node:test';

import { faults } from '../../../static/js/util/health-text.js';

const WELL = {
  database: true,
  broker: true,
  missing: [],
  processes: [{ name: 'host/7', kind: 'ticker', answers: true }],
};

test('nothing is shown when all is well', () => {
  assert.deepEqual(faults(WELL), []);
  assert.deepEqual(faults({ database: true, broker: true }), []);
});

test('every part that fails is named once', () => {
  assert.deepEqual(faults({ ...WELL, database: false, database_fault: 'database is locked; locked since 10:00' }), [
    'The database accepts no writes: database is locked; locked since 10:00. Runs wait.',
  ]);
  assert.deepEqual(faults({ database: true, broker: false }), [
    'The message broker does not respond. Runs, imports and live updates are stopped.',
  ]);
  assert.deepEqual(faults({ ...WELL, disk: '12 MB are left' }), ['The disk is full: 12 MB are left.']);
  const hung = [
    { name: 'host/7', kind: 'ticker', answers: false, trouble: 'the ticker (process 7) has not answered for 12 s' },
  ];
  assert.deepEqual(faults({ ...WELL, processes: hung, missing: ['ticker'] }), [
    'The ticker (process 7) has not answered for 12 s.',
  ]);
  assert.deepEqual(faults({ ...WELL, processes: [], missing: ['ticker'] }), ['No ticker is running.']);
  const workers = ['worker for runs', 'background worker', 'dispatcher of the worker for runs'];
  assert.deepEqual(faults({ ...WELL, processes: [], missing: workers }), [
    'Not running: worker for runs, background worker.',
  ]);
  assert.deepEqual(faults({ ...WELL, processes: [], missing: workers, starting: workers }), []);
  assert.deepEqual(faults({ ...WELL, processes: [{ name: 'host/8', kind: 'web server', answers: false }] }), [
    'The web server does not respond.',
  ]);
});
