// The page of scenarios on recorded answers of the API: its form, and what it warns of.

import assert from 'node:assert/strict';
import test from 'node:test';

import { needsPage, recorded, until } from '../dom.js';
import { $, $$, refusal, text, visit } from '../visit.js';

test('scenarios: the form has the schedulers with their parameters, and starts a run', needsPage, async () => {
  const { asked } = await visit('scenarios', '/scenarios/', {}, [
    ['/api/runs/', (body, path, method) => (method === 'POST' ? { id: 99 } : recorded(path))],
  ]);
  await until(() => $('#list tbody tr') && $('#f-scheduler'), 'list and form are shown');
  await until(() => $$('#parameters .field').length > 0, 'its parameters have fields');
  const run = $$('#list button').find((button) => button.textContent === 'Run');
  run.click();
  await until(() => asked.some(([method, path]) => method === 'POST' && path === '/api/runs/'), 'a run is started');
});

test('scenarios: a run that cannot be started leaves the list, and a second click starts none', needsPage, async () => {
  const posts = [];
  let finish;
  await visit('scenarios', '/scenarios/', {}, [
    [
      '/api/runs/',
      (body, path, method) => {
        if (method !== 'POST') return recorded(path);
        posts.push(body);
        return new Promise((done) => (finish = done));
      },
    ],
  ]);
  const run = await until(() => $$('#list button').find((button) => button.textContent === 'Run'), 'a button');
  run.click();
  run.click();
  await until(() => posts.length, 'a run is asked for');
  assert.equal(posts.length, 1);
  finish(refusal(400, 'The disk is full.'));
  await until(() => text('#list-error') === 'The disk is full.', 'the refusal is shown above the list');
  assert.ok($('#list tbody tr'), 'the list stays');
  assert.equal(run.disabled, false);
});

test(
  'scenarios: the form warns of jobs that would be rejected, and proposes a cluster that fits',
  needsPage,
  async () => {
    const traces = await recorded('/api/traces/?size=500').json();
    const clusters = await recorded('/api/clusters/?size=500').json();
    const strange = { ...traces.results[0], id: 77, name: 'no machines' };
    const line = '80 of 80 jobs lack num_samples, needed by PD-ORS; they would be rejected.';
    const proposal = { cluster: clusters.results.at(-1).id, warnings: [] };
    const suitability = (_, path) =>
      !path.includes('cluster=')
        ? proposal
        : {
            own_horizon: 132,
            warnings: path.includes('scheduler=pd_ors') ? [line] : [],
            fit: {
              jobs: 80,
              runnable: path.includes('scheduler=pd_ors') ? 0 : 80,
              made: { drawn: { epochs: 80, utility: 3, num_chunks: 80 } },
              schedulers: { oasis: 80, fifo: 60, pd_ors: 0 },
              reasons: { fifo: '20 lack epochs.', pd_ors: line },
              race: path.includes('scheduler=pd_ors') ? { oasis: 'it differs' } : { pd_ors: 'it differs' },
              earlier: { oasis: { runs: 3, least_s: 1.24, most_s: 12 } },
            },
          };
    const tick = (name) => $(`#f-scheduler-${name}`).click();
    const { window } = await visit('scenarios', '/scenarios/?trace=77', {}, [
      ['/api/traces/', { ...traces, results: [strange, ...traces.results] }],
      ['/api/scenarios/suitability/', suitability],
    ]);
    await until(() => $(`#f-cluster-${proposal.cluster}`)?.checked, 'the cluster with room is proposed');
    assert.ok($('#f-warnings').hidden);
    await until(() => /Earlier runs/.test(text('#f-time')), 'the time of earlier runs is shown');
    assert.equal(text('#f-time'), 'Earlier runs of about this size took 1.2 s to 12 s with OASiS (3 runs).');
    assert.equal(text('.choice[for=f-scheduler-fifo] .choice-note'), '60 of 80 jobs pass the check. 20 lack epochs.');
    tick('pd_ors');
    assert.deepEqual([$('#f-scheduler-oasis').checked, text('#start-run')], [false, 'Run PD-ORS']);
    assert.match(text('#f-scheduler-help'), /^PD-ORS cannot race with the others: it differs\./);
    await until(() => !$('#f-warnings').hidden, 'the warning is shown');
    assert.equal(text('#f-warnings'), line);
    assert.match($('#f-horizon').placeholder, /^default: 132 slots/);
    assert.match(text('#f-fit'), /^PD-ORS: 0 of 80 jobs pass the check\./);
    assert.match(
      text('#f-fit'),
      /Not in the trace, sampled: Training epochs, Chunks \(80 jobs\); Utility \(3 jobs\)\./,
    );
    tick('oasis');
    await until(() => $('#f-warnings').hidden, 'it goes with its cause');
    await until(() => /^OASiS: all 80 jobs pass the check\./.test(text('#f-fit')), 'the scheduler is chosen');
    proposal.cluster = null;
    tick('fifo');
    assert.equal(text('#start-run'), 'Race 2 schedulers');
    $('#f-trace-77').dispatchEvent(new window.Event('change', { bubbles: true }));
    await until(() => !$('#f-cluster :checked'), 'no cluster is chosen where none fits');
    assert.match(text('#f-cluster-help'), /fit on none of the newest clusters/);
  },
);

test('scenarios: the trace of the address and its cluster are offered although many are newer', needsPage, async () => {
  const traces = await recorded('/api/traces/?size=500').json();
  const clusters = await recorded('/api/clusters/?size=500').json();
  const old = { ...traces.results[0], id: 771, name: 'an old trace' };
  const own = { ...clusters.results[0], id: 772, name: 'its machines', trace: 771 };
  const { asked } = await visit('scenarios', '/scenarios/?trace=771', {}, [
    ['/api/traces/771/card/', { arrivals: [] }],
    ['/api/traces/771/', old],
    ['/api/clusters/?trace=771&', { ...clusters, results: [{ ...own, id: 773 }, own] }],
  ]);
  await until(() => $('#f-cluster-772')?.checked, 'the cluster of the trace is selected');
  assert.ok($('#f-trace-771').checked);
  assert.match(text('.choice[for=f-cluster-772]'), /its machines.*Cluster of this trace/);
  assert.deepEqual(
    asked.filter(([, path]) => path.startsWith('/api/scenarios/suitability/') && !path.includes('cluster=')),
    [],
    'no other cluster is looked for',
  );
});
