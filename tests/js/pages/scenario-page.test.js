// The page of a scenario that is a fork: edits before the fork, what is saved, and a conflict with another window.

import assert from 'node:assert/strict';
import test from 'node:test';

import { needsPage, open, openPage, recorded, serve, sockets, until } from '../dom.js';

const FORK_MS = 60_200_379; // 16:43:20.379
const PARENT = { edits_ms: [], id: 7, status: 'finished', sim_ms: FORK_MS + 1 };
const KEPT = { verb: 'scale_arrivals', factor: 2, at_ms: 3_600_000 };
const $ = (selector) => document.querySelector(selector);
const $$ = (selector) => [...document.querySelectorAll(selector)];
const text = (selector) => $(selector)?.textContent ?? '';
const button = (root, title) => [...root.querySelectorAll('button')].find((one) => one.textContent === title);
const COMPARED = 'Run opens the comparison with run 7';
const row = (edit) => ({ sentence: edit.verb, effect: {}, error: '', off: Boolean(edit.off) });
let visits = 0;

/** The page of scenario 1 as a fork with one edit of its past. patch: the answer to a save. */
async function visit(patch = null) {
  const window = openPage('/scenarios/1/', 'scenario.html', { 'scenario.pk': '1' });
  const body = await recorded('/api/scenarios/1/').json();
  const edits = (asked, path, method) =>
    method === 'PATCH'
      ? (patch ?? { version: 2, edits: asked.edits })
      : { rows: asked.edits.map(row), error: '', effect: {}, servers: {}, sites: {} };
  serve([
    ['/api/scenarios/1/edits/', edits],
    ['/api/scenarios/1/', { ...body, fork_ms: FORK_MS, parent: 7, edits: [KEPT] }],
    ['/api/runs/7/', PARENT],
    ['/api/runs/', { results: [] }],
    ['/api/', (_, path) => recorded(path)],
  ]);
  await import(`../../../static/js/pages/scenario.js?${visits++}`);
  await until(() => $$('#edits li').length === 1 && $('#e-at'), 'the edits are listed');
  const say = (selector, value) => {
    $(selector).value = value;
    $(selector).dispatchEvent(new window.Event('input', { bubbles: true }));
  };
  const add = () => $('#add').dispatchEvent(new window.Event('submit', { bubbles: true, cancelable: true }));
  return { window, say, add };
}

test('another scheduler keeps the training model of the scenario, unless another is chosen', needsPage, async () => {
  const [verbs, schedulers] = await Promise.all(
    ['/api/edits/', '/api/schedulers/'].map((path) => recorded(path).json()),
  );
  const { EditForm } = await import('../../../static/js/scenarios/edits/edit-form.js');
  const window = open('/scenarios/1/', '<form id="add"></form>');
  const given = { verbs, schedulers, training: 'oasis', leastMs: 0, laterMs: 1000, wholeTitle: '', onFilled() {} };
  const form = new EditForm($('#add'), given);
  const choose = (name) => {
    $('#p-scheduler').value = name;
    $('#p-scheduler').dispatchEvent(new window.Event('change', { bubbles: true }));
  };
  form.show(
    verbs.find(({ name }) => name === 'change_scheduler'),
    {},
  );
  choose('drf');
  assert.equal($('#e-of-model').value, 'oasis');
  assert.equal(form.read().parameters, 'model=oasis');
  choose('srtf');
  assert.equal($('#e-of-model'), null);
  form.change({ verb: 'change_scheduler', scheduler: 'drf', at_ms: 1000 }, 0);
  assert.equal($('#e-of-model').value, '', 'an edit that is changed keeps its own');
});

test('an emptied number is refused in the form, and not replaced by the default of the server', needsPage, async () => {
  const { window, say, add } = await visit();
  $('#e-verb').value = 'resize_servers';
  $('#e-verb').dispatchEvent(new window.Event('change', { bubbles: true }));
  say('[data-parameter=servers]', '*');
  say('[data-parameter=amount]', '');
  add();
  assert.equal(text('#add > .error'), 'Amount: enter a number, for example 1.');
  assert.equal($$('#edits li').length, 1);
  say('[data-parameter=amount]', '0');
  add();
  await until(() => $$('#edits li').length === 2, 'a number is taken, also 0');
});

