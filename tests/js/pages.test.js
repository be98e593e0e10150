// The other pages on recorded answers of the API: what they list, what their forms send, and what they say when that
// fails.

import assert from 'node:assert/strict';
import test from 'node:test';

import { RUNS, needsPage, openPage, recorded, serveRecorded, sockets, until } from './dom.js';
import { $, $$, change, refusal, text, visit } from './visit.js';

test(
  'the audit list shows its entries, keeps its filters in the address, and says when nothing matches',
  needsPage,
  async () => {
    const empty = [(path) => /q=nothing/.test(path), { count: 0, results: [], users: [], actions: [] }];
    const { window, asked } = await visit('audit', '/audit/?action=run', {}, []);
    await until(() => $('#list tbody tr'), 'entries are listed');
    assert.match(text('#count'), /entr(y|ies) found, newest first/);
    assert.match(asked[0][1], /action=run/);
    serveRecorded([['/api/audit/?q=nothing', empty[1]]]);
    change(window, '#q', 'nothing', 'input');
    await until(() => /No matching entries/.test(text('#list')), 'nothing matches');
    assert.match(location.search, /q=nothing/);
    serveRecorded([['/api/audit/', refusal(500, 'The database is locked.')]]);
    change(window, '#q', 'more', 'input');
    await until(() => /The database is locked/.test(text('#list')), 'the refusal is shown');
    assert.equal(text('#count'), '', 'the number of entries was that of another answer');
    const before = asked.length;
    change(window, '#until', '2026-01-01');
    change(window, '#since', '2026-02-01');
    const days = '“From” must not be after “To”, got 2026-02-01 and 2026-01-01.';
    await until(() => text('#list') === days, 'the days are refused by their labels');
    assert.ok(
      asked.slice(before).every(([, path]) => !/since=/.test(path)),
      'the API is not asked',
    );
  },
);

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

test('clusters: the list, what one consists of, and its deletion after a question', needsPage, async () => {
  const { asked } = await visit('clusters', '/clusters/', {});
  await until(() => $('#list tbody tr'), 'clusters are listed');
  const name = $('#list tbody .link');
  name.click();
  await until(() => text('#detail-name') && !$('#detail').hidden, 'it is shown');
  assert.ok($$('#detail-kinds tbody tr').length > 0);
  const button = $$('#list tbody button').find((one) => one.textContent === 'Delete');
  button.click();
  (await until(() => $('dialog.confirm'), 'a question is asked')).close('yes');
  await until(() => asked.some(([method]) => method === 'DELETE'), 'it is deleted');
});

test('clusters: Enter once more after a cluster is created says nothing of its empty name', needsPage, async () => {
  const { window, asked } = await visit('clusters', '/clusters/', {});
  const form = await until(() => $('#n-name')?.closest('form'), 'the form is there');
  const enter = () => form.dispatchEvent(new window.Event('submit', { bubbles: true, cancelable: true }));
  change(window, '#n-name', 'mine', 'input');
  enter();
  await until(() => asked.some(([method]) => method === 'POST') && !$('#n-name').value, 'it is created');
  enter();
  assert.equal(
    $$('.error').some((line) => line.textContent === 'Enter a name.'),
    false,
  );
});

test('clusters: a cluster that somebody else deleted is named when it is opened', needsPage, async () => {
  const gone = 'Cluster 1 was deleted by ann.';
  const one = (_, path) => (/clusters\/\d+\/$/.test(path) ? refusal(404, gone) : recorded(path));
  const { asked } = await visit('clusters', '/clusters/', {}, [['/api/clusters/', one]]);
  (await until(() => $('#list tbody .link'), 'clusters are listed')).click();
  await until(() => !$('#list-error').hidden, 'it is said');
  assert.equal(text('#list-error'), gone);
  await until(() => asked.filter(([, path]) => path.includes('size=200')).length === 2, 'the list is read again');
});

