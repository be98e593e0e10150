import { test } from 'node:test';
import assert from 'node:assert/strict';

import { needsPage, open, recorded } from '../dom.js';
import { statusText } from '../../../static/js/util/run-modes.js';
import { tableOf } from '../../../static/js/core/metric-table.js';
import { cellsOf, lines, paintThumbnail, passed, said } from '../../../static/js/home/thumbnail.js';
import { families, forkName } from '../../../static/js/home/families.js';
import { cardMetrics, lineOf } from '../../../static/js/home/run-cards.js';
import { attentionItems } from '../../../static/js/home/attention.js';
import { MEANING } from '../../../static/js/core/job-state.js';
import { presentMetrics } from '../../../static/js/home/metrics.js';
import { momentText, presentOf } from '../../../static/js/home/present.js';
import {
  SCARCEST,
  beyondWhole,
  colouredBy,
  layout,
  serverLines,
} from '../../../static/js/charts/servers/server-map.js';

const LOAD = {
  measure: 'resources',
  scale: ['gpu', 'cpu'],
  servers: {
    name: ['a', 'b'],
    site: ['edge', 'cloud'],
    shares: [
      [500, -1],
      [250, 1000],
    ],
    jobs: [1, 2],
    state: [0, 1],
  },
  sites: [
    { site: 'edge', servers: 1, used: [2000, 8000], capacity: [4000, 32000] },
    { site: 'cloud', servers: 1, used: [0, 64000], capacity: [0, 64000] },
  ],
  curve: {
    at_ms: [0, 1],
    shares: [
      [0, 0.5],
      [0, 0.75],
    ],
  },
};
const TABLE = tableOf(await recorded('/api/metrics/').json());
const FOUND = {
  sim_ms: 7_200_000,
  window_ms: 3_600_000,
  jobs: {
    queued: 1,
    planned: 1,
    profiling: 0,
    moving: 1,
    running: 2,
    suspended: 0,
    completed: 3,
    rejected: 2,
    unfinished: 0,
  },
  load: LOAD,
  queue: {
    total: 2,
    oldest: [{ job: 4, id: 'j4', since_ms: 3_600_000 }],
    curve: { waiting: [0, 2], rejected: [0, 2] },
  },
  rejected: { total: 2, recent: 2, reasons: [] },
  utility: null,
  certificate: {},
};

test('the moment of a live cluster is that of its last poll, or of the last event that it has posted', () => {
  const polled = { state: 'following', message: '', event_ms: null };
  assert.equal(momentText(null, '02:00:00'), 'at 02:00:00');
  assert.equal(momentText(polled, '14:20:05 UTC'), 'last poll at 14:20:05 UTC');
  assert.equal(momentText({ ...polled, state: 'starting' }, '14:20:05 UTC'), 'at 14:20:05 UTC');
  const event = Date.UTC(2026, 10, 30, 21, 28, 28);
  assert.equal(
    momentText({ ...polled, event_ms: event }, '21:31:00 UTC', event + 193_000),
    'last event at 2026-11-30 21:28:28 UTC, 3m 13s ago',
  );
});

test('the present is the chosen run, else a live cluster, else an active run, else the newest', () => {
  const runs = [
    { id: 9, mode: 'batch', status: 'finished' },
    { id: 8, mode: 'live', status: 'running' },
    { id: 7, mode: 'mirror', status: 'running' },
  ];
  assert.equal(presentOf(runs, 9).id, 9);
  assert.equal(presentOf(runs, 0).id, 7);
  assert.equal(presentOf(runs.slice(0, 2), 7).id, 8);
  assert.equal(presentOf(runs.slice(0, 1), 0).id, 9);
  assert.equal(presentOf([], 0), undefined);
});

