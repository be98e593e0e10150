// Trade-off of two metrics: every run can be told from the others.

import assert from 'node:assert/strict';
import test from 'node:test';

import { needsPage, open } from '../dom.js';

test('a run whose title has no room has its number, which the caption explains', needsPage, async () => {
  open();
  const { paretoChart } = await import('../../../static/js/charts/pareto.js');
  const metric = (title) => ({ title, unit: 'h' });
  const points = [
    { x: 1, y: 1 },
    { x: 9, y: 9 },
    { x: 1.001, y: 1.001 }, // beside the first
    { x: 9, y: 4 }, // at the edge
  ];
  const runs = ['FIFO', 'OASiS', 'Dorm', "Slurm's main and backfill schedulers"].map((title, i) => ({
    id: 10 + i,
    title,
  }));
  const chartOf = (front) => paretoChart({ x: metric('Mean wait'), y: metric('Utility'), points }, front, runs);
  const chart = chartOf([0, 1]);
  const labels = [...chart.querySelectorAll('.label')].map(({ textContent }) => textContent);
  assert.deepEqual(labels, ['FIFO, 12', 'OASiS', '13'], 'points in one place share a label');
  const fills = [...chart.querySelectorAll('circle')].map((circle) => circle.getAttribute('fill'));
  assert.deepEqual(
    fills,
    [0, 1, 2, 3].map((i) => `var(--job-${i})`),
    'the colours of the marks of the runs',
  );
  assert.match(
    chart.querySelector('figcaption').textContent,
    / Numbers are those of runs: Dorm ·\s12, Slurm.* ·\s13\.$/,
  );
  assert.match(chart.querySelector('figcaption').textContent, /against mean wait\. The line joins/);
  assert.match(chartOf([1]).textContent, /No other run beats OASiS ·\s11 in either metric\./, 'there is no line');
});

test('many runs at one place have one label with the range of their numbers', needsPage, async () => {
  open();
  const { paretoChart } = await import('../../../static/js/charts/pareto.js');
  const metric = (title) => ({ title, unit: 'h' });
  const points = [{ x: 9, y: 9 }, ...Array.from({ length: 4 }, () => ({ x: 1, y: 1 }))];
  const runs = points.map((_, i) => ({ id: i, title: i ? 'OASiS' : 'DRF' }));
  const chart = paretoChart({ x: metric('Mean wait'), y: metric('Utility'), points }, [0], runs);
  const labels = [...chart.querySelectorAll('.label')].map(({ textContent }) => textContent);
  assert.deepEqual(labels, ['DRF', 'OASiS ·\u00a01, 2–4']);
});

test('a run whose name would fit, but whose point shares the label of another, has a number', needsPage, async () => {
  open();
  const { paretoChart } = await import('../../../static/js/charts/pareto.js');
  const metric = (title) => ({ title, unit: 'h' });
  // the long name of the first leaves no room; the second is above, out of the reach of names, but near the first
  const points = [
    { x: 0, y: 0 },
    { x: 0, y: 6 },
    { x: 100, y: 100 },
  ];
  const runs = ['Re-planning with all jobs of the future and their prices', 'FIFO', 'DRF'].map((title, id) => ({
    id,
    title,
  }));
  const chart = paretoChart({ x: metric('Mean wait'), y: metric('Utility'), points }, [2], runs);
  const labels = [...chart.querySelectorAll('.label')].map(({ textContent }) => textContent);
  assert.deepEqual(labels, ['DRF', '0–1']);
  assert.match(chart.querySelector('figcaption').textContent, / runs: Re-planning.* ·\s0, FIFO ·\s1\.$/);
});

test('a label has the first place in which it covers no other point', needsPage, async () => {
  open();
  const { paretoChart } = await import('../../../static/js/charts/pareto.js');
  const metric = (title) => ({ title, unit: 'h' });
  // two points are 15 px apart, so that the number of the left one would be under the right one
  const points = [
    { x: 0, y: 0 },
    { x: 50, y: 0.1 },
    { x: 56.5, y: 0.1 },
    { x: 100, y: 1 },
  ];
  const long = 'Re-planning with all jobs of the future and their prices';
  const runs = points.map((_, i) => ({ id: i, title: long }));
  const chart = paretoChart({ x: metric('Mean wait'), y: metric('Utility'), points }, [3], runs);
  const anchors = [...chart.querySelectorAll('.label')].map((label) => [
    label.textContent,
    label.getAttribute('text-anchor'),
  ]);
  assert.deepEqual(anchors, [
    ['3', 'start'],
    ['0', 'start'],
    ['1', 'end'],
    ['2', 'start'],
  ]);
});

test('a point that the name of another one could cover has a label of its own', needsPage, async () => {
  open();
  const { paretoChart } = await import('../../../static/js/charts/pareto.js');
  const metric = (title) => ({ title, unit: 'h' });
  const points = [
    { x: 0, y: 50 },
    { x: 20, y: 51 }, // to the right of the first, where its name would be
    { x: 100, y: 100 },
    { x: 100, y: 0 },
  ];
  const runs = ['Conservative backfill', 'RRH', 'DRF', 'Dorm'].map((title, id) => ({ id, title }));
  const chart = paretoChart({ x: metric('Mean wait'), y: metric('Utility'), points }, [2], runs);
  const labels = [...chart.querySelectorAll('.label')].map(({ textContent }) => textContent);
  assert.deepEqual(labels, ['DRF', 'Conservative backfill', '1', 'Dorm']);
  assert.ok([...chart.querySelectorAll('.label')].every((label) => Number(label.getAttribute('x')) >= 0));
});
