// What-if from a real cluster: the form, what it sends, and where it leads.

import assert from 'node:assert/strict';
import test from 'node:test';

import { needsPage, openPage, serve, until } from '../dom.js';

const $ = (selector) => document.querySelector(selector);
const SCHEDULERS = [
  { name: 'drf', title: 'DRF', unavailable: null },
  { name: 'fifo', title: 'FIFO', unavailable: null },
  { name: 'solver', title: 'Solver', unavailable: 'it needs a package' },
];

async function open() {
  openPage('/runs/5/', 'run.html', { 'run.pk': '5', 'run.scenario.name': 'lab', 'run.status': 'running' });
  const { cutForm, cutFields } = await import('../../../static/js/run/cut-dialog.js');
  const { choices } = await import('../../../static/js/ui/fields/scheduler-choices.js');
  const form = cutForm('2026-11-24 19:40 UTC', choices(SCHEDULERS, 'fifo'));
  document.body.append(form);
  return { form, cutFields };
}

test('the form begins with FIFO with backfilling and the actual durations', needsPage, async () => {
  const { form, cutFields } = await open();
  assert.equal($('#cut-title').textContent, 'What-if from 2026-11-24 19:40 UTC');
  assert.deepEqual(cutFields(form), { durations: 'actual', assumed_ms: 3_600_000, arrivals: false });
  assert.equal($('#cut-scheduler').selectedOptions[0].textContent, 'FIFO with backfilling');
  assert.equal([...$('#cut-scheduler').options].find((one) => one.value === 'solver').disabled, true);
});

test('the form says what was chosen', needsPage, async () => {
  const { form, cutFields } = await open();
  $('#cut-scheduler').value = 'drf';
  $('#cut-durations').value = 'limit';
  $('#cut-assumed').value = '90 min';
  $('#cut-arrivals').value = 'yes';
  assert.deepEqual(cutFields(form), { scheduler: 'drf', durations: 'limit', assumed_ms: 5_400_000, arrivals: true });
});

test('a duration that cannot be read is refused in the form', needsPage, async () => {
  const { form, cutFields } = await open();
  $('#cut-assumed').value = 'soon';
  assert.equal(cutFields(form), null);
  assert.match($('#cut-error').textContent, /must be a duration/);
  assert.equal($('#cut-error').hidden, false);
});

test('a second click creates no second scenario', needsPage, async () => {
  openPage('/runs/5/', 'run.html', { 'run.pk': '5', 'run.scenario.name': 'lab', 'run.status': 'running' });
  const { cutAt } = await import('../../../static/js/run/cut-dialog.js');
  const run = { id: 5, began_at: '2026-11-24T10:15:42Z' };
  let finish;
  const asked = serve([
    ['/api/schedulers/', SCHEDULERS],
    ['/api/runs/5/forks/', () => new Promise((done) => (finish = done))],
  ]);
  await Promise.all([cutAt(run, 3_600_000), cutAt(run, 3_600_000)]);
  assert.equal(document.querySelectorAll('#cut-form').length, 1);
  assert.equal($('#cut-title').textContent, 'What-if from 2026-11-24 11:15 UTC', 'not the time since its log began');
  $('#cut-edit').click();
  await until(() => finish, 'a scenario is asked for');
  $('#cut-edit').click();
  finish(new Response(JSON.stringify({ detail: 'The disk is full.' }), { status: 503 }));
  await until(() => $('#cut-error').textContent === 'The disk is full.', 'the refusal is shown');
  assert.equal(asked.filter(([method]) => method === 'POST').length, 1);
  assert.equal($('#cut-run').disabled, false);
});