test('metrics have their values, their totals and the end of their curves', () => {
  const by = Object.fromEntries(presentMetrics(FOUND, TABLE).map((metric) => [metric.title, metric]));
  assert.deepEqual([by['GPU allocation'].value, by['GPU allocation'].small], ['50 %', '2 of 4']);
  assert.deepEqual([by.Running.value, by.Waiting.value, by['Longest wait'].value], ['3', '2', '1h']);
  assert.deepEqual([by.Rejected.value, by.Rejected.small], ['2', '20 %']);
  assert.equal(by['Total utility'], undefined);
  assert.equal(by.Suspended, undefined);
  const suspended = presentMetrics({ ...FOUND, jobs: { ...FOUND.jobs, suspended: 3 } }, TABLE);
  const { value, hint } = suspended.find(({ title }) => title === 'Suspended');
  assert.deepEqual([value, hint.toLowerCase()], ['3', MEANING.suspended]);
  assert.equal(by['Proved share of the optimum'], undefined);
  const unavailable = presentMetrics({ ...FOUND, load: { ...LOAD, unavailable_jobs: 2 } }, TABLE)[0];
  assert.equal(unavailable.hint, '2 of 4, without 2 jobs on unavailable servers. Curve: the last 1h of simulated time');
  const proved = presentMetrics({ ...FOUND, utility: 12.34, certificate: { kind: 'lp', ratio: 0.534 } }, TABLE);
  assert.deepEqual(
    proved.slice(-2).map(({ title, value }) => `${title} ${value}`),
    ['Total utility 12.3', 'Proved share of the optimum ≥ 53.4 %'],
  );
  assert.deepEqual(
    proved.slice(-2).map(({ hint }) => hint),
    ['total_utility', 'certificate_ratio'].map((key) => TABLE.get(key).definition),
  );
});

test('a queued run that a worker has is starting', () => {
  assert.equal(statusText({ status: 'queued', activity: null }), 'queued');
  assert.equal(statusText({ status: 'queued', activity: { state: 'waiting' } }), 'queued');
  assert.equal(statusText({ status: 'queued', activity: { state: 'stalled' } }), 'starting');
  assert.equal(statusText({ status: 'running', activity: { state: 'stalled' } }), 'running');
});

test('servers are coloured by one resource or by the most allocated one', () => {
  assert.deepEqual(colouredBy(LOAD, 'gpu'), [500, -1]);
  assert.deepEqual(colouredBy(LOAD, SCARCEST), [500, 1000]);
  assert.deepEqual(serverLines(LOAD, 0), [
    ['a, edge', '1 job'],
    ['GPU', '50.0 %'],
    ['vCPU', '25.0 %'],
  ]);
  assert.deepEqual(serverLines(LOAD, 1), [
    ['b, cloud', 'unavailable'],
    ['vCPU', '100.0 %'],
  ]);
});

test('servers that hold more than their capacity, or without capacity, are told from full ones', () => {
  const shares = [
    [1000, 2500, -1, -1, -1],
    [0, 0, 0, 0, 250],
  ];
  const load = { scale: ['gpu', 'cpu'], servers: { name: [...'abcde'], shares, jobs: [1, 3, 1, 0, 1] } };
  assert.deepEqual(beyondWhole(load, SCARCEST), [false, true, true, false, false]);
  assert.deepEqual(beyondWhole(load, 'gpu'), [false, true, false, false, false]);
  assert.deepEqual(beyondWhole(load, 'cpu'), [false, false, false, false, false]);
});

test('squares of many servers are smaller, and none lies on another', () => {
  const few = layout(['edge', 'edge', 'cloud'], 400);
  assert.deepEqual([few.size, few.heads.length], [18, 2]);
  const removed = layout(['edge', 'edge', 'cloud'], 400, [0, 2]);
  assert.deepEqual(
    [removed.at[1], removed.heads.map(([text]) => text)],
    [undefined, ['Edge, 1 server', 'Cloud, 1 server']],
  );
  const wall = layout(['edge', 'edge', 'cloud'], 400, undefined, { maxSquare: 72, maxHeight: 300 });
  assert.deepEqual([wall.size, few.size], [72, 18], 'the wall has larger squares');
  assert.equal(layout(['edge', 'edge', 'cloud'], 400, undefined, { maxSquare: 72, maxHeight: 160 }).size, 48);
  const many = layout(new Array(4000).fill('edge'), 1200);
  assert.ok(many.size < 10);
  for (const { at } of [few, many]) assert.equal(new Set(at.map(String)).size, at.length);
});

