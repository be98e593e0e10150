// The pages of traces on recorded answers of the API: the list, the files chosen, and one imported trace.

import assert from 'node:assert/strict';
import test from 'node:test';

import { needsPage, recorded, sockets, until } from '../dom.js';
import { $, $$, refusal, text, visit, toldFailure } from '../visit.js';

test('traces: the list sorts, a deletion asks first, files that are empty are refused', needsPage, async () => {
  const { window, asked } = await visit('traces', '/traces/', {});
  await until(() => $$('#list tbody tr').length >= 3, 'traces are listed');
  const names = () => $$('#list tbody td:first-child').map((cell) => cell.textContent);
  $$('#list th button')[0].click();
  assert.deepEqual(names(), [...names()].sort());
  $$('#list button')
    .find((button) => button.textContent === 'Delete')
    .click();
  (await until(() => $('dialog.confirm'), 'a question is asked')).close('');
  await until(() => !$('dialog.confirm'), 'it is over');
  assert.equal(
    asked.some(([method]) => method === 'DELETE'),
    false,
  );
  Object.defineProperty($('#file'), 'files', { value: [{ name: 'a.csv', size: 0 }], configurable: true });
  $('#file').dispatchEvent(new window.Event('change'));
  await until(() => /a.csv is empty/.test(text('#upload-error')), 'the empty file is refused');
});

test('traces: files that wait for a choice are discarded after a question only', needsPage, async () => {
  const page = await recorded('/api/traces/?size=200').json();
  const scanned = { ...page.results[0], status: 'scanned', name: 'week.csv' };
  const { asked } = await visit('traces', '/traces/', {}, [['/api/traces/?', { ...page, results: [scanned] }]]);
  const cancel = () => $$('#list button').find((button) => button.textContent === 'Cancel');
  (await until(cancel, 'it is listed')).click();
  const dialog = await until(() => $('dialog.confirm'), 'a question is asked');
  assert.match(dialog.textContent, /Discard upload week.csv\?/);
  dialog.close('');
  await until(() => !$('dialog.confirm'), 'it is over');
  assert.equal(
    asked.some(([method]) => method === 'POST'),
    false,
  );
});

test('traces: an import that reads nothing says so until it goes on', needsPage, async () => {
  const page = await recorded('/api/traces/?size=200').json();
  const stalled = 'no progress for 45 s; cancel the import if this takes too long';
  const parsing = { ...page.results[0], status: 'parsing', progress: 0.5, stalled };
  await visit('traces', '/traces/', {}, [['/api/traces/?', { ...page, results: [parsing] }]]);
  await until(
    () => /50 %No progress for 45 s; cancel the import if this takes too long\./.test(text('#list')),
    'the stall is shown',
  );
  sockets.at(-1).hear({ type: 'trace', trace: { ...parsing, progress: 0.6, stalled: '' } });
  await until(() => /60 %/.test(text('#list')) && !/No progress/.test(text('#list')), 'the import goes on');
});

const LIST_FAILED = /list of traces.*does not answer/;

test('traces: a failure to load the list is shown until the list loads', needsPage, async () => {
  let down = true;
  const list = (_, path) => (down ? refusal(503, 'The database does not answer.') : recorded(path));
  const form = () => new Promise(() => {}); // its answer is not needed here
  await visit('traces', '/traces/', {}, [
    ['/api/traces/', list],
    ['/api/workloads/', form],
  ]);
  await until(() => toldFailure(LIST_FAILED), 'it is shown');
  assert.equal(text('#list'), '', 'nothing is said to be loading');
  down = false;
  sockets.at(-1).hear({ type: 'snapshot_needed' });
  await until(() => $$('#list tbody tr').length >= 3, 'traces are listed');
  await until(() => !toldFailure(LIST_FAILED), 'it is gone');
});

