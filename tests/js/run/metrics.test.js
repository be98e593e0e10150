// The metrics of a run as cells: titles, units and definitions are those of the table, and of nothing else.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { tableOf, valueOf, valueText } from '../../../static/js/core/metric-table.js';
import { metricCells, paintMetrics, untilText } from '../../../static/js/run/metrics/metrics-panel.js';
import { needsPage, open } from '../dom.js';

const BETTER = 'lower';
const row = (key, title, unit, scope = 'run') => ({
  key,
  title,
  unit,
  direction: BETTER,
  definition: `What ${title} is.`,
  scope,
});
const TABLE = tableOf([
  row('total_utility', 'Worth', ''),
  row('jobs', 'Jobs', ''),
  row('mean_jct_ms', 'Mean', 'ms'),
  row('lanes.mean_slowdown', 'Slow', 'x'),
  row('lanes.busy', 'Busy', 'share'),
  row('common_jct_ms', 'Common', 'ms', 'comparison'),
  row('decision_p95_ms', 'Deciding', 'ms', 'comparison'),
]);
const METRICS = {
  total_utility: 3,
  jobs: 2,
  mean_jct_ms: 60_000,
  common_jct_ms: 9,
  lanes: { mean_slowdown: 1.5, busy: { edge: { w10: 0.25, w9: 0.5 } } },
};

test('a value is found by the path that its key is', () => {
  assert.equal(valueOf(METRICS, 'lanes.mean_slowdown'), 1.5);
  assert.equal(valueOf(METRICS, 'groups.moves'), null);
  assert.equal(valueOf(null, 'jobs'), null);
});

test('the metrics of a run come in the order of the table, with its titles, units and definitions', () => {
  assert.deepEqual(metricCells(TABLE, METRICS, null, true), [
    { title: 'Worth', text: '3', help: 'What Worth is.', better: BETTER },
    { title: 'Jobs', text: '2', help: 'What Jobs is.', better: BETTER },
    { title: 'Mean', text: '1m', help: 'What Mean is.', better: BETTER },
    { title: 'Slow', text: '1.5 ×', help: 'What Slow is.', better: BETTER },
    { title: 'Busy: edge, w9', text: '50.0 %', help: 'What Busy is.', better: BETTER },
    { title: 'Busy: edge, w10', text: '25.0 %', help: 'What Busy is.', better: BETTER },
  ]);
});

test('a metric of some phases names them', () => {
  const covers = { jobs: { title: 'under FIFO', text: 'only under FIFO, from 06:00:00 on' } };
  const [, jobs, mean] = metricCells(TABLE, METRICS, null, true, covers);
  assert.deepEqual([jobs.title, jobs.help], ['Jobs under FIFO', 'Only under FIFO, from 06:00:00 on: What Jobs is.']);
  assert.equal(mean.title, 'Mean');
});

test('a value that the run lacks has no cell, nor has utility where jobs are worth nothing', () => {
  const cells = metricCells(TABLE, { total_utility: 0, jobs: 2, mean_jct_ms: null }, null, false);
  assert.deepEqual(
    cells.map(({ title }) => title),
    ['Jobs'],
  );
});

test('the time to decide says how many decisions it is of', () => {
  const [cell] = metricCells(TABLE, {}, { count: 1200, p95: 0.123, max: 4.56 }, false);
  assert.deepEqual(cell, {
    title: 'Deciding',
    text: '0.12 ms',
    help: 'What Deciding is. 1,200 decisions; longest 4.56 ms.',
    better: BETTER,
  });
});

// tests/scheduling/reporting/test_quantities.py holds the server against the same file
test('a value reads as the server says it does: it ranks by what is read', () => {
  const pinned = JSON.parse(readFileSync(new URL('../../fixtures/value_texts.json', import.meta.url)));
  assert.deepEqual(
    pinned.map(({ value, unit }) => valueText(value, unit)),
    pinned.map(({ text }) => text),
  );
});

test('metrics of a run that ended before its end say up to when they go', () => {
  assert.equal(untilText({ status: 'cancelled', sim_ms: 18_000_000 }), 'until cancelled at 05:00:00');
  assert.equal(untilText({ status: 'finished', sim_ms: 18_000_000 }), '');
});

test('metrics that did not change keep their elements, so that a reader keeps the focus', needsPage, () => {
  open('/', '<section><span class="muted"></span><dl></dl></section>');
  const panel = document.querySelector('section');
  const names = () => [...panel.querySelectorAll('button.term')];
  paintMetrics(panel, TABLE, METRICS, null, true);
  const [first] = names();
  first.focus();
  paintMetrics(panel, TABLE, structuredClone(METRICS), null, true);
  assert.equal(document.activeElement, first);
  assert.equal(names()[0], first);
  paintMetrics(panel, TABLE, { ...METRICS, jobs: 3 }, null, true);
  assert.notEqual(names()[0], first);
});