test('what needs attention leads to its page, the unacknowledged first, and the rest to the alerts', needsPage, () => {
  open('/');
  assert.deepEqual(
    attentionItems([]).map((one) => one.textContent),
    ['Nothing in this run needs attention'],
  );
  const alert = { level: 'serious', rule: 'connection', sentence: 'No answer: try `scontrol ping`.', found: true };
  const [item] = attentionItems([alert]);
  assert.deepEqual(
    [item.textContent, item.querySelector('code').textContent],
    ['No answer: try scontrol ping.', 'scontrol ping'],
  );
  const point = (n, more) => ({
    level: 'serious',
    rule: 'server_unavailable',
    sentence: `Server ${n}`,
    address: `/runs/1/servers/${n}/`,
    began_at: '2026-11-23T10:00:00Z',
    acknowledged: false,
    found: true,
    ...more,
  });
  const items = attentionItems([point(0, { acknowledged: true, found: false }), point(1, { address: '' })]);
  assert.deepEqual(
    items.map((one) => [one.className, one.textContent, one.querySelector('a')?.getAttribute('href')]),
    [
      ['serious', 'Server 1', undefined],
      ['serious', 'Server 0, acknowledged, no longer the case', '/runs/1/servers/0/'],
    ],
  );
  assert.equal(items[0].title, 'Alert since 2026-11-23 10:00 UTC');
  const past = [point(0, { found: false }), point(1, { acknowledged: true }), point(2)];
  const order = attentionItems(past).map((one) => one.textContent);
  assert.deepEqual(order, ['Server 2', 'Server 1, acknowledged', 'Server 0, no longer the case']);
  const other = attentionItems([], [point(3, { cluster: 'lab2', address: '/live/lab2/', sentence: 'No answer' })]);
  assert.deepEqual(
    other.map((one) => one.textContent),
    ['Nothing in this run needs attention', 'lab2: No answer'],
  );
  const many = attentionItems(Array.from({ length: 11 }, (_, n) => point(n)));
  assert.equal(many.length, 9);
  assert.deepEqual([many[8].textContent, many[8].querySelector('a').getAttribute('href')], ['3 more', '/alerts/']);
});

const THUMBNAIL = {
  from_ms: 0,
  sim_ms: 3_600_000,
  to_ms: 7_200_000,
  columns: 2,
  rows: [
    { site: 'edge', servers: 4 },
    { site: 'edge', servers: 1 },
    { site: 'cloud', servers: 3 },
  ],
  raster: btoa(String.fromCharCode(0, 50, 100, 255, 1, 1)),
};

test('a thumbnail has a line between sites, a share that has passed, and words', needsPage, () => {
  assert.deepEqual([...cellsOf(THUMBNAIL)], [0, 50, 100, 255, 1, 1]);
  assert.deepEqual(lines(THUMBNAIL.rows), { at: [0, 1, 3], height: 4 });
  assert.equal(passed(THUMBNAIL), 0.5);
  assert.equal(passed({ ...THUMBNAIL, sim_ms: 9_000_000 }), 1);
  assert.equal(
    said(THUMBNAIL),
    'Allocation of 8 servers from 00:00:00 to 01:00:00, planned to 02:00:00; 3 rows of up to 4, columns of 1h',
  );
  const window = open('/');
  const canvas = window.document.createElement('canvas');
  let image = null;
  const context = canvas.getContext('2d');
  context.putImageData = (given) => (image = given);
  canvas.getContext = () => context;
  paintThumbnail(canvas, THUMBNAIL);
  assert.deepEqual([canvas.width, canvas.height], [2, 4]);
  const alpha = Array.from({ length: 8 }, (_, i) => image.data[4 * i + 3]);
  assert.deepEqual(
    alpha.map((value) => (value === 0 ? 'none' : value === 255 ? 'full' : 'pale')),
    ['none', 'pale', 'full', 'none', 'none', 'none', 'full', 'pale'],
  );
});

