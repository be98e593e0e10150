// The table of shadows: groups by execution model, verdicts, what was not computed, and the line of a week.

import assert from 'node:assert/strict';
import test from 'node:test';

import { needsPage, open } from '../dom.js';

const TABLE = new Map(
  [
    ['mean_wait_ms', 'Mean wait', 'ms'],
    ['utilization.gpu', 'GPU allocation', 'share'],
    ['utilization.cpu', 'vCPU allocation', 'share'],
  ].map(([key, title, unit]) => [key, { key, title, unit, definition: '' }]),
);
const cell = (value, delta, verdict) => ({ value, delta, relative: null, verdict, best: false });
const row = (scheduler, training, more) => ({
  scheduler,
  title: scheduler.toUpperCase(),
  training_title: training,
  run: 7,
  status: 'done',
  message: '',
  cells: { mean_wait_ms: cell(240_000, -6000, 'better') },
  ...more,
});
const ROWS = [
  row('fifo', 'Slotted'),
  row('srtf', 'Typed workers'),
  row('dorm', 'Slotted', { status: 'failed', message: 'it took longer than 120 s (SHADOW_LIMIT_S)', cells: {} }),
];

test('rows are grouped by their execution model, with differences and reasons', needsPage, async () => {
  open('/');
  const { shadowTable, byTraining, sparkline } = await import('../../../static/js/live/shadow-table.js');
  assert.deepEqual(
    byTraining(ROWS).map(([title, own]) => [title, own.length]),
    [
      ['Slotted', 2],
      ['Typed workers', 1],
    ],
  );
  const real = { mean_wait_ms: 246_000, 'utilization.gpu': 0.9, 'utilization.cpu': 0.5 };
  const given = { metrics: [...TABLE.keys()], table: TABLE, real, week: {}, mirrored: 3, ranked: true };
  const text = shadowTable({ rows: ROWS }, given).textContent;
  assert.match(text, /Real cluster.*4m 6s.*90\.0 %/);
  assert.match(text, /FIFOopen · compare4m−6 s better/);
  assert.match(text, /took longer than 120 s/);
  assert.doesNotMatch(text, /vCPU/, 'only where the cluster has no GPUs');
  const best = [row('fifo', 'Slotted', { cells: { mean_wait_ms: { ...cell(250_000, 4000, 'worse'), best: true } } })];
  const marked = (ranked) => shadowTable({ rows: best }, { ...given, ranked }).textContent;
  assert.match(marked(true), /best, slotted4m 10s\+4 s worse/, 'the best of the shadows, and worse than the cluster');
  assert.doesNotMatch(marked(false), /best|worse/, 'not in a short window');
  assert.equal(sparkline([[1, 5]], 'FIFO').textContent, '–');
  const line = sparkline(
    [
      [0, -6000],
      [3600, 12_000],
    ],
    'FIFO',
  );
  assert.equal(line.getAttribute('aria-label'), 'FIFO: difference of the mean wait from −6 s to +12 s in 2 sets');
});

test('a best value of most shadows is not marked, and a week without values has no column', needsPage, async () => {
  open('/');
  const { shadowTable } = await import('../../../static/js/live/shadow-table.js');
  const given = { metrics: ['mean_wait_ms'], table: TABLE, real: { mean_wait_ms: 1 }, mirrored: 3, ranked: true };
  const rows = (...best) =>
    best.map((is, i) => row(`s${i}`, 'Slotted', { cells: { mean_wait_ms: { ...cell(1000, 0, 'same'), best: is } } }));
  const marks = (...best) =>
    shadowTable({ rows: rows(...best) }, { ...given, week: {} }).textContent.split('best, slotted').length - 1;
  assert.equal(marks(true, false, false), 1);
  assert.equal(marks(true, true, false, false), 2);
  assert.equal(marks(true, true, false), 0);
  const heads = (week) => shadowTable({ rows: rows(true) }, { ...given, week }).querySelector('thead').textContent;
  assert.doesNotMatch(heads({ s0: [[1, 5]] }), /Last week/, 'a line needs two values');
  const values = [
    [1, 5],
    [2, 6],
  ];
  assert.match(heads({ s0: values }), /Last week/);
});