test('a new scheduler is named by its title in the effects', needsPage, async () => {
  const { say, add } = await visit();
  const rows = (asked) => asked.edits.map((edit) => ({ ...row(edit), effect: { scheduler: 'easy' } }));
  serve([
    [
      '/api/scenarios/1/edits/',
      (asked) => ({ rows: rows(asked), error: '', effect: { scheduler: 'easy' }, servers: {}, sites: {} }),
    ],
    ['/api/', (_, path) => recorded(path)],
  ]);
  say('[data-parameter=servers]', '*');
  add();
  await until(() => /Total effect: scheduler EASY backfilling/.test(text('#effect')), 'the total effect is shown');
  assert.match(text('#edits'), /scheduler EASY backfilling/);
});

test('a run that somebody else has deleted leaves the list of runs, with what happened', needsPage, async () => {
  const box = open('/scenarios/1/', '<div id="runs"></div>').document.getElementById('runs');
  const { RunList } = await import('../../../static/js/scenarios/panels/runs.js');
  const run = { id: 5, status: 'finished', created_at: '2026-11-27T05:00:00Z', last_seq: 3 };
  let results = [run, { ...run, id: 4 }];
  const gone = { detail: 'There is no run 5; it may have been deleted.' };
  serve([
    ['/api/runs/?', () => ({ results })],
    ['/api/runs/5/', () => new Response(JSON.stringify(gone), { status: 404 })],
  ]);
  const said = [];
  const scenario = () => ({ id: 1, name: 'mine', parent: null });
  await new RunList(box, scenario, true, (error) => said.push(error.message)).load();
  assert.equal(box.querySelectorAll('tbody tr').length, 2);
  results = [{ ...run, id: 4 }];
  button(box, 'Delete').click();
  await until(() => box.querySelectorAll('tbody tr').length === 1, 'its row is gone');
  assert.deepEqual(said, [gone.detail]);
});

test('the list of runs follows their states, and shows runs that others start', needsPage, async () => {
  const box = open('/scenarios/1/', '<div id="runs"></div>').document.getElementById('runs');
  const { RunList } = await import('../../../static/js/scenarios/panels/runs.js');
  const run = { id: 5, status: 'running', created_at: '2026-11-27T05:00:00Z', last_seq: 3 };
  let results = [run];
  const asked = serve([['/api/runs/?', () => ({ results })]]);
  const list = new RunList(box, () => ({ id: 1, name: 'mine', parent: null }), true, assert.fail);
  await list.load();
  const states = () => [...box.querySelectorAll('.state')].map((one) => one.textContent);
  const hear = (message) => list.hear(message);
  hear({ type: 'status', id: 5, status: 'running' });
  results = [{ ...run, status: 'cancelled' }];
  hear({ type: 'status', id: 5, status: 'cancelled' });
  await until(() => states().join() === 'cancelled', 'its state is followed');
  results = [{ ...run, id: 6, status: 'queued' }, ...results];
  hear({ type: 'status', id: 6, status: 'queued' });
  hear({ type: 'status', id: 7, status: 'queued' }); // of another scenario
  await until(() => states().join() === 'queued,cancelled', 'a new run is listed');
  const before = asked.length;
  hear({ type: 'status', id: 7, status: 'running' });
  hear({ type: 'status', id: 6, status: 'queued' });
  hear({ type: 'deleted', id: 5 });
  results = [results[0]];
  await until(() => states().join() === 'queued', 'a deleted run leaves the list');
  assert.equal(asked.length, before + 1, 'no request for runs of other scenarios, nor without a change');
});

