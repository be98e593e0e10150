// Live clusters in words, the form that connects one, and what the Gantt shows of what was not seen.

import { columns } from '../../../static/js/live/connections-table.js';
import assert from 'node:assert/strict';
import test from 'node:test';

import { needsPage, openPage, serve, until } from '../dom.js';
import {
  ageText,
  auditText,
  bySite,
  costText,
  countsText,
  curlExample,
  eventText,
  isOld,
  lagText,
  notUpText,
  offsetText,
  remedyParts,
} from '../../../static/js/live/condition.js';
import { UnseenTimes } from '../../../static/js/core/ranges/unseen-times.js';
import { NowLine, Reservations, Unseen } from '../../../static/js/gantt/layers/observation.js';

const condition = (changes = {}) => ({
  state: 'following',
  since: null,
  message: '',
  age_ms: 1200,
  stale_after_ms: 17_000,
  event_ms: null,
  polled_ago_ms: 1200,
  seen_ms: 1_000_000,
  clock_offset_ms: 40,
  lag: {},
  cost: {},
  counts: {},
  not_up: { total: 0, nodes: [] },
  audit: {},
  ...changes,
});

test('the age is shown in whole seconds and is old after three intervals, or while the cluster does not answer', () => {
  assert.equal(ageText(condition(), 0), 'data 1 s old');
  assert.equal(ageText(condition(), 900), 'data 2 s old');
  assert.equal(ageText(condition({ age_ms: null }), 0), '');
  assert.equal(isOld(condition(), 15_800), false);
  assert.equal(isOld(condition(), 15_900), true);
  assert.equal(isOld(condition({ state: 'failing' }), 0), true);
});

test('a cluster that posts events has the time of its newest event and the age of its newest contact', () => {
  const event = Date.UTC(2026, 10, 30, 21, 28, 28);
  assert.equal(eventText(condition(), event), '');
  const pushed = condition({ event_ms: event, age_ms: 4000 });
  assert.equal(eventText(pushed, event + 193_000), 'last event at 2026-11-30 21:28:28 UTC, 3m 13s ago');
  assert.equal(eventText(pushed, event - 500), 'last event at 2026-11-30 21:28:28 UTC, 1 s ago');
  assert.equal(ageText(pushed, 1000), 'last contact 5 s ago');
});

test('nodes that are not up are named with their states and reasons', () => {
  assert.equal(notUpText(condition()), '');
  const nodes = [
    { name: 'edge6', state: 'draining', reason: 'fan 3 replaced' },
    { name: 'n7', state: 'down', reason: '' },
  ];
  assert.equal(
    notUpText(condition({ not_up: { total: 5, nodes } })),
    'Nodes not up: edge6, draining (fan 3 replaced); n7, down; and 3 more.',
  );
});

test('an audit is shown with its count, its total and its time, and a failed one with the reason', () => {
  assert.equal(auditText(condition()), '');
  const audit = { checked_at: 1_795_354_800, compared: 5012, count: 0, differences: [], error: '' };
  assert.match(auditText(condition({ audit })), /^drift audit: 0 differences in 5,012 jobs and nodes, 2026-11-22 /);
  assert.match(auditText(condition({ audit: { ...audit, count: 1 } })), /^drift audit: 1 difference in 5,012/);
  assert.match(
    auditText(condition({ audit: { ...audit, accounted: false } })),
    /in 5,012 jobs and nodes \(the cluster keeps no accounting\), 2026/,
  );
  assert.equal(auditText(condition({ audit: { ...audit, error: 'no answer' } })), 'drift audit failed: no answer');
});

test('lag, cost, counts and clocks are shown where they are known', () => {
  assert.equal(lagText(condition()), '');
  assert.equal(
    lagText(condition({ lag: { p50_ms: 700, p99_ms: 1300, facts: 9 } })),
    'lag 700 ms (median), 1.3 s (99th percentile)',
  );
  const cost = { calls_per_minute: 12, ms_per_call: 25.6, share: 0.0051 };
  assert.equal(costText(condition({ cost })), '12 calls/min, 25.6 ms each, at most 0.51 % of one core');
  assert.equal(costText(condition({ cost: { calls_per_minute: 3 } })), '3 calls/min');
  assert.equal(costText(condition()), '');
  const counts = { nodes: 1, running: 5, waiting: 28, held: 2 };
  assert.equal(countsText(condition({ counts })), '1 node, 5 running, 30 waiting');
  assert.equal(countsText(condition()), '');
  assert.equal(offsetText(condition()), '');
  const ahead = "The clock of the cluster is 3 s ahead of the server's.";
  assert.equal(offsetText(condition({ clock_offset_ms: 3000 })), ahead);
});