for (const [page, refused] of [
  ['scenarios', 'Still used by run 1; delete those first.'],
  ['sweeps', 'sweep 1 has 2 unfinished runs; cancel it before deleting it'],
])
  test(`${page}: a row is deleted after a question, and a refusal is shown above the list`, needsPage, async () => {
    let answer = () => refusal(409, refused);
    const { asked } = await visit(page, `/${page}/`, {}, [
      [`/api/${page}/`, (body, path, method) => (method === 'DELETE' ? answer() : recorded(path))],
    ]);
    const again = async () => {
      (await until(() => $$('#list tbody button').find((one) => one.textContent === 'Delete'), 'a button')).click();
      (await until(() => $('dialog.confirm'), 'a question is asked')).close('yes');
    };
    await again();
    await until(() => text('#list-error') === refused, 'the refusal is shown');
    assert.ok($('#list tbody tr'), 'the list stays');
    const lists = () => asked.filter(([method, path]) => method === 'GET' && path.startsWith(`/api/${page}/?`)).length;
    const shown = lists();
    answer = () => refusal(404, 'There is none; it may have been deleted.');
    await again();
    await until(() => text('#list-error') === 'There is none; it may have been deleted.', 'what happened is shown');
    await until(() => lists() > shown, 'what somebody else has deleted leaves the list');
    const before = asked.length;
    answer = () => new Response(null, { status: 204 });
    await again();
    await until(() => asked.length > before + 1 && !$('#list-error'), 'the list is asked for again');
  });

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
    const line = '80 of 80 jobs lack num_samples, which PD-ORS needs; they would be rejected.';
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
    assert.equal(text('.choice[for=f-scheduler-fifo] .choice-note'), 'Can run 60 of 80 jobs. 20 lack epochs.');
    tick('pd_ors');
    assert.deepEqual([$('#f-scheduler-oasis').checked, text('#start-run')], [false, 'Run PD-ORS']);
    assert.match(text('#f-scheduler-help'), /^PD-ORS cannot race with the others: it differs\./);
    await until(() => !$('#f-warnings').hidden, 'the warning is shown');
    assert.equal(text('#f-warnings'), line);
    assert.match($('#f-horizon').placeholder, /^default: 132 slots/);
    assert.match(text('#f-fit'), /^PD-ORS can run 0 of 80 jobs\./);
    assert.match(text('#f-fit'), /Not in the trace, sampled: Epochs, Chunks \(80 jobs\); Utility \(3 jobs\)\./);
    tick('oasis');
    await until(() => $('#f-warnings').hidden, 'it goes with its cause');
    await until(() => /^OASiS can run all 80 jobs\./.test(text('#f-fit')), 'the scheduler is chosen');
    proposal.cluster = null;
    tick('fifo');
    assert.equal(text('#start-run'), 'Race 2 schedulers');
    $('#f-trace-77').dispatchEvent(new window.Event('change', { bubbles: true }));
    await until(() => !$('#f-cluster :checked'), 'no cluster is chosen where none fits');
    assert.match(text('#f-cluster-help'), /fit on none of the newest clusters/);
  },
);

test('tokens: the form fits the scope that Back has kept', needsPage, async () => {
  const window = openPage('/settings/tokens/', 'tokens.html');
  serveRecorded([['/api/tokens/', { count: 0, results: [] }]]);
  await import(`../../static/js/settings/tokens.js?back`);
  const source = $('#source').closest('.field');
  assert.equal(source.hidden, false);
  $('#scope').value = 'read'; // as a browser restores it: without an event
  window.dispatchEvent(new window.Event('pageshow'));
  assert.equal(source.hidden, true);
});

test('every page: the second click of a double click submits no form', needsPage, async () => {
  const window = openPage('/settings/tokens/', 'tokens.html');
  const { submitOnce } = await import('../../static/js/ui/fields/submit-once.js');
  submitOnce();
  let sent = 0;
  const form = document.createElement('form');
  form.innerHTML = '<button id="send">Send</button><button id="more" type="button">More</button>';
  document.body.append(form);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    sent++;
  });
  const click = (selector, detail) =>
    $(selector).dispatchEvent(new window.MouseEvent('click', { bubbles: true, cancelable: true, detail }));
  click('#send', 1);
  click('#send', 2);
  assert.equal(sent, 1);
  assert.equal(click('#more', 2), true, 'other buttons take every click');
});

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

test('traces: a failure to load the list is shown until the list loads', needsPage, async () => {
  let down = true;
  const list = (_, path) => (down ? refusal(503, 'The database does not answer.') : recorded(path));
  const form = () => new Promise(() => {}); // its answer is not needed here
  await visit('traces', '/traces/', {}, [
    ['/api/traces/', list],
    ['/api/workloads/', form],
  ]);
  await until(() => /does not answer/.test(text('#upload-error')), 'it is shown');
  down = false;
  sockets.at(-1).hear({ type: 'snapshot_needed' });
  await until(() => $$('#list tbody tr').length >= 3, 'traces are listed');
  assert.ok($('#upload-error').hidden);
});

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
});