test('forks stand below their parents in the order of their start, and are named by what they add', () => {
  const run = (id, parent = null, name = 'A') => ({ id, parent, scenario_name: name });
  const found = families([run(5, 3), run(4, 2), run(3, 2), run(2), run(1), run(6, 99)]);
  assert.deepEqual(
    found.map((family) => [family.run.id, family.forks.map(({ run: { id }, depth }) => `${id}/${depth}`)]),
    [
      [2, ['3/1', '5/2', '4/1']],
      [1, []],
      [6, []],
    ],
  );
  assert.equal(forkName(run(3, 2, 'A, fork of run 2 at 20:00:00'), run(2)), 'Fork of run 2 at 20:00:00');
  const utc = '2026-11-24 19:40:05 UTC';
  assert.equal(forkName(run(3, 2, `A, cut of run 2 at ${utc}`), run(2)), `Cut of run 2 at ${utc}`);
  assert.equal(forkName(run(3, 2, 'mine'), run(2)), 'Mine');
  assert.equal(forkName(run(3, 2, 'A'), run(2)), 'A');
});

test('a card has the metrics that are known, and those of the present while the run is active', () => {
  const run = { status: 'finished', sim_ms: 3_600_000, job_count: 4, mode: 'live', created_at: '2026-11-23T10:00:00Z' };
  const schedulers = [{ from_ms: 0, name: 'fifo', title: 'FIFO' }];
  const metrics = { completed: 3, rejected: 1, mean_jct_ms: 7_200_000, utilization: { gpu: 0.5 } };
  assert.deepEqual(cardMetrics({ ...run, metrics }, null, TABLE), [
    ['Completed', '3 of 4'],
    ['Rejected', '1'],
    ['Mean JCT', '2h'],
    ['GPU allocation', '50 %'],
  ]);
  const now = { sim_ms: 60_000, jobs: { running: 1, moving: 1, completed: 0, rejected: 2 }, utility: 5 };
  assert.deepEqual(cardMetrics({ ...run, status: 'running', metrics: {} }, now, TABLE), [
    ['Running', '2'],
    ['Completed', '0 of 4'],
    ['Rejected', '2'],
    ['Total utility', '5'],
  ]);
  assert.deepEqual(cardMetrics({ ...run, metrics, mode: 'mirror' }, null, TABLE)[0], ['Ended', '3 of 4']);
  const early = { ...metrics, jobs: 4, completed: 1 };
  assert.deepEqual(
    cardMetrics({ ...run, metrics: early }, null, TABLE)[2],
    ['Unfinished', '2'],
    'completed, rejected and unfinished jobs add up to all jobs',
  );
  assert.equal(lineOf({ ...run, schedulers }), 'FIFO · live · 01:00:00 · 2026-11-23 10:00 UTC');
  const later = [...schedulers, { from_ms: 7_200_000, name: 'drf', title: 'DRF' }];
  assert.equal(
    lineOf({ ...run, schedulers: later, mode: 'batch', began_at: '2026-01-01T10:15:42Z' }),
    'FIFO → DRF at 2026-01-01 12:15 UTC · batch · 2026-01-01\u00a011:15\u00a0UTC · 2026-11-23 10:00 UTC',
    'a cut of a live cluster',
  );
  assert.equal(lineOf({ ...run, schedulers, status: 'running' }, now, false), 'FIFO · 00:01:00 · 2026-11-23 10:00 UTC');
});
