import assert from 'node:assert/strict';
import { test } from 'node:test';
import { spreadTable } from '../../../static/js/charts/cdf.js';
import { numbersButton } from '../../../static/js/ui/table-toggle.js';
import { needsPage, open, until } from '../dom.js';

const BODY = '<button id="jct-table"></button><div id="jct-numbers" hidden></div>';

test('an open table follows its chart, and is left alone while nothing changes', needsPage, async () => {
  open('/', BODY);
  let rows = [['a', '1']];
  let made = 0;
  numbersButton('jct', () => {
    made += 1;
    return { head: ['Run', 'JCT'], rows, total: rows.length };
  });
  const box = document.querySelector('#jct-numbers');
  const cells = () => [...box.querySelectorAll('tbody td')].map((cell) => cell.textContent);
  document.querySelector('#jct-table').click();
  assert.deepEqual(cells(), ['a', '1']);
  const first = box.querySelector('tbody tr');
  await until(() => made > 1, 'another look at the chart');
  assert.equal(box.querySelector('tbody tr'), first);
  rows = [
    ['b', '2'],
    ['c', '3'],
  ];
  await until(() => cells().length > 2, 'the new rows');
  assert.deepEqual(cells(), ['b', '2', 'c', '3']);
  assert.match(box.textContent, /^2 rows, as shown in the chart/);
  document.querySelector('#jct-table').click();
  const closedAt = made;
  await new Promise((done) => setTimeout(done, 700).ref());
  assert.equal(made, closedAt);
});

test('a column of values is aligned right, one of names with digits left', needsPage, () => {
  open('/', BODY);
  const rows = [
    ['OASiS · 2', 'w00', '–', '−1.5 ×'],
    ['FIFO · 3', 'w01', '2d 1h', '< 2 ×'],
  ];
  numbersButton('jct', () => ({ head: ['Run', 'Server', 'JCT', 'Change'], rows, total: rows.length }));
  document.querySelector('#jct-table').click();
  const right = [...document.querySelectorAll('#jct-numbers th')].map((cell) => cell.className === 'number');
  assert.deepEqual(right, [false, false, true, true]);
});

test('the table of the distributions leaves out hidden runs', () => {
  const curves = [1, 2].map((k) => ({ jobs: k, values: Array.from({ length: 101 }, (_, i) => k * i * 1000) }));
  const found = [{ title: 'JCT', unit: 'ms', curves }];
  const runs = (hidden) => spreadTable(found, ['S · 1', 'S · 2'], hidden).rows.map(([, run]) => run);
  assert.deepEqual(runs(), ['S · 1', 'S · 2']);
  assert.deepEqual(runs(new Set([0])), ['S · 2']);
  assert.equal(spreadTable(found, ['S · 1', 'S · 2'], new Set([0])).total, 1);
});
