// The overview on recorded answers of the API: its runs, the present of one of them, and news from the socket.

import assert from 'node:assert/strict';
import test from 'node:test';

import { RUNS, needsPage, recorded, sockets, until } from './dom.js';
import { $, $$, change, refusal, text, visit } from './visit.js';

test('the overview shows the present, lists runs, and follows what comes on the socket', needsPage, async () => {
  const { window, asked } = await visit('overview', '/?view=table', {});
  const rows = await until(() => $$('#runs tbody tr').length >= 5 && $$('#runs tbody tr'), 'runs are listed');
  assert.match(rows.map((row) => row.textContent).join(), /OASiS → SRTF at 03:00:00/);
  await until(() => /5 finished/.test(text('#runs-by-status')), 'runs are counted by status');
  await until(() => $$('#present-figures .tile').length > 5, 'the present is shown');
  assert.match(text('#present-attention'), /\S/);
  const boxes = $$('[data-compare]');
  for (const box of boxes.slice(0, 2)) {
    box.checked = true;
    box.dispatchEvent(new window.Event('change'));
  }
  assert.equal(text('#compare'), 'Compare 2 runs');
  const before = asked.length;
  sockets.at(-1).hear({ type: 'deleted', id: RUNS.slotted });
  await until(() => asked.length > before, 'the list is asked for again');
});

test('the present of a run that the session may not see any more is not asked for again', needsPage, async (t) => {
  const ticks = [];
  const each = globalThis.setInterval;
  globalThis.setInterval = /** @type {any} */ ((action, ms) => (ms === 1000 ? ticks.push(action) : each(action, ms)));
  t.after(() => (globalThis.setInterval = each));
  const page = await recorded('/api/runs/?size=50').json();
  const run = { ...page.results.at(-1), status: 'running' };
  let refused = 0;
  const { window } = await visit('overview', '/', {}, [
    ['/api/runs/?', { ...page, results: [run], count: 1, by_status: { running: 1 }, by_scheduler: {} }],
    [`/api/runs/${run.id}/situation/`, () => (refused++, refusal(403, 'Nobody is logged in here.'))],
  ]);
  const tick = async () => {
    for (const action of ticks) action();
    let turns = 0;
    await until(() => turns++ > 1, 'an answer had the time to come');
  };
  await until(() => refused === 1, 'it is asked for');
  for (let i = 0; i < 5; i++) await tick();
  assert.ok(refused < 3, 'one request may be on its way');
  const before = refused;
  document.dispatchEvent(new window.Event('visibilitychange'));
  await tick();
  assert.equal(refused, before + 1, 'the user may have logged in in another tab');
});

test('a run that has just ended is shown without the figures of before', needsPage, async () => {
  const page = await recorded('/api/runs/?size=50').json();
  const run = { ...page.results.at(-1), status: 'running', metrics: null };
  const jobs = { queued: 0, planned: 0, running: 1, suspended: 0, completed: 2, rejected: 0 };
  const now = { sim_ms: 1, jobs, utility: 3, sites: [] };
  await visit('overview', '/?view=table', {}, [
    ['/api/runs/?', { ...page, results: [run], count: 1, by_status: { running: 1, finished: 0 }, by_scheduler: {} }],
    [`/api/runs/${run.id}/now/`, now],
  ]);
  const cell = (name) => $(`#runs td[data-label="${name}"]`)?.textContent;
  await until(() => cell('Running') === '1', 'its figures are shown');
  sockets.at(-1).hear({ type: 'status', id: run.id, status: 'finished', sim_ms: 2, metrics: { completed: 3 } });
  assert.deepEqual([cell('Running'), cell('Completed jobs')], ['–', '3']);
});

test(
  'the overview shows runs as cards with their pictures, forks below their parents, and filters',
  needsPage,
  async () => {
    const page = await recorded('/api/runs/?size=50').json();
    const [parent, other] = page.results;
    const fork = { ...parent, id: 900, parent: parent.id, scenario_name: `${parent.scenario_name}, fork of run 1` };
    const { window, asked } = await visit('overview', '/', {}, [
      ['/api/runs/?scheduler=drf', { ...page, results: [], count: 0 }],
      ['/api/runs/?', { ...page, results: [fork, parent, other], count: 3 }],
    ]);
    await until(() => $$('.run-card').length === 3, 'three cards are shown');
    assert.equal($$('.run-cards > .family').length, 2);
    assert.equal(text('.forks h3'), '900 · Fork of run 1');
    assert.match(text('.run-figures'), /Completed/);
    assert.equal($$('[data-compare]').length, 3);
    $('[data-view=table]').click();
    await until(() => $$('#runs tbody tr').length === 3 && !$('.run-card'), 'the table takes their place');
    assert.equal(location.search, '?view=table');
    $('[data-view=cards]').click();
    await until(() => $$('.run-card').length === 3 && !$('#runs tbody tr'), 'and the cards its');
    $$('#runs-by-status button').at(-1).click();
    await until(() => asked.some(([, path]) => /status=finished/.test(path)), 'the list is filtered');
    assert.equal(location.search, '?status=finished');
    $$('#runs-by-status button').at(-1).click();
    $('#runs-scheduler').append(Object.assign(document.createElement('option'), { value: 'drf' }));
    change(window, '#runs-scheduler', 'drf');
    await until(() => /No matching runs/.test(text('#cards')), 'nothing is left');
    assert.deepEqual([location.search, text('#runs-count')], ['?scheduler=drf', '0 runs']);
  },
);
