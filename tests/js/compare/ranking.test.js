import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alike, same } from '../../../static/js/compare/comparison.js';
import { paintMetricsTable } from '../../../static/js/compare/metrics-table.js';
import { Ranking, front, rankable, ranked, tradeOff } from '../../../static/js/compare/ranking.js';
import { needsPage, open } from '../dom.js';

const MINUTE = 60_000;
const cells = (values, ranks = []) =>
  values.map((value, i) => ({ value, ranked: ranks[i] ?? true, delta: null, relative: null, verdict: null }));
const metric = (key, title, unit, direction, values, ranks) => ({
  key,
  title,
  unit,
  direction,
  definition: `${title}.`,
  values: cells(values, ranks),
});

const ANSWER = {
  runs: [1, 2, 3].map((id) => ({ id, title: `S${id}`, name: `run ${id}`, cluster: 'c', seed: 0, edits: [] })),
  in_full: [1, 2, 3],
  most: { in_full: 6 },
  metrics: [
    metric('total_utility', 'Total utility', '', 'higher', [10, 30, 30.000001]),
    metric('jobs', 'Arrived jobs', '', null, [5, 5, 5]),
    metric('mean_jct_ms', 'Mean JCT', 'ms', 'lower', [9 * MINUTE, 3 * MINUTE, 6 * MINUTE]),
    metric('makespan_ms', 'Makespan', 'ms', 'lower', [null, 5, null]),
    metric('mean_wait_ms', 'Mean wait', 'ms', 'lower', [5 * MINUTE, MINUTE, 2 * MINUTE]),
    metric('utilization.gpu', 'GPU utilization', 'share', 'higher', [0.9, 0.5, 0.4]),
  ],
  distributions: [
    {
      key: 'jct_ms',
      curves: [1, 2, 3].map((k) => ({ jobs: 3, values: Array.from({ length: 101 }, (_, i) => k * i * 1000) })),
    },
  ],
};

test('runs are ranked best first, and equal values share a rank', () => {
  const [utility, , jct] = ANSWER.metrics;
  assert.deepEqual(
    ranked(utility).map(({ index, rank }) => [index, rank]),
    [
      [2, 1],
      [1, 1],
      [0, 3],
    ],
  );
  assert.deepEqual(
    ranked(jct).map(({ index, rank }) => [index, rank]),
    [
      [1, 1],
      [2, 2],
      [0, 3],
    ],
  );
});

test('a value that cannot be ranked is left out, and so is a metric of one value', () => {
  assert.deepEqual(
    ranked(metric('x', 'X', '', 'lower', [3, 1, null], [true, false, true])).map(({ index }) => index),
    [0],
  );
  assert.deepEqual(
    rankable(ANSWER).map(({ key }) => key),
    ['total_utility', 'mean_jct_ms', 'mean_wait_ms', 'utilization.gpu'],
  );
});

test('values are equal if they are displayed alike and differ by at most a thousandth', () => {
  assert.ok(alike(2632.55, 2632.5501, ''));
  assert.ok(!alike(2632.55, 2632.99, ''));
  assert.ok(!alike(35 * 60 * MINUTE, 35.9 * 60 * MINUTE, 'ms'), 'displayed alike, but an hour apart');
  assert.ok(same(ANSWER.metrics[1]));
  assert.ok(!same(ANSWER.metrics[3]), 'a missing value is a difference');
});

test('no run on the line is beaten by another in both', () => {
  const points = [
    { x: 5, y: 0.9 },
    { x: 1, y: 0.5 },
    { x: 2, y: 0.4 },
    { x: 1, y: 0.3 },
  ];
  assert.deepEqual(front(points), [1, 0]);
  const of = tradeOff(ANSWER);
  assert.deepEqual([of.x.key, of.y.key, front(of.points)], ['mean_wait_ms', 'utilization.gpu', [1, 0]]);
});

test('without the wait of every run the trade-off is by completion time, and there is none without utilization', () => {
  const without = (...keys) => ({ ...ANSWER, metrics: ANSWER.metrics.filter(({ key }) => !keys.includes(key)) });
  assert.equal(tradeOff(without('mean_wait_ms')).x.key, 'mean_jct_ms');
  assert.equal(tradeOff(without('utilization.gpu')), null);
});

const PANEL = `<section id="panel-ranking" hidden><select></select><button id="ranking-table"></button>
  <ol id="ranking"></ol><div id="trade-off"></div><p id="ranking-note"></p><div id="ranking-numbers" hidden></div>
  </section>`;

test('the panel draws bars, the middle half of the jobs, and the trade-off', needsPage, () => {
  open('/', PANEL);
  const chosen = [];
  const panel = document.querySelector('#panel-ranking');
  new Ranking(panel, { metric: 'mean_jct_ms', onChange: (key) => chosen.push(key) }).paint(ANSWER);
  assert.ok(!panel.hidden);
  const rows = [...panel.querySelectorAll('#ranking li')];
  assert.deepEqual(
    rows.map((row) => [row.dataset.run, row.querySelector('.rank').textContent]),
    [
      ['2', '1'],
      ['3', '2'],
      ['1', '3'],
    ],
  );
  assert.deepEqual(
    rows.map((row) => row.classList.contains('first')),
    [true, false, false],
  );
  assert.equal(rows[2].querySelector('.fill').style.width, '100%');
  assert.match(rows[2].querySelector('.middle').style.left, /^4\.6/);
  assert.match(panel.querySelector('#ranking-note').textContent, /Lower is better\. The line through a bar/);
  assert.equal(panel.querySelectorAll('#trade-off .point.best').length, 2);
  panel.querySelector('select').value = 'total_utility';
  panel.querySelector('select').dispatchEvent(new globalThis.window.Event('change'));
  assert.deepEqual(chosen, ['total_utility']);
  assert.equal(panel.querySelector('#ranking li .rank').textContent, '1');
  panel.querySelector('#ranking-table').click();
  assert.equal(panel.querySelectorAll('#ranking-numbers tbody tr').length, 3);
});

test('metrics with equal values are hidden until they are wanted', needsPage, () => {
  open('/', '<div id="metrics"></div>');
  const box = document.querySelector('#metrics');
  const keys = () => [...box.querySelectorAll('[data-metric]')].map((row) => row.dataset.metric);
  assert.equal(paintMetricsTable(box, ANSWER, { onlyDifferent: true }), 1);
  assert.ok(!keys().includes('jobs'));
  assert.equal(paintMetricsTable(box, ANSWER), 0);
  assert.ok(keys().includes('jobs'));
});

test('a run that is mostly not ranked says so once, in the head of its column', needsPage, () => {
  open('/', '<div id="metrics"></div>');
  const box = document.querySelector('#metrics');
  const times = () => box.textContent.split('not ranked').length - 1;
  const metrics = ANSWER.metrics.map((row) => ({
    ...row,
    values: row.values.map((cell, i) => (i === 1 && cell.value !== null ? { ...cell, ranked: false } : cell)),
  }));
  assert.ok(metrics.length > 1);
  paintMetricsTable(box, { ...ANSWER, metrics });
  assert.equal(times(), 1);
  assert.ok(box.querySelectorAll('thead th')[3].textContent.endsWith('not ranked'));
  paintMetricsTable(box, { ...ANSWER, metrics: [metrics[0], ...ANSWER.metrics.slice(1)] });
  assert.equal(times(), 1, 'a single value says it in its cell');
  assert.ok(!box.querySelector('thead').textContent.includes('not ranked'));
});
