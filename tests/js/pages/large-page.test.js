// The page of a large run: it follows the state of the run, operators control it, and no bars are loaded for that.

import assert from 'node:assert/strict';
import test from 'node:test';

import { needsPage, openPage, serve, sockets, until } from '../dom.js';
import { $, text } from '../visit.js';

const LEVELS = {
  ready: true,
  seq: 20,
  last_seq: 22,
  sim_ms: 90_000,
  first_ms: 0,
  last_ms: 90_000,
  source: 'stored',
  measure: 'resources',
  scale: ['gpu', 'memory'],
  rows: [{ site: 'edge', servers: 4 }],
  edges: [0, 45_000, 90_000],
  raster: btoa('\x0a\x14'),
  counted: btoa('\x00\x01'),
  curves: { arrived: [1, 1], completed: [0, 1], rejected: [0, 0] },
  total_bars: 9,
  total_jobs: 2,
  jobs: { running: 1, completed: 1 },
  bars: null,
  job_columns: [],
  phases: [{ model: 'slotted' }],
};
const of = (status, more = {}) => ({
  id: 7,
  status,
  wanted: 'running',
  mode: 'batch',
  message: '',
  activity: null,
  last_seq: 22,
  sim_ms: 90_000,
  end_ms: null,
  metrics: {},
  ...more,
});
let visits = 0;

/** The page while the server answers with this status of the run, and what it asked for. */
async function visit(status) {
  const window = openPage('/runs/7/', 'run_large.html', { 'run.pk': '7', 'run.scenario.name': 'large' });
  const { prototype } = window.HTMLDialogElement;
  Object.assign(prototype, { showModal: prototype.show });
  const asked = serve([
    ['/api/runs/7/levels/', LEVELS],
    ['/api/runs/7/jobs/', { rows: [], page: 1, count: 0, total: 0 }],
    ['/api/runs/7/forks/', []],
    ['/api/runs/7/pause/', of('running', { wanted: 'paused' })],
    ['/api/runs/7/cancel/', of('cancelled')],
    ['/api/runs/7/', status],
    ['/api/client-errors/', {}],
  ]);
  sockets.length = 0;
  await import(`../../../static/js/run/large/page.js?${visits++}`);
  await until(() => $('#controls button') && text('#tiles'), 'the run is shown');
  const hear = (message) => sockets[0].hear(message);
  const posts = () => asked.filter(([method]) => method !== 'GET').map(([method, path]) => `${method} ${path}`);
  return { asked, hear, posts };
}

test('the state of a large run and the reason why it waits are followed, without its bars', needsPage, async () => {
  const waiting = { state: 'stalled', text: 'no event for 40 s: its worker is computing one decision', seconds: 40 };
  const { asked, hear } = await visit(of('running', { activity: waiting }));
  assert.equal(text('#status'), 'running');
  assert.equal(text('#notice'), waiting.text);
  assert.ok($('#notice').classList.contains('bad'));
  assert.equal(text('#events'), '22 events');
  assert.match(text('#covered'), /include the first 20 events; the page is updated when/);
  assert.equal(text('#connection'), 'connecting');
  hear({ type: 'run', run: of('paused', { wanted: 'paused' }) });
  assert.equal(text('#status'), 'paused');
  assert.equal($('#status').dataset.state, 'paused');
  assert.ok($('#notice').hidden);
  assert.ok($('#run-resume'));
  assert.deepEqual(
    sockets.map(({ address }) => new URL(address).pathname),
    ['/ws/overview/'],
  );
  assert.ok(asked.every(([, path]) => !/snapshot|static/.test(path)));
});

test('operators pause, cancel and delete a large run', needsPage, async () => {
  const { hear, posts } = await visit(of('running'));
  $('#run-pause').click();
  await until(() => posts().length === 1, 'the pause is asked for');
  $('#run-cancel').click();
  await until(() => $('dialog[open]'), 'the dialog asks');
  assert.match(text('dialog[open]'), /Cancel this run\? It cannot be resumed; its log is kept\./);
  $('dialog[open] .danger').click();
  await until(() => posts().length === 2, 'the run is cancelled');
  assert.deepEqual(posts(), ['POST /api/runs/7/pause/', 'POST /api/runs/7/cancel/']);
  hear({ type: 'run', run: of('cancelled') });
  $('#run-delete').click();
  await until(() => $('dialog[open]'), 'the dialog asks');
  assert.match(text('dialog[open]'), /Delete run 7, “large”\? Its log of 22 events will be deleted permanently/);
});

test(
  'a large run that is deleted while its page is open is shown as deleted, without controls',
  needsPage,
  async () => {
    const { hear } = await visit(of('finished'));
    assert.ok($('#run-delete'));
    hear({ type: 'deleted', id: 7, message: 'Run 7 (large) was deleted by ann.' });
    assert.equal(
      text('#notice'),
      'Run 7 (large) was deleted by ann. This page shows the data that it had already loaded.',
    );
    assert.equal(text('#status'), 'deleted');
    assert.equal(text('#connection'), 'deleted');
    assert.ok($('#controls').hidden && $('#exports').hidden);
    assert.match(text('#covered'), /include the first 20 events\.$/);
    assert.match(text('#tiles'), /Jobs2/);
  },
);