test('a remedy is cut into text and commands', () => {
  assert.deepEqual(remedyParts('munge is down: `systemctl restart munge`, then `munge -n`'), [
    { text: 'munge is down: ' },
    { code: 'systemctl restart munge' },
    { text: ', then ' },
    { code: 'munge -n' },
  ]);
  assert.deepEqual(remedyParts('run manage.py connect lab; then test again'), [
    { text: 'run ' },
    { code: 'manage.py connect lab' },
    { text: '; then test again' },
  ]);
  assert.deepEqual(remedyParts('see PrivateData'), [{ text: 'see PrivateData' }]);
});

test('sites add up, and the example posts to the source', () => {
  const nodes = [
    { site: 'edge', gpus: 4, cpus: 8 },
    { site: 'edge', gpus: 4, cpus: 16 },
    { site: 'cloud', gpus: 8, cpus: 64 },
  ];
  assert.deepEqual(bySite(nodes), [
    { site: 'edge', nodes: 2, gpus: 8, cpus: 24 },
    { site: 'cloud', nodes: 1, gpus: 8, cpus: 64 },
  ]);
  const command = curlExample('http://twin', 'lab', '2026-05-04T10:00:00Z');
  assert.match(command, /http:\/\/twin\/api\/ingest\/lab\/events$/);
  const body = JSON.parse(command.match(/--data '(.*)'/)[1]);
  assert.deepEqual([body[0].specversion, body[0].time, body[0].source], ['1.0', '2026-05-04T10:00:00Z', '/lab']);
});

test('what was not seen is found in the tooltip, also while it goes on', () => {
  const times = new UnseenTimes({ gaps: [[1000, 2000, 'slurmctld does not answer']] });
  const layer = new Unseen(times);
  const frame = { at: (x) => ({ t: x }) };
  assert.equal(layer.hit(500, 0, frame), null);
  const text = (x) => layer.describe(layer.hit(x, 0, frame))[0][1];
  assert.equal(text(1500), 'not observed from 00:00:01 to 00:00:02: slurmctld does not answer');
  times.update(5000, 9000, 'Following is paused.');
  assert.equal(text(6000), 'not observed from 00:00:05 to now. Following is paused.');
  times.update(5000, 9000, '');
  assert.equal(layer.hit(6000, 0, frame), null);
  const now = new NowLine();
  const plot = { area: {}, xOf: (ms) => ms };
  assert.equal(now.hit(10, 0, plot), null);
  now.update(12);
  assert.deepEqual(now.hit(10, 0, plot), { now: true });
});

const declared = (name, changes = {}) => ({
  name,
  default: '',
  type: 'str',
  help: 'helps',
  low: null,
  high: null,
  choices: null,
  unit: '',
  optional: false,
  ...changes,
});
const CONNECTORS = {
  connectors: [
    { name: 'push', title: 'Push', summary: 'It posts.', polled: false, parameters: [declared('source')] },
    {
      name: 'slurm',
      title: 'Slurm',
      summary: 'It is read.',
      polled: false,
      parameters: [
        declared('prefix', { title: 'Command prefix' }),
        declared('interval_ms', { title: 'Poll interval', default: 5000, type: 'int', unit: 'ms' }),
      ],
    },
  ],
  sites: [
    declared('edge_by', { default: 'queue', choices: ['queue', 'name', 'label'] }),
    declared('edge_pattern', { default: 'edge.*' }),
  ],
};
const node = (name, site) => ({ name, site, state: 'up', gpus: 4, cpus: 8, queues: ['edge'], labels: {} });
const TRIAL = {
  well: true,
  error: '',
  version: '22.05.8',
  clock_offset_ms: 0,
  findings: [
    { subject: 'version', well: true, message: '22.05.8', remedy: '', needed: true },
    { subject: 'accounting', well: false, message: 'off', remedy: 'try `systemctl status slurmdbd`', needed: false },
  ],
  nodes: [node('edge1', 'edge'), node('cloud1', 'cloud')],
  total_nodes: 2,
  jobs: { running: 1 },
  seconds: 0.4,
};
const $ = (selector) => document.querySelector(selector);
const refusal = (body) =>
  new Response(JSON.stringify({ detail: Object.values(body).flat().join(' '), ...body }), { status: 400 });

