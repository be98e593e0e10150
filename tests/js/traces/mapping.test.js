// Fields of a column mapping: what is missing, what it counts, what a saved one says; and how files are read again.

import assert from 'node:assert/strict';
import test from 'node:test';

import { countsWaiting, effective, lacking, loaded } from '../../../static/js/traces/column-mapping.js';
import { account, sharedMarks } from '../../../static/js/traces/import-report.js';
import { readingBody, startFormat, titlesOf } from '../../../static/js/traces/reading-form.js';

test('arrival and run time or end are required', () => {
  assert.deepEqual(lacking({}), {
    arrival: 'Select the column of the arrival.',
    run: 'Select a column for the run time or the end.',
  });
  assert.deepEqual(lacking({ arrival: 'x', end: 'y' }), {});
});

test('without a run time and a start the wait counts', () => {
  assert.equal(countsWaiting({ arrival: 'a', end: 'b' }), true);
  assert.equal(countsWaiting({ arrival: 'a', end: 'b', start: 'c' }), false);
  assert.equal(countsWaiting({ arrival: 'a', end: 'b', run: 'c' }), false);
});

test('settings without effect are left out', () => {
  assert.deepEqual(
    effective({ arrival: 'a', arrival_unit: 's', date_order: 'day', run_unit: 'h', end: 'b', memory_unit: 'GB' }),
    { arrival: 'a', arrival_unit: 's', end: 'b' },
  );
  assert.deepEqual(effective({ arrival: 'a', arrival_unit: 'datetime', date_order: 'day' }), {
    arrival: 'a',
    arrival_unit: 'datetime',
    date_order: 'day',
  });
});

test('a saved mapping is loaded if the file has its columns', () => {
  const text = JSON.stringify({ columns: ['a', 'b'], mapping: { arrival: 'a', run: 'b', run_unit: 'h' } });
  assert.deepEqual(loaded(text, ['b', 'a', 'c']), { arrival: 'a', run: 'b', run_unit: 'h' });
  assert.throws(() => loaded(text, ['a']), { message: 'The file has no column b, which the mapping uses for run.' });
  for (const wrong of ['', '[]', '{"mapping": 5}', 'null'])
    assert.throws(() => loaded(wrong, []), { message: 'This is not a saved column mapping.' });
});

test('the form begins with what was used, what fits, or a mapping', () => {
  const formats = [['swf', 'SWF']];
  const unclear = { scan: { unclear: 'x' }, format: 'auto' };
  const source = { columns: ['a', 'b'], nearest: [{ format: 'sacct' }] };
  assert.equal(startFormat({ ...unclear, options: { mapping: {} } }, [], source, formats), 'mapped_csv');
  assert.equal(startFormat({ scan: {}, format: 'auto' }, [], source, formats), 'auto');
  assert.equal(startFormat(unclear, [{ format: 'gavel' }], source, formats), 'gavel');
  assert.equal(startFormat(unclear, [], source, formats), 'mapped_csv');
  assert.equal(startFormat(unclear, [], { columns: ['a'], nearest: source.nearest }, formats), 'sacct');
  assert.equal(startFormat(unclear, [], undefined, formats), 'swf');
});

test('a new scan has the options that are set; a mapping has units of its own', () => {
  const set = { format: { value: 'auto' }, unit: { value: 'min' }, zone: { value: '' }, cpu: { value: 'keep' } };
  assert.deepEqual(readingBody({ seed: 3 }, set, { arrival: 'a' }), {
    format: 'auto',
    seed: 3,
    time_unit: 'min',
    cpu_jobs: 'keep',
  });
  const mapped = { ...set, format: { value: 'mapped_csv' }, zone: { value: 'Europe/Berlin' } };
  assert.deepEqual(readingBody({ seed: 3 }, mapped, { arrival: 'a' }), {
    format: 'mapped_csv',
    seed: 3,
    mapping: { arrival: 'a' },
    time_zone: 'Europe/Berlin',
    cpu_jobs: 'keep',
  });
});

test('an origin that all first jobs share is said once, in the head of the column', () => {
  const rows = [
    { provenance: { epochs: 'drawn', model: 'drawn' } },
    { provenance: { epochs: 'drawn', model: 'trace' } },
  ];
  assert.deepEqual(sharedMarks('epochs', rows), [['drawn', 'sampled']]);
  assert.deepEqual(sharedMarks('model', rows), []);
  assert.deepEqual(sharedMarks('id', rows), []);
  const parts = { provenance: { 'worker.gpu': 'trace', 'worker.cpu': 'drawn', 'worker.memory': 'drawn' } };
  assert.deepEqual(sharedMarks('worker', [parts, parts]), [['drawn', 'sampled: vCPU, memory']]);
  assert.deepEqual(sharedMarks('worker', [parts, rows[0]]), []);
});

test('recognized formats are named by their titles, as in the list of formats', () => {
  const formats = [
    ['philly_derived', 'Derived Philly CSV'],
    ['swf', 'Standard Workload Format'],
  ];
  assert.equal(titlesOf('swf', formats), 'Standard Workload Format');
  assert.equal(titlesOf('philly_derived + swf', formats), 'Derived Philly CSV + Standard Workload Format');
  assert.equal(titlesOf('of_a_newer_version', formats), 'of_a_newer_version');
});

test('the account of an import counts the rows that list machines, and is none if it does not add up', () => {
  const report = (rows) => ({ rows, not_selected: 155, skipped_counts: {} });
  assert.equal(
    account(report(196), 40, 16),
    '196 rows read = 40 jobs + 1 row of 16 servers + 155 not selected + 0 skipped',
  );
  assert.equal(
    account(report(197), 40, 16),
    '197 rows read = 40 jobs + 2 rows of 16 servers + 155 not selected + 0 skipped',
  );
  assert.equal(account(report(196), 40, 1), '196 rows read = 40 jobs + 1 server + 155 not selected + 0 skipped');
  assert.equal(account(report(194), 40, 16), null);
});
