// Requests that a page makes when it is opened, and that fail: the page shows the server's sentence and repeats them.

import assert from 'node:assert/strict';
import test from 'node:test';

import { RUNS, needsPage, open, openPage, recorded, serve, serveRecorded, until } from '../dom.js';
import { $$, refusal, toldFailure } from '../visit.js';

const run = (name) => ({ 'run.pk': String(RUNS[name]), 'run.status': 'finished', 'run.scenario.name': name });

/** [template, script, address, variables of the template] of each page. */
const PAGES = [
  ['overview', 'pages/overview', '/', {}],
  ['wall', 'home/wall', '/wall/', {}],
  ['run', 'pages/run', `/runs/${RUNS.slotted}/`, run('slotted')],
  ['run', 'pages/run', `/runs/${RUNS.slotted}/?colour=payoff&job=0&t=7200000`, run('slotted')],
  ['run', 'pages/run', `/runs/${RUNS.typed}/`, run('typed')],
  ['run', 'pages/run', `/runs/${RUNS.groups}/`, run('groups')],
  ['server', 'pages/server', `/runs/${RUNS.slotted}/servers/0/`, { ...run('slotted'), index: '0' }],
  ['scenarios', 'pages/scenarios', '/scenarios/', {}],
  ['sweeps', 'pages/sweeps', '/sweeps/', {}],
  ['sweep', 'pages/sweep', `/sweeps/${RUNS.sweep}/`, { 'sweep.pk': String(RUNS.sweep) }],
  ['traces', 'pages/traces', '/traces/', {}],
  ['clusters', 'pages/clusters', '/clusters/?cluster=1', {}],
  ['compare', 'pages/compare', `/compare/?runs=${RUNS.slotted},${RUNS.other}`, {}],
  ['audit', 'pages/audit', '/audit/', {}],
  ['alerts', 'alerts/page', '/alerts/', {}],
];
let visits = 0;

async function visit([template, script, address, names], first = []) {
  openPage(address, `${template}.html`, names);
  const asked = serveRecorded(first);
  await import(`../../../static/js/${script}.js?failing${visits++}`);
  return asked;
}

/** The requests for data of a page, once it makes no more. */
async function requestsOf(page) {
  const asked = await visit(page);
  let [seen, calm] = [0, 0];
  await until(() => {
    calm = asked.length === seen ? calm + 1 : 0;
    seen = asked.length;
    return seen > 0 && calm > 80;
  }, 'the page is loaded');
  return [...new Set(asked.filter(([method]) => method === 'GET').map(([, path]) => path))];
}

const shows = (sentence) =>
  $$('body *').some((one) => one.textContent.includes(sentence) && !one.closest('[hidden]') && !one.children.length);

for (const page of PAGES) {
  test(`${page[2]}: a failed request is reported`, needsPage, async () => {
    const silent = [];
    for (const path of await requestsOf(page)) {
      const sentence = `Failure ${visits} on purpose.`;
      const asked = await visit(page, [[path, () => refusal(500, sentence)]]);
      const cached = () => asked.every(([, one]) => one !== path); // by a module that the pages of a test share
      await until(() => shows(sentence)).catch(() => cached() || silent.push(path));
    }
    assert.deepEqual(silent, []);
  });
}

for (const page of PAGES) {
  test(`${page[2]}: every request that fails once is made again`, needsPage, async (t) => {
    const abandoned = [];
    for (const path of (await requestsOf(page)).filter(recorded)) {
      const sentence = `Failure ${visits}, only once.`;
      let calls = 0;
      t.mock.timers.enable({ apis: ['setTimeout'] });
      await visit(page, [[path, (_, asked) => (calls++ ? recorded(asked) : refusal(503, sentence))]]);
      const passes = (condition) => until(() => (t.mock.timers.tick(100), condition()));
      // no request if a module that the pages share has already made it
      await passes(() => shows(sentence) || calls > 1).catch(() => {});
      if (calls) await passes(() => calls > 1 && !shows(sentence)).catch(() => abandoned.push(path));
      t.mock.timers.reset();
    }
    assert.deepEqual(abandoned, []);
  });
}