test('the form tests, previews the sites, says each problem at its field, and connects', needsPage, async () => {
  const window = openPage('/live/connect/', 'connect.html', {});
  const type = (selector, value, kind = 'input') => {
    $(selector).value = value;
    $(selector).dispatchEvent(new window.Event(kind, { bubbles: true }));
  };
  const asked = serve([
    ['/api/connectors/', CONNECTORS],
    ['/api/connections/test/', TRIAL],
    ['/api/connections/sites/', { sites: ['edge', 'edge'] }],
    ['/api/connections/', refusal({ 'parameters.prefix': ['prefix must not be the command sh'] })],
  ]);
  await import('../../../static/js/pages/connect.js');
  await until(() => $('#c-test'), 'the form is there');
  assert.equal($('#c-connector').value, 'slurm');
  assert.equal($('#c-connector-help').textContent, 'It is read.');
  $('#c-test').click();
  await until(() => $('.preview table'), 'the sites are shown');
  assert.match($('#c-result').textContent, /The cluster can be followed\./);
  assert.equal($('.findings code').textContent, 'systemctl status slurmdbd');
  const counts = () =>
    [...document.querySelectorAll('.preview > table tbody tr')].map(({ children }) => children[1].textContent);
  assert.deepEqual(counts(), ['1', '1']);
  assert.equal($('label[for=p-prefix]').textContent, 'Command prefix');
  assert.equal($('label[for=p-interval_ms]').textContent, 'Poll interval, ms');
  type('#p-edge_pattern', '.*');
  await until(() => counts()[0] === '2', 'the rule is applied again');
  assert.equal(asked.filter(([, path]) => path.endsWith('/test/')).length, 1, 'the cluster is not asked again');
  type('#p-prefix', 'sh -c id');
  assert.equal($('#c-result').textContent, '', 'a result of other settings is not shown');
  $('#c-connect').click();
  await until(() => $('#p-prefix-error').textContent, 'the problem is at its field');
  assert.equal($('#p-prefix-error').textContent, 'prefix must not be the command sh');
  assert.ok($('#p-prefix').hasAttribute('aria-invalid'));
  type('#c-connector', 'push', 'change');
  type('#p-source', 'plant');
  assert.match($('#c-guide').textContent, /api\/ingest\/plant\/events/);
  assert.ok($('#c-guide a[href="/settings/tokens/"]'));
});

test('a reservation is drawn on the rows of its servers, as it was known at the playhead', () => {
  const stated = [0, 1000, 3000, 5000, 9000, 'cooling', [1], true, ''];
  const layer = new Reservations({
    reservations: [stated, [0, 3000, -1, 6000, 9000, 'cooling', [1], true, ''], [1, 3000, -1, 7000, 7000, 'gone', [1]]],
  });
  const frame = (p) => ({ p, at: (x, y) => ({ t: x, row: { kind: 'server', index: y } }) });
  assert.equal(layer.hit(5500, 1, frame(500)), null);
  const text = (x, p) => layer.describe(layer.hit(x, 1, frame(p)));
  assert.deepEqual(text(5500, 2000), [['', 'maintenance cooling from 00:00:05 to 00:00:09']]);
  assert.equal(layer.hit(5500, 1, frame(4000)), null);
  assert.equal(layer.hit(6500, 0, frame(4000)), null, 'another server');
  layer.store.reservations = [[0, 0, -1, 5000, 9000, 'course', [1], false, 'ann,bob']];
  assert.deepEqual(text(7000, 0), [
    ['', 'reservation course from 00:00:05 to 00:00:09'],
    ['for', 'ann,bob'],
  ]);
  assert.equal(layer.hit(7000, 1, { p: 0, at: () => null }), null);
});

test('a cluster without a running job has 0 of them, and before the first poll no number', () => {
  const running = columns(() => 0).find(({ title }) => title === 'Running');
  const cell = (counts) => running.cell({ condition: { counts } });
  assert.deepEqual([cell({ nodes: 2, waiting: 1 }), cell({ nodes: 2, running: 3 }), cell({})], ['0', '3', '–']);
});

test('the state, a line of its own on a card, comes first and leaves no gap before it', () => {
  assert.deepEqual(
    columns(() => 0)
      .slice(0, 3)
      .map(({ title }) => title),
    ['Cluster', 'State', 'Connector'],
  );
});

test('the present of a live cluster stops where the server does not answer', needsPage, async () => {
  const { FollowLine } = await import('../../../static/js/live/follow-line.js');
  const element = document.createElement('div');
  element.dataset.connection = 'lab';
  const line = new FollowLine(element, { runId: 1 });
  assert.equal(line.presentMs(0), null);
  line.connection = { wanted: 'following', condition: condition() };
  line.receivedAt = Date.now() - 3_000;
  assert.equal(line.presentMs(0), 1_004_000, '1.2 s old when it was received, 3 s ago');
  line.receivedAt = Date.now() - 60_000;
  assert.equal(line.presentMs(0), 1_011_000, '10 s later at most');
});