test('an edit before the fork is refused in the form, with a time that works', needsPage, async () => {
  const { say, add } = await visit();
  assert.match(text('#e-at-help'), /^16:43:20\.379 or later/);
  assert.match(text('#about'), /from 16:43:20\.379/);
  say('[data-parameter=servers]', '*');
  const refusal = 'Time of the edit: 16:43:20 is before the fork; the earliest time is 16:43:20.379.';
  for (const [typed, shown] of [
    ['0', refusal.replace('16:43:20 ', '00:00:00 ')],
    ['250 ms', refusal.replace('16:43:20 ', '00:00:00.250 ')],
    ['16:43:20', refusal],
  ]) {
    say('#e-at', typed);
    add();
    assert.equal(text('#add > .error'), shown);
  }
  say('[data-parameter=for_ms]', 'soon');
  say('#e-at', '17:00:00');
  add();
  assert.match(text('#add > .error'), /^Duration: “soon” is not a time; enter one/);
  say('[data-parameter=for_ms]', '1 h');
  assert.equal($$('#edits li').length, 1);
  say('#e-at', /earliest time is (.*)\.$/.exec(refusal)[1]);
  add();
  assert.equal($$('#edits li').length, 2);
  const [past, own] = $$('#edits li');
  assert.deepEqual([past.querySelectorAll('button').length, own.querySelectorAll('button').length], [0, 5]);
  assert.match(past.textContent, /past/);
});

test('a second click on Run starts no second run', needsPage, async () => {
  const { say, add } = await visit();
  let finish;
  const asked = serve([
    [
      '/api/scenarios/1/edits/',
      (sent) => ({
        version: 2,
        edits: sent.edits,
        rows: sent.edits.map(row),
        effect: {},
        servers: {},
        sites: {},
        error: '',
      }),
    ],
    ['/api/runs/', () => new Promise((done) => (finish = done))],
    ['/api/', (_, path) => recorded(path)],
  ]);
  say('[data-parameter=servers]', '*');
  say('#e-at', '17:00:00');
  add();
  await until(() => !$('#run').disabled, 'the edits are checked');
  $('#run').click();
  await until(() => finish, 'a run is asked for');
  $('#run').click();
  finish(new Response(JSON.stringify({ detail: 'The disk is full.' }), { status: 503 }));
  await until(() => text('#failed') === 'The disk is full.', 'the refusal is shown');
  assert.equal(asked.filter(([method, path]) => method === 'POST' && path === '/api/runs/').length, 1);
});

test('edits that could not be checked are checked once the server can be reached', needsPage, async () => {
  const { window, say, add } = await visit();
  let reachable = false;
  serve([
    [
      '/api/scenarios/1/edits/',
      (sent) => {
        if (!reachable) throw new TypeError('Failed to fetch');
        return { rows: sent.edits.map(row), error: '', effect: {}, servers: {}, sites: {} };
      },
    ],
    ['/api/', (_, path) => recorded(path)],
  ]);
  say('[data-parameter=servers]', '*');
  say('#e-at', '17:00:00');
  add();
  await until(() => text('#failed') === 'The server cannot be reached.', 'the failure is shown');
  assert.ok($('#run').disabled && $('#save').disabled);
  reachable = true;
  window.dispatchEvent(new window.Event('online'));
  await until(() => !$('#run').disabled && !$('#save').disabled, 'the edits are checked');
  assert.equal($('#failed').hidden, true);
});

test('a fork of a deleted run says why it cannot be copied', needsPage, async () => {
  await visit();
  const body = await recorded('/api/scenarios/1/').json();
  const asked = serve([
    [
      '/api/scenarios/1/edits/',
      (sent) => ({ rows: sent.edits.map(row), error: '', effect: {}, servers: {}, sites: {} }),
    ],
    ['/api/scenarios/1/', { ...body, fork_ms: FORK_MS, parent: null, edits: [KEPT] }],
    ['/api/runs/', { results: [] }],
    ['/api/', (_, path) => recorded(path)],
  ]);
  openPage('/scenarios/1/', 'scenario.html', { 'scenario.pk': '1' });
  await import(`../../../static/js/pages/scenario.js?${visits++}`);
  await until(() => $('#run') && !$('#run').disabled, 'the edits are checked');
  $('#copy').click();
  await until(() => /the run that this scenario continues was deleted/.test(text('#failed')), 'the reason is shown');
  assert.ok(!asked.some(([, path]) => /forks/.test(path)));
});

test('a fork whose parent is deleted meanwhile is no longer compared with it', needsPage, async () => {
  await visit();
  await until(() => text('#saved') === COMPARED, 'the fork would be compared');
  sockets.at(-1).hear({ type: 'deleted', id: 8 });
  assert.equal(text('#saved'), COMPARED);
  sockets.at(-1).hear({ type: 'deleted', id: 7 });
  assert.equal(text('#saved'), '');
  assert.match(text('#about'), /continues a deleted run from/);
});