test('a first request that fails is repeated until it succeeds', needsPage, async (t) => {
  for (const [name, path, row] of [
    ['clusters', '/api/clusters/?', '#list tbody tr'],
    ['scenarios', '/api/scenarios/?size', '#list tbody tr'],
    ['sweeps', '/api/sweeps/', '#list tbody tr'],
    ['sweeps', '/api/edits/', '#s-scenario'],
    ['traces', '/api/traces/?', '#list tbody tr'],
    ['compare', '/api/compare/?', '[data-metric]'],
    ['alerts', '/api/alert-rules/', '#rules-list tbody tr'],
    ['run', `/api/runs/${RUNS.slotted}/jobs/?`, '#jobs tbody tr'],
    ['compare', '/api/compare/kinds/', '#kinds [data-kind]'],
    ['compare', '/api/compare/jobs/', '#differences tbody tr'],
    ['compare', `/api/runs/${RUNS.other}/static/`, `[data-run="${RUNS.other}"] canvas`],
  ]) {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const sentence = `Failure of ${path} on purpose.`;
    let down = true;
    const page = PAGES.find(([template]) => template === name);
    await visit(page, [[path, (_, asked) => (down ? refusal(503, sentence) : recorded(asked))]]);
    const passes = (ms, condition, what) => until(() => (t.mock.timers.tick(ms), condition()), what);
    await passes(10, () => shows(sentence), `${name}: the failure is shown`);
    assert.ok(!$$('#list > p').some((one) => /Loading/.test(one.textContent)), `${name}: nothing says “Loading”`);
    down = false;
    await passes(100, () => $$(row).length, `${name}: it is loaded`);
    await passes(10, () => !shows(sentence), `${name}: nothing is reported`);
    t.mock.timers.reset();
  }
});

test('where a list is refused, nothing says “Loading” beside the reason', needsPage, async () => {
  for (const [name, path] of [
    ['clusters', '/api/clusters/?'],
    ['traces', '/api/traces/?'],
    ['alerts', '/api/alerts/?'],
  ]) {
    const sentence = `Refusal of ${name} on purpose.`;
    const page = PAGES.find(([template]) => template === name);
    await visit(page, [[path, () => refusal(403, sentence)]]);
    await until(() => shows(sentence), `${name}: the reason is shown`);
    assert.ok(!$$('#list > p, #open > p').some((one) => /Loading/.test(one.textContent)), name);
  }
});

test(
  'every page: a failed check of the twin is reported; one that finds a fault has not failed',
  needsPage,
  async () => {
    const body = '<span id="content"></span><button id="theme"></button><div id="health" hidden></div>';
    const part = 'Not loaded: state of the twin and open alerts.';
    const login = Object.defineProperty(new Response('a page'), 'redirected', { value: true });
    for (const [answer, told] of [
      [refusal(500, 'broken'), `${part} The server answered with status 500.`],
      [login, `${part} The session has ended; log in again.`],
      [new Response(JSON.stringify({ broker: false }), { status: 503 }), ''],
    ]) {
      open('/', body);
      serve([['/healthz/shared', answer]]);
      await import(`../../../static/js/pages/common.js?failing${visits++}`);
      if (told) await until(() => toldFailure(new RegExp(told)), 'it is reported');
      else await until(() => /broker does not respond/.test(document.body.textContent), 'the fault is shown');
    }
  },
);

test('alerts: the error of a failed acknowledgement stays until an acknowledgement succeeds', needsPage, async () => {
  const alert = {
    id: 7,
    rule: 'drift',
    title: 'Drift',
    level: 'serious',
    target: 'run 1',
    subject: '',
    sentence: 'It drifts',
    address: '/runs/1/',
    began_at: '2026-01-01T00:00:00Z',
    acknowledged_at: null,
  };
  const asked = await visit(
    ['alerts', 'alerts/page', '/alerts/', {}],
    [
      ['/api/alerts/7/acknowledge/', () => refusal(503, 'The database is locked.')],
      ['/api/alerts/?state=open', { count: 1, results: [alert] }],
    ],
  );
  const polls = () => asked.filter(([, path]) => path.startsWith('/api/alerts/?state=open')).length;
  const button = await until(() => $$('#open button').find((one) => one.textContent === 'Acknowledge'), 'it is listed');
  const before = polls();
  button.click();
  await until(() => polls() > before, 'the list is requested again');
  let turns = 0;
  await until(() => turns++ > 5, 'its answer is shown');
  assert.ok(shows('The database is locked.'));
});