test('traces: a failure is forgotten with the next news of an upload', needsPage, async () => {
  const page = await recorded('/api/traces/?size=200').json();
  const trace = { ...page.results[0], status: 'uploading', files: [{ name: 'a.csv', size: 8, received: 4 }] };
  let down = false;
  const list = () => (down ? refusal(503, 'The database does not answer.') : { ...page, results: [trace] });
  await visit('traces', '/traces/', {}, [['/api/traces/?', list]]);
  await until(() => /received 4/.test(text('#list')), 'the upload is listed');
  down = true;
  sockets.at(-1).hear({ type: 'snapshot_needed' });
  await until(() => toldFailure(LIST_FAILED), 'the failure is shown');
  assert.equal($$('#list tbody tr').length, 1, 'the previous list is kept');
  down = false;
  sockets.at(-1).hear({ type: 'trace', trace: { id: trace.id, status: 'uploading', progress: 0.6 } });
  await until(() => !toldFailure(LIST_FAILED), 'it is gone');
});

test(
  'a trace: a failure is forgotten with the next news, and leaves what is said of the files',
  needsPage,
  async () => {
    const path = [...Array(10).keys()].map((i) => `/api/traces/${i}/`).find((one) => recorded(one));
    const id = Number(path.split('/')[3]);
    let down = false;
    const names = { 'trace.pk': String(id), 'trace.id': String(id) };
    const one = () => (down ? refusal(503, 'The database does not answer.') : recorded(path));
    await visit('trace', `/traces/${id}/`, names, [[path, one]]);
    await until(() => /job/.test(text('#status')), 'it is shown');
    const said = text('#status');
    down = true;
    sockets.at(-1).hear({ type: 'snapshot_needed' });
    await until(() => /does not answer/.test(text('#status')), 'the failure is shown');
    down = false;
    sockets.at(-1).hear({ type: 'trace', trace: { id, status: 'ready', progress: 1 } });
    await until(() => !/does not answer/.test(text('#status')), 'it is gone');
    assert.equal(text('#status'), said);
  },
);

test('a trace that another team has now is not called deleted', needsPage, async () => {
  const moved = refusal(404, 'Trace 7 does not exist; it may have been deleted.');
  await visit('trace', '/traces/7/', { 'trace.pk': '7', 'trace.id': '7' }, [['/api/traces/7/', moved]]);
  await until(() => /does not exist/.test(text('main')), 'it is said');
  assert.match(text('main'), /^\s*This trace is not available/);
});

test('a trace that was imported: its account, its first jobs, where its fields come from', needsPage, async () => {
  const id = JSON.parse(await recorded('/api/traces/?size=200').text()).results[0].id;
  const path = await until(
    () => [...Array(10).keys()].map((i) => `/api/traces/${i}/`).find((one) => recorded(one)),
    'one is recorded',
  );
  await visit('trace', path.replace('/api', ''), { 'trace.pk': path.split('/')[3], 'trace.id': path.split('/')[3] });
  await until(() => /job/.test(text('#status')), 'it is shown');
  assert.ok(id > 0);
  assert.ok($('#tiles dd'));
  if ($('#charts').hidden) return;
  assert.ok(!$('#of-files').hidden, 'the chart of sizes is of all jobs of the files');
});

test('a trace whose import failed: its state, its reason, and the ways on', needsPage, async () => {
  const failed = { id: 7, name: 'a.csv', status: 'failed', message: 'a.csv: a binary file, not text', scan: null };
  const names = { 'trace.pk': '7', 'trace.id': '7' };
  const { asked } = await visit('trace', '/traces/7/', names, [['/api/traces/7/', failed]]);
  await until(() => /a binary file/.test(text('#status')), 'the reason is shown');
  assert.equal(text('#ended'), 'failed');
  assert.equal($('#status a').getAttribute('href'), '/traces/');
  $('#actions button').click();
  const dialog = await until(() => $('dialog.confirm'), 'a question is asked');
  assert.match(dialog.textContent, /Delete trace a.csv\?/);
  dialog.close('');
  await until(() => !$('dialog.confirm'), 'it is over');
  assert.ok(!asked.some(([method]) => method === 'DELETE'));
});