test('the edits of a scenario that somebody else has deleted are kept as a copy', needsPage, async () => {
  const { say, add } = await visit();
  const gone = { detail: 'There is no scenario 1; it may have been deleted.' };
  let kept = null;
  serve([
    ['/api/scenarios/1/edits/', () => new Response(JSON.stringify(gone), { status: 404 })],
    ['/api/runs/7/forks/', { scenario: { id: 2 } }],
    [
      '/api/scenarios/2/edits/',
      (sent) => {
        kept = sent.edits;
        return new Response(JSON.stringify({ detail: 'The disk is full.' }), { status: 503 });
      },
    ],
    ['/api/', (_, path) => recorded(path)],
  ]);
  say('[data-parameter=servers]', '*');
  say('#e-at', '17:00:00');
  add();
  await until(() => /it may have been deleted\. “Save a copy” keeps/.test(text('#failed')), 'what can be done is said');
  assert.equal(text('#effect'), '');
  $('#copy').click();
  await until(() => text('#failed') === 'The disk is full.', 'the copy is asked for');
  assert.deepEqual(
    kept.map(({ at_ms: at }) => at),
    [KEPT.at_ms, 61_200_000],
  );
});

test('"Not saved" is shown only while the edits differ from what was saved', needsPage, async () => {
  const { say, add } = await visit();
  say('[data-parameter=servers]', '*');
  add();
  assert.match(text('#saved'), /^Not saved; Run saves the edits first\. /);
  $('#undo').click();
  assert.equal(text('#saved'), COMPARED);
  $('#redo').click();
  await until(() => !$('#save').disabled, 'the edits are checked');
  $('#save').click();
  await until(() => text('#saved').startsWith('Saved as version 2'), 'it is saved');
  button($$('#edits li')[1], 'Remove').click();
  assert.match(text('#saved'), /^Not saved; Run saves the edits first\. /);
  $('#undo').click();
  assert.equal(text('#saved'), `Saved as version 2. ${COMPARED}`);
});

test(
  'a conflict says whose version is newer in words, and "Use theirs" leaves nothing unsaved',
  needsPage,
  async () => {
    const theirs = { verb: 'fail_servers', servers: 'edge-0', for_ms: 21_600_000, at_ms: 72_000_000 };
    const newest = { version: 2, edits: [KEPT, theirs] };
    const { say, add } = await visit(new Response(JSON.stringify({ detail: '…', newest }), { status: 409 }));
    say('[data-parameter=servers]', '*');
    add();
    await until(() => !$('#save').disabled, 'the edits are checked');
    $('#save').click();
    await until(() => !$('#conflict').hidden, 'the conflict is shown');
    assert.match(text('#conflict'), /Version 2 was saved in another window or by another user/);
    assert.match(text('#conflict'), /Fail servers at 20:00:00: servers edge-0, duration 6h/);
    assert.doesNotMatch(text('#conflict'), /reload|_ms|21600000/);
    button($('#conflict'), 'Use theirs').click();
    assert.equal(text('#saved'), COMPARED);
  },
);

test('a scenario that continues a run from its end says that the run has no later events', needsPage, async (t) => {
  await visit();
  assert.ok($('#at-the-end').hidden, 'the run has an event after the fork');
  t.after(() => (PARENT.sim_ms = FORK_MS + 1));
  PARENT.sim_ms = FORK_MS;
  await visit();
  await until(() => !$('#at-the-end').hidden, 'it is said');
  assert.equal(
    text('#at-the-end'),
    'Run 7 ended at 16:43:20. It has no events after the time from which this scenario continues it.',
  );
  t.after(() => (PARENT.edits_ms = []));
  PARENT.edits_ms = [FORK_MS - 1, FORK_MS, FORK_MS + 5];
  PARENT.sim_ms = FORK_MS + 9;
  await visit();
  await until(() => /2 later edits/.test(text('#at-the-end')), 'its later edits are named');
  assert.equal(text('#at-the-end'), 'Run 7 has 2 later edits, which are not part of this scenario.');
});