test('a server of each model: its charts, its jobs, and the one that is pointed at', needsPage, async () => {
  for (const name of ['slotted', 'typed', 'groups', 'handed']) {
    const id = String(RUNS[name]);
    await visit('server', `/runs/${id}/servers/0/`, {
      'run.pk': id,
      index: '0',
      'server.name': 's',
      'run.scenario.name': name,
    });
    await until(
      () => globalThis.twin?.store.finished && $$('#resources section').length > 0,
      `${name}: charts are shown`,
    );
    await until(() => $$('#tiles .tile').length > 0, 'tiles are shown');
    assert.ok($('#notice').hidden, text('#notice'));
    assert.equal($('#stack-jobs') !== null, name === 'groups');
    const table = $('#resources button[id$="-table"]');
    table.click();
    assert.equal(table.getAttribute('aria-pressed'), 'true');
  }
});

test('two runs compared: metrics, differences by kind, and the schedules below each other', needsPage, async () => {
  const both = `${RUNS.slotted},${RUNS.other}`;
  const { window } = await visit('compare', `/compare/?runs=${both}`, {});
  await until(
    () => $$('#figures tbody tr').length > 3 && $('#differences table, #differences .empty'),
    'metrics and differences are shown',
  );
  assert.match(text('#differences-count'), /^1 job differs between run/);
  assert.deepEqual(speeds(), Array(6).fill(null), 'both runs have the same jobs');
  await until(() => $$('#gantts canvas').length === 2, 'both schedules are shown');
  const counts = () => text('#gantts');
  await until(() => /jobs?, \d+ bars?/.test(counts()), 'rows and bars are counted');
  $('#by-servers').click();
  assert.match(counts(), /servers?, \d+ bars?/);
  $('#by-jobs').click();
  change(window, '#row-filter', 'none such', 'input');
  await until(
    () => /No row matches “none such”, \d+ bars?/.test(counts()),
    'the rows that the filter leaves are counted',
  );
  const row = $('#differences tbody tr');
  row.click();
  assert.equal($('#differences tbody tr').getAttribute('aria-selected'), 'true');
  const kind = $$('#kinds button').find((button) => button.dataset.kind && !button.disabled);
  kind.click();
  assert.match(location.search, new RegExp(`kind=${kind.dataset.kind}`));
  change(window, '#differences-q', 'none such', 'input');
});

test('a comparison with a run that goes on is read again while news of it keeps coming', needsPage, async () => {
  const pair = `${RUNS.slotted},${RUNS.other}`;
  const answer = await recorded(`/api/compare/?runs=${pair}`).json();
  answer.runs[1].status = 'running';
  const { asked } = await visit('compare', `/compare/?runs=${pair}`, {}, [[`/api/compare/?runs=${pair}`, answer]]);
  await until(() => !$('#compared').hidden && $('#figures table') && $('#kinds'), 'the comparison is shown');
  const looks = () => asked.filter(([, path]) => path.startsWith('/api/compare/?runs=')).length;
  const line = await until(() => sockets.findLast((socket) => socket.address.includes('overview')), 'it listens');
  const before = looks();
  const news = () => line.hear({ type: 'status', id: RUNS.other, status: 'running', sim_ms: 1 });
  await until(() => (news(), looks() > before), 'it is read again although news keep coming');
});

const SPEEDS = 'The speeds of the jobs are derived from different models: a in run 1; b in run 2.';
const speeds = () => $$('.speeds').map((note) => (note.hidden ? null : note.textContent));

test('a comparison states speeds of different origins beside each chart and table', needsPage, async () => {
  const pair = `${RUNS.slotted},${RUNS.other}`;
  const answer = { ...(await recorded(`/api/compare/?runs=${pair}`).json()), speeds: SPEEDS };
  await visit('compare', `/compare/?runs=${pair}`, {}, [[`/api/compare/?runs=${pair}`, answer]]);
  await until(() => !$('#compared').hidden && $('#figures table'), 'the comparison is shown');
  assert.deepEqual(speeds(), Array(6).fill(SPEEDS));
});

test('a sweep states speeds of different origins beside its chart and its table', needsPage, async () => {
  const path = `/api/sweeps/${RUNS.sweep}/points/`;
  const names = { 'sweep.pk': String(RUNS.sweep), sweep: String(RUNS.sweep) };
  const answer = { ...(await recorded(path).json()), speeds: SPEEDS };
  await visit('sweep', `/sweeps/${RUNS.sweep}/`, names, [[path, answer]]);
  await until(() => $$('#points tbody tr').length === 4, 'its points are listed');
  assert.deepEqual(speeds(), [SPEEDS, SPEEDS]);
});

test('without two runs the compare page lets one choose', needsPage, async () => {
  const { window } = await visit('compare', '/compare/', {});
  await until(() => $$('#choose-list tbody tr').length >= 5, 'runs are listed');
  for (const box of $$('#choose-list input').slice(0, 2)) {
    box.checked = true;
    box.dispatchEvent(new window.Event('change'));
  }
  assert.match(text('#chosen'), /Compare 2 runs/);
});
