// The overview on recorded answers of the API: its runs, the present of one of them, and news from the socket.

import assert from 'node:assert/strict';
import test from 'node:test';

import { RUNS, needsPage, recorded, sockets, until } from '../dom.js';
import { $, $$, change, refusal, text, visit } from '../visit.js';

test('the overview shows the present, lists runs, and follows what comes on the socket', needsPage, async () => {
  const { window, asked } = await visit('overview', '/?view=table', {});
  const rows = await until(() => $$('#runs tbody tr').length >= 5 && $$('#runs tbody tr'), 'runs are listed');
  assert.match(rows.map((row) => row.textContent).join(), /OASiS → SRTF at 03:00:00/);
  await until(() => /5 finished/.test(text('#runs-by-status')), 'runs are counted by status');
  await until(() => $$('#present-metrics .tile').length > 5, 'the present is shown');
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

/** The overview with one running run, whose current state is answered by `situation`; its timers wait for `tick`. */
async function withOneRun(t, situation, mode = 'live', more = (_) => []) {
  const ticks = [];
  const later = globalThis.setTimeout;
  globalThis.setTimeout = /** @type {any} */ (
    (action, ms) => ([1000, 2000].includes(ms) ? ticks.push(action) : later(action, ms))
  );
  t.after(() => (globalThis.setTimeout = later));
  const page = await recorded('/api/runs/?size=50').json();
  const began = mode === 'mirror' ? '2026-01-01T10:15:42Z' : null;
  const run = { ...page.results.at(-1), status: 'running', mode, began_at: began, sim_ms: 7_200_000 };
  const { window } = await visit('overview', '/', {}, [
    ['/api/runs/?', { ...page, results: [run], count: 1, by_status: { running: 1 }, by_scheduler: {} }],
    [`/api/runs/${run.id}/situation/`, () => situation(run)],
    ...more(run),
  ]);
  const tick = () => ticks.splice(0).forEach((action) => action());
  return { window, run, tick };
}

test('the metrics of a running run change on its card without a message', needsPage, async (t) => {
  let running = 3;
  const now = () => ({ sim_ms: 1000 * running, jobs: { running } });
  const situation = (run) => recorded(`/api/runs/${run.id}/situation/`);
  const { tick } = await withOneRun(t, situation, 'live', (run) => [[`/api/runs/${run.id}/now/`, now]]);
  const shown = () => text('.run-metrics');
  await until(() => /Running3/.test(shown()), 'the first metrics are shown');
  running = 4;
  await until(() => (tick(), /Running4/.test(shown())), 'the next ones follow');
});

test('the card of a run that was held earlier shows why it waits now', needsPage, async (t) => {
  const situation = (run) => recorded(`/api/runs/${run.id}/situation/`);
  const { run } = await withOneRun(t, situation);
  const message = 'resumed after 8 s: the disk is full';
  const hear = (activity) => sockets.at(-1).hear({ type: 'status', id: run.id, status: 'running', message, activity });
  const note = () => text('.run-card > p:last-child');
  await until(() => $$('.run-card').length === 1, 'the run is listed');
  hear({ state: 'stalled', text: 'stalled: the worker is silent', seconds: 9 });
  await until(() => note() === 'stalled: the worker is silent', 'the present wait is shown');
  hear(null);
  await until(() => note() === message, 'the message is shown when the run goes on');
});

test('all active runs have metrics, some at a time', needsPage, async (t) => {
  const page = await recorded('/api/runs/?size=50').json();
  const [{ id: known }] = page.results.slice(-1);
  const results = Array.from({ length: 20 }, (_, i) => ({ ...page.results[0], id: 300 + i, status: 'paused' }));
  const ticks = [];
  const later = globalThis.setTimeout;
  globalThis.setTimeout = /** @type {any} */ (
    (action, ms) => ([1000, 2000].includes(ms) ? ticks.push(action) : later(action, ms))
  );
  t.after(() => (globalThis.setTimeout = later));
  const { asked } = await visit('overview', '/?view=table&status=paused', {}, [
    ['/api/runs/?', { ...page, results, count: 20, by_status: { paused: 20 }, by_scheduler: {} }],
    ...results.flatMap(({ id }) => [
      [`/api/runs/${id}/now/`, { sim_ms: 1000, jobs: { running: id, completed: 1 } }],
      [`/api/runs/${id}/situation/`, () => recorded(`/api/runs/${known}/situation/`)],
    ]),
  ]);
  const shown = () => $$('#runs tbody tr').filter((row) => /^3[01]\d$/.test(row.children[7].textContent)).length;
  await until(() => (ticks.splice(0).forEach((action) => action()), shown() === 20), 'every row has its metrics');
  const times = results.map(({ id }) => asked.filter(([, path]) => path === `/api/runs/${id}/now/`).length);
  assert.ok(Math.max(...times) - Math.min(...times) <= 1, 'each run is requested in its turn');
});

test('a new run is listed also with a filter', needsPage, async () => {
  const page = await recorded('/api/runs/?size=50').json();
  const run = { ...page.results.at(-1), status: 'running' };
  let results = [run];
  const answer = () => ({ ...page, results, count: results.length, by_status: {}, by_scheduler: {} });
  await visit('overview', '/?status=running', {}, [['/api/runs/?status=running', answer]]);
  await until(() => $$('.run-card').length === 1, 'one run is listed');
  results = [{ ...run, id: 901 }, run];
  sockets.at(-1).hear({ type: 'status', id: 901, status: 'running' });
  await until(() => $$('.run-card').length === 2, 'the new one follows');
});

test('the table is sorted by all runs, not only by those listed so far', needsPage, async () => {
  const page = await recorded('/api/runs/?size=50').json();
  const all = Array.from({ length: 60 }, (_, i) => ({ ...page.results[0], scenario_name: `s${i}`, job_count: i }));
  const answer = (_, path) => ({
    ...page,
    results: all.slice(0, Number(new URL(path, 'http://x').searchParams.get('size'))),
    count: all.length,
    by_status: { finished: 60 },
    by_scheduler: {},
  });
  await visit('overview', '/?view=table', {}, [['/api/runs/?', answer]]);
  await until(() => $$('#runs tbody tr').length === 24, 'the newest are listed');
  const head = () => $$('#runs thead button').find((button) => /^Jobs/.test(button.textContent));
  head().click();
  await until(() => $$('#runs tbody tr').length === 60, 'the others are listed too');
  head().click();
  await until(() => / s59$/.test(text('#runs tbody tr a')), 'the run with most jobs is the first');
  assert.equal($('#runs-more').hidden, true);
});

test('a live cluster that is not followed is not called running', needsPage, async (t) => {
  const message = 'Following is paused; this time is recorded as a gap.';
  let following = { state: 'following', message: '', event_ms: null };
  const waits = { job: 2, id: 'j2', since_ms: 3_600_000, start_ms: null, forecast_ms: 7_320_000, sentence: '' };
  const never = { ...waits, job: 3, id: 'j3', forecast_ms: null, never: 'It is held.', sentence: 'Waiting.' };
  const answer = async (run) => ({
    ...(await recorded(`/api/runs/${run.id}/situation/`).json()),
    sim_ms: 7_200_000,
    next: [
      { at_ms: 7_260_000, kind: 'forecast', job: 1, id: 'j1' },
      { at_ms: 7_320_000, kind: 'forecast_finish', job: 4, id: 'j4' },
    ],
    queue: { total: 2, curve: { waiting: [], rejected: [] }, oldest: [waits, never] },
    following,
  });
  const { tick } = await withOneRun(t, answer, 'mirror');
  await until(() => text('#present-state') === 'following', 'its condition is shown');
  assert.equal($('#present-following').hidden, true);
  assert.equal(text('#present-clock'), 'last poll at 2026-01-01 12:15 UTC', 'not the time since its log began');
  assert.match(text('#present-next'), /^j1 starts at about 2026-01-01 12:16 UTC, in 1m/);
  assert.match(text('#present-next li + li'), /^j4 finishes at about 2026-01-01 12:17 UTC, in 2m/);
  assert.match(text('#present-waiting'), /^j2 since 2026-01-01 11:15 UTC, starts at about 2026-01-01 12:17 UTC/);
  assert.match(text('#present-waiting li + li'), /, no start in the forecastWaiting\. It is held\.$/);
  assert.match(text('.run-card .by'), /mirrored · 2026-01-\d\d\s\d\d:\d\d\sUTC · /);
  following = { state: 'paused', message };
  tick();
  await until(() => text('#present-state') === 'paused', 'it is paused');
  assert.equal(text('#present-following'), message);
});

test('the current state that the session may not see any more is not requested again', needsPage, async (t) => {
  let refused = 0;
  const { window, tick } = await withOneRun(t, () => (refused++, refusal(403, 'Nobody is logged in here.')));
  await until(() => /^Not loaded: current state of run \d+\. Nobody/.test(text('#failing-parts')), 'it is reported');
  for (let i = 0; i < 5; i++) tick();
  assert.equal(refused, 1);
  document.dispatchEvent(new window.Event('visibilitychange'));
  window.dispatchEvent(new window.Event('visibilitychange'));
  await until(() => refused === 2, 'the user may have logged in in another tab');
});

test(
  'a current state that cannot be loaded is named, and old metrics are marked, until it has been loaded',
  needsPage,
  async (t) => {
    let answers = () => refusal(500, 'The log cannot be read.');
    const { run, tick } = await withOneRun(t, (one) => answers(one));
    const earlier = /Nobody is logged in here/; // the pages of a test share their modules
    const said = () =>
      $$('#failing-parts p')
        .map((line) => line.textContent)
        .filter((line) => !earlier.test(line))
        .join();
    const section = $('#present');
    await until(
      () => said() === `Not loaded: current state of run ${run.id}. The log cannot be read.`,
      'it is reported',
    );
    assert.equal(section.dataset.metrics, 'absent', 'the headings without content are hidden');
    answers = ({ id }) => recorded(`/api/runs/${id}/situation/`);
    tick();
    await until(() => !said() && section.dataset.metrics === '', 'the metrics are shown');
    answers = () => refusal(503, 'The database is locked.');
    tick();
    const time = String.raw`\d\d:\d\d:\d\d UTC`;
    const old = new RegExp(`^Not up to date: current state of run ${run.id} .as of ${time}.. The database is locked.$`);
    await until(() => old.test(said()), 'the time of the metrics is stated');
    assert.equal(section.dataset.metrics, 'old');
    assert.ok($$('#present-metrics .tile').length > 5, 'they are still there');
    answers = ({ id }) => recorded(`/api/runs/${id}/situation/`);
    tick();
    await until(() => !said() && section.dataset.metrics === '', 'they are current again');
  },
);

test('a run that has just ended is shown without the previous metrics', needsPage, async () => {
  const page = await recorded('/api/runs/?size=50').json();
  const run = { ...page.results.at(-1), status: 'running', metrics: null };
  const jobs = { queued: 0, planned: 0, running: 1, suspended: 0, completed: 2, rejected: 0 };
  const now = { sim_ms: 1, jobs, utility: 3, sites: [] };
  await visit('overview', '/?view=table', {}, [
    ['/api/runs/?', { ...page, results: [run], count: 1, by_status: { running: 1, finished: 0 }, by_scheduler: {} }],
    [`/api/runs/${run.id}/now/`, now],
  ]);
  const cell = (name) => $(`#runs td[data-label="${name}"]`)?.textContent;
  await until(() => cell('Running') === '1', 'its metrics are shown');
  sockets.at(-1).hear({ type: 'status', id: run.id, status: 'finished', sim_ms: 2, metrics: { completed: 3 } });
  assert.deepEqual([cell('Running'), cell('Completed jobs')], ['–', '3']);
});

test(
  'the overview shows runs as cards with their pictures, forks below their parents, and filters',
  needsPage,
  async () => {
    const page = await recorded('/api/runs/?size=50').json();
    const [parent, other] = page.results;
    const name = `${parent.scenario_name}, cut of run 1`;
    const cut = { parent: parent.id, scenario_name: name, began_at: '2026-01-01T10:15:42Z', sim_ms: 7_200_000 };
    const fork = { ...parent, id: 900, ...cut };
    const { window, asked } = await visit('overview', '/', {}, [
      ['/api/runs/?scheduler=drf', { ...page, results: [], count: 0 }],
      ['/api/runs/?', { ...page, results: [fork, parent, other], count: 3 }],
    ]);
    await until(() => $$('.run-card').length === 3, 'three cards are shown');
    assert.equal($$('.run-cards > .family').length, 2);
    assert.equal(text('.forks h3'), '900 · Cut of run 1');
    assert.match(text('.forks .by'), / · 2026-01-01\s12:15\sUTC · /, 'a cut has the times of the cluster');
    assert.match(text('.run-metrics'), /Completed/);
    assert.equal($$('[data-compare]').length, 3);
    $('[data-view=table]').click();
    await until(() => $$('#runs tbody tr').length === 3 && !$('.run-card'), 'the table takes their place');
    assert.equal(location.search, '?view=table');
    assert.match(text('#runs tbody'), /2026-01-01 12:15 UTC/);
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

test('the current state may be that of an active run that is no longer among the newest runs', needsPage, async (t) => {
  const page = await recorded('/api/runs/?size=50').json();
  const finished = { ...page.results[0], status: 'finished' };
  const old = { ...page.results.at(-1), id: 700, status: 'running', scenario_name: 'old and running' };
  const chosen = { ...page.results.at(-1), id: 600, status: 'finished', scenario_name: 'old and chosen' };
  const answers = [
    ['/api/runs/?status=running', { ...page, results: [old], count: 1 }],
    ['/api/runs/?', { ...page, results: [finished], count: 90, by_status: { running: 1, finished: 89 } }],
    ['/api/runs/600/', chosen],
    ['/api/runs/700/situation/', await recorded(`/api/runs/${finished.id}/situation/`).json()],
    ['/api/runs/600/situation/', await recorded(`/api/runs/${finished.id}/situation/`).json()],
  ];
  await visit('overview', '/', {}, answers);
  await until(() => text('#present-name') === 'old and running', 'it is the present');
  assert.deepEqual($$('#present-run option').length, 2);
  t.after(() => localStorage.removeItem('present-run'));
  localStorage.setItem('present-run', '600');
  await visit('overview', '/', {}, answers);
  localStorage.setItem('present-run', '600');
  sockets.at(-1).hear({ type: 'deleted', id: 5 });
  await until(() => text('#present-name') === 'old and chosen', 'the chosen one is fetched');
});

test(
  'a card that is out of view when its next request is due requests its picture once it is visible',
  needsPage,
  async (t) => {
    const path = `/api/runs/${RUNS.slotted}/thumbnail/`;
    let calls = 0;
    await visit('overview', '/', {}, [[path, (_, asked) => (calls++ ? recorded(asked) : refusal(503, 'Busy.'))]]);
    const { Card } = await import('../../../static/js/home/run-cards.js');
    const page = await recorded('/api/runs/?size=50').json();
    const run = page.results.find(({ id }) => id === RUNS.slotted);
    t.mock.timers.enable({ apis: ['setTimeout'] });
    calls = 0;
    const card = new Card(run, document.createElement('span'), new Map());
    card.show(true);
    await until(() => card.problem, 'the first request failed');
    card.show(true);
    assert.equal(calls, 1, 'the next request waits');
    card.show(false);
    t.mock.timers.tick(10_000);
    assert.equal(calls, 1, 'nothing is requested for a card out of view');
    card.show(true);
    await until(() => calls === 2 && !card.problem, 'it is requested once the card is visible');
  },
);
