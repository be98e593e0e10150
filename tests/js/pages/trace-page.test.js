// The report of an import, and the way from a trace to a new run.

import assert from 'node:assert/strict';
import test from 'node:test';

import { needsPage, open, serve } from '../dom.js';
import { reasonText, skippedRows } from '../../../static/js/traces/import-report.js';
import { useInScenario } from '../../../static/js/traces/use.js';

const row = (file, line) => ({ file, line, reason: 'run_not_positive', value: '0' });
const report = (skipped) => ({ skipped, skipped_counts: { run_not_positive: skipped.length } });
const text = (nodes) =>
  [nodes]
    .flat()
    .map((node) => node?.textContent ?? '')
    .join('');

test('skipped rows name their file only if there are several', needsPage, () => {
  open();
  assert.ok(!text(skippedRows(report([row('a.csv', 1), row('a.csv', 2)]), true)).includes('File'));
  assert.ok(text(skippedRows(report([row('a.csv', 1), row('b.csv', 2)]), true)).includes('File'));
});

test('the code of a reason is written in words, with units as units', () => {
  assert.equal(reasonText('no_gpu'), 'no GPU');
  assert.equal(reasonText('too_many_gpus'), 'too many GPUs');
  assert.equal(reasonText('run_not_positive'), 'run not positive');
});

test('without skipped rows, the first jobs are offered only if there are some', needsPage, () => {
  open();
  assert.ok(text(skippedRows({}, true)).includes('Show the first jobs'));
  const cut = text(skippedRows({ skipped: [], skipped_counts: { held: 1, ended_before: 21 } }, true));
  assert.match(cut, /^ended before 21 · held 1The trace was not read from a file/);
  assert.ok(!text(skippedRows({}, false)).includes('Show the first jobs'));
});

test('a list of machines is used by its cluster, a trace with jobs by itself', needsPage, async () => {
  open();
  const own = [
    { id: 7, trace: 3 },
    { id: 6, trace: 3 },
  ];
  serve([
    ['/api/clusters/?trace=3&', { results: own }], // the one that came with it is not the newest
    ['/api/clusters/?trace=1&', { results: [] }],
  ]);
  assert.equal(useInScenario({ id: 4, job_count: 9 }, '', assert.fail).getAttribute('href'), '/scenarios/?trace=4');
  const led = await new Promise((resolve, reject) => {
    globalThis.location = { assign: resolve };
    useInScenario({ id: 3, job_count: 0 }, '', reject).click();
  });
  assert.equal(led, '/scenarios/?cluster=6');
  const refused = await new Promise((resolve) => useInScenario({ id: 1, job_count: 0 }, '', resolve).click());
  assert.match(refused.message, /has been deleted/);
});
