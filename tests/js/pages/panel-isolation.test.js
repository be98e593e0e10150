// Panels of the scenario page and of the server page that fail: each says so in its place, and the others are shown.

import assert from 'node:assert/strict';
import test from 'node:test';

import { RUNS, needsPage, recorded, until } from '../dom.js';
import { $, $$, broken, failures, text, visit } from '../visit.js';

/** Whether an error with this text was sent to the log. */
const logged = (asked, pattern) =>
  asked.some(([, path, body]) => path === '/api/client-errors/' && pattern.test(body.message));

test(
  'a scenario whose strip of edits and servers fail still has its edits, its form and its runs',
  needsPage,
  async () => {
    const edits = (body) => {
      broken('#strip');
      return {
        rows: body.edits.map(({ verb }) => ({ sentence: verb, effect: {}, error: '', off: false })),
        error: '',
        effect: {},
        servers: {},
        sites: null, // the servers that edits add
      };
    };
    const scenario = await recorded('/api/scenarios/1/').json();
    const { asked } = await visit('scenario', '/scenarios/1/', { 'scenario.pk': '1' }, [
      ['/api/scenarios/1/edits/', edits],
      ['/api/scenarios/1/', { ...scenario, edits: [{ verb: 'scale_arrivals', factor: 2, at_ms: 3_600_000 }] }],
      ['/api/runs/', { results: [] }],
    ]);
    await until(() => failures().length === 2, 'two panels have failed');
    assert.equal(failures()[0], '#strip is broken');
    assert.ok($('#servers').closest('section').hasAttribute('data-broken'));
    assert.ok(!$('#edits').closest('section').hasAttribute('data-broken'), 'the card of the strip goes on');
    await until(() => $$('#edits li').length === 1 && $('#e-at'), 'edits and form are there');
    await until(() => $('#runs .empty'), 'so are the runs');
    assert.equal($('#failed').hidden, true);
    assert.deepEqual([$('#run').disabled, text('#run')], [false, 'Run']);
    assert.ok(logged(asked, /#strip is broken/), 'the log has it');
  },
);

test('a scenario whose form of edits fails can still be run with the edits that it has', needsPage, async () => {
  const scenario = await recorded('/api/scenarios/1/').json();
  const { window, asked } = await visit('scenario', '/scenarios/1/', { 'scenario.pk': '1' }, [
    [
      '/api/scenarios/1/edits/',
      { rows: [{ sentence: 'x', effect: {}, error: '', off: false }], error: '', effect: {}, servers: {}, sites: {} },
    ],
    [
      '/api/scenarios/1/',
      () => {
        broken('#add');
        return { ...scenario, edits: [{ verb: 'scale_arrivals', factor: 2, at_ms: 3_600_000 }] };
      },
    ],
    ['/api/runs/', { results: [] }],
  ]);
  await until(
    () => failures().length === 1 && $$('#edits li').length === 1,
    'the form has failed, the edits are there',
  );
  window.dispatchEvent(new window.Event('beforeunload', { cancelable: true }));
  $('#run').click();
  await until(() => asked.some(([method, path]) => method === 'POST' && path === '/api/runs/'), 'the run is requested');
  assert.deepEqual(failures(), ['#add is broken']);
});

test(
  'a server whose tiles and jobs fail still has its charts, and prices that fail leave the others',
  needsPage,
  async () => {
    const id = String(RUNS.slotted);
    const names = { 'run.pk': id, index: '0', 'server.name': 's', 'run.scenario.name': 'a' };
    const info = await recorded(`/api/runs/${id}/static/`).json();
    const { asked } = await visit('server', `/runs/${id}/servers/0/`, names, [
      [
        `/api/runs/${id}/static/`,
        () => {
          for (const selector of ['#tiles', '#jobs']) broken(selector);
          return { ...info, phases: info.phases.map((phase) => ({ ...phase, quotes: true })) };
        },
      ],
      [`/api/runs/${id}/prices/0/`, { price: null }],
    ]);
    await until(() => failures().length >= 3, 'three panels have failed');
    assert.ok($('#tiles').hasAttribute('data-broken') && $('#panel-jobs').hasAttribute('data-broken'));
    assert.ok($('#panel-prices').hasAttribute('data-broken'), failures().join('; '));
    assert.equal($('#panel-prices').hidden, false, 'it says so');
    assert.ok($$('#resources section').length > 0);
    assert.deepEqual($$('#resources [data-broken]'), []);
    assert.match(text('#resources header .muted'), /dashed line: capacity/);
    assert.equal($('#notice').hidden, true, 'the page itself has not failed');
    assert.equal($('#loading'), null);
    assert.ok(logged(asked, /#tiles is broken/) && logged(asked, /#jobs is broken/), 'the log has them');
  },
);
