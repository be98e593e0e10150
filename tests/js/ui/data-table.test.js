// The table of every list: sorted, paged, its columns chosen, its rows picked by mouse and key.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import test from 'node:test';

import { firstRun, shown, table } from '../../../static/js/ui/data-table.js';
import { h } from '../../../static/js/ui/dom.js';
import { needsPage, open } from '../dom.js';

const ROOT = new URL('../../../static/js/', import.meta.url);
const scripts = () => readdirSync(ROOT, { recursive: true }).filter((path) => path.endsWith('.js'));
const COLUMNS = [
  { title: 'Name', value: (row) => row.name, cell: (row) => row.name },
  { title: 'Jobs', number: true, value: (row) => row.jobs, cell: (row) => String(row.jobs ?? '–') },
  { title: '', cell: () => 'x' },
];
const ROWS = [
  { name: 'b10', jobs: 3 },
  { name: 'b9', jobs: 20 },
  { name: 'a', jobs: null },
];

async function made(options = {}, columns = COLUMNS) {
  const window = open(
    '/',
    '<section class="card"><header><h2>List</h2></header><div class="scroll" id="list"></div></section>',
  );
  const { DataTable } = await import('../../../static/js/ui/data-table.js');
  return { window, table: new DataTable(document.querySelector('#list'), { name: 'test', columns, ...options }) };
}
const all = (selector) => [...document.querySelectorAll(selector)];
const texts = (selector) => all(selector).map((element) => element.textContent);
const press = (title) =>
  all('#list th button')
    .find((button) => button.textContent.startsWith(title))
    .click();

test(
  'a click on a head sorts, the next one the other way round; numbers by size, names by their numbers',
  needsPage,
  async () => {
    const { table } = await made();
    table.paint(ROWS);
    press('Jobs');
    assert.deepEqual(texts('tbody td:first-child'), ['b10', 'b9', 'a']);
    press('Jobs');
    assert.deepEqual(texts('tbody td:first-child'), ['a', 'b9', 'b10']);
    press('Name');
    assert.deepEqual(texts('tbody td:first-child'), ['a', 'b9', 'b10']);
    assert.deepEqual(
      all('th[aria-sort]').map((th) => [th.textContent, th.getAttribute('aria-sort')]),
      [['Name ▲', 'ascending']],
    );
  },
);

test('pages are cut, and the pager says which rows are shown', needsPage, async () => {
  const { table } = await made({ size: 2 });
  table.paint(ROWS);
  assert.deepEqual(texts('.pager span'), ['rows 1 to 2 of 3']);
  all('.pager button')[1].click();
  assert.deepEqual([texts('tbody td:first-child'), texts('.pager span')], [['a'], ['rows 3 to 3 of 3']]);
  table.paint(ROWS.slice(0, 1));
  assert.deepEqual([texts('tbody td:first-child'), texts('.pager span')], [['b10'], []]);
});

test('rows that the server cuts are asked for: another order begins at its first page', needsPage, async () => {
  const asked = [];
  const columns = [{ title: 'Name', key: 'name', cell: (row) => row.name }];
  const { table } = await made(
    { size: 1, sort: 'index', onChange: () => asked.push([table.sort, table.page]) },
    columns,
  );
  table.paint(ROWS.slice(0, 1), { count: 3, page: 1 });
  all('.pager button')[1].click();
  table.paint(ROWS.slice(1, 2), { count: 3, page: 2 });
  press('Name');
  assert.deepEqual(asked, [
    ['index', 2],
    ['name', 1],
  ]);
  assert.deepEqual(texts('tbody td'), ['b9'], 'until the answer has come');
});

test('a column that is hidden stays hidden in this browser; the first one cannot be', needsPage, async () => {
  const { table, window } = await made();
  table.paint(ROWS);
  assert.deepEqual(texts('#columns-test label'), ['Jobs']);
  const box = document.querySelector('#columns-test input');
  box.checked = false;
  box.dispatchEvent(new window.Event('change'));
  assert.deepEqual(texts('thead th'), ['Name']);
  assert.equal(localStorage.getItem('columns-test'), '["Jobs"]');
  const { ColumnChoice } = await import('../../../static/js/ui/column-choice.js');
  assert.deepEqual(
    new ColumnChoice('test', COLUMNS, () => {}).shown(COLUMNS).map(({ title }) => title),
    ['Name', ''],
  );
  localStorage.setItem('columns-test', '{no list');
  assert.equal(new ColumnChoice('test', COLUMNS, () => {}).shown(COLUMNS).length, 3);
});

test('a row is picked by a click and by Enter, but Enter in a control of the row is its own', needsPage, async () => {
  const picked = [];
  const columns = [...COLUMNS.slice(0, 2), { title: '', cell: () => document.createElement('button') }];
  const { table, window } = await made(
    { onPick: ({ name }) => picked.push(name), selected: ({ name }) => name === 'b9', keyOf: ({ name }) => name },
    columns,
  );
  table.paint(ROWS);
  const [first, second] = all('tbody tr');
  first.click();
  const enter = () => new window.KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true });
  second.dispatchEvent(enter());
  second.querySelector('button').dispatchEvent(enter());
  assert.deepEqual(picked, ['b10', 'b9']);
  assert.deepEqual(
    [second.getAttribute('aria-selected'), first.getAttribute('aria-selected'), first.tabIndex],
    ['true', null, 0],
  );
});

test(
  'the focus stays on the head that was pressed, and on the row, though all is rendered again',
  needsPage,
  async () => {
    const { table } = await made({ onPick: () => {}, keyOf: ({ name }) => name });
    table.paint(ROWS);
    all('#list th button')[1].focus();
    press('Jobs');
    assert.equal(document.activeElement.textContent, 'Jobs ▲');
    document.querySelector('[data-job="b9"]').focus();
    press('Name');
    assert.equal(document.activeElement.dataset.job, 'b9');
  },
);

test(
  'rows of many columns are cards on a narrow page: each cell has its title; without rows there is a sentence',
  needsPage,
  async () => {
    const { empty } = await import('../../../static/js/ui/data-table.js');
    const { table } = await made(
      {},
      [...'abcde'].map((title) => ({ title, cell: () => title })),
    );
    table.paint([{}]);
    assert.equal(document.querySelector('table').className, 'list');
    assert.deepEqual(
      all('td').map((td) => td.dataset.label),
      [...'abcde'],
    );
    table.paint([], { none: empty('Nothing here', 'Yet.', ['All', '/']) });
    assert.match(document.querySelector('#list').textContent, /Nothing hereYet/);
    assert.equal(document.querySelector('header button').hidden, true);
  },
);

test(
  'on a narrow page a page has few rows, and a cell without a value is left out of its card',
  needsPage,
  async () => {
    const { window, table } = await made(
      { size: undefined },
      [...'abcde'].map((title) => ({ title, cell: (row) => row[title] ?? '–' })),
    );
    const { rowsOfPage } = await import('../../../static/js/ui/data-table.js');
    table.paint([{ a: 'x', c: 0 }]);
    assert.deepEqual(
      all('td').map((td) => td.className),
      ['', 'none', '', 'none', 'none'],
    );
    assert.equal(rowsOfPage(25), 25);
    window.happyDOM.setViewport({ width: 390 });
    assert.deepEqual([rowsOfPage(25), rowsOfPage(5)], [10, 5]);
  },
);

test('a table of very many fields is not made of cards', needsPage, async () => {
  open();
  const { table } = await import('../../../static/js/ui/data-table.js');
  const columns = [...'abcdefgh'].map((title) => ({ title, cell: () => title }));
  assert.deepEqual([table(columns, []).className, table(columns, [], { cards: false }).className], ['list', '']);
});

test('a spare column is hidden until somebody chooses', needsPage, async () => {
  open();
  const { ColumnChoice } = await import('../../../static/js/ui/column-choice.js');
  const columns = [{ title: 'Name' }, { title: 'Model', spare: true }, { title: 'Jobs' }];
  const titles = () => new ColumnChoice('spare', columns, () => {}).shown(columns).map(({ title }) => title);
  assert.deepEqual(titles(), ['Name', 'Jobs']);
  localStorage.setItem('columns-spare', '[]');
  assert.deepEqual(titles(), ['Name', 'Model', 'Jobs']);
});

test('rows in groups, heads of rows, and a message in place of cells that have no values', needsPage, () => {
  open();
  const columns = [
    { title: 'Name', rowHead: true, cell: ({ name }) => [name, h('small', {}, '!')] },
    {
      title: 'A',
      heading: h('a', { href: '/a' }, 'a'),
      headClass: 'run',
      number: true,
      spanned: true,
      cell: ({ a }) => a,
    },
    { title: 'B', spanned: true, cell: ({ b }) => b, properties: ({ b }) => ({ class: 'hot', title: `${b} B` }) },
    { title: 'C', cell: () => '–' },
  ];
  const rows = [
    { name: 'real', a: 1, b: 2 },
    { name: 'x', group: 'one', a: 3, b: 4 },
    { name: 'y', group: 'one', failed: 'too long' },
    { name: 'z', group: 'two', a: 5, b: 6 },
  ];
  const made = table(columns, rows, {
    className: 'metrics',
    label: 'Values',
    frozen: true,
    cards: false,
    groupOf: ({ group }) => group ?? null,
    instead: ({ failed }) => failed && { class: 'error', content: failed },
    rowProperties: ({ name }) => ({ 'data-name': name }),
  });
  const lines = [...made.querySelectorAll('tbody tr')].map((row) => [...row.children].map((one) => one.textContent));
  assert.deepEqual(lines, [
    ['real!', '1', '2', '–'],
    ['one'],
    ['x!', '3', '4', '–'],
    ['y!', 'too long', '–'],
    ['two'],
    ['z!', '5', '6', '–'],
  ]);
  assert.deepEqual([made.className, made.getAttribute('aria-label')], ['frozen metrics', 'Values']);
  const $ = (selector) => made.querySelector(selector);
  assert.equal($('tr.group th').getAttribute('colspan'), '4');
  assert.equal($('thead th.number.run a').getAttribute('href'), '/a');
  assert.equal($('tbody tr th').getAttribute('scope'), 'row');
  assert.deepEqual([$('td.error').getAttribute('colspan'), $('td.hot').title], ['2', '2 B']);
  assert.equal($('tr[data-name=x] td').dataset.label, 'A');
  assert.equal($('tr[data-name=x] td:last-child').className, 'none', 'left out where rows are cards');
});

test('no module builds a table of its own', () => {
  const root = new URL('../../../static/js/', import.meta.url);
  const own = readdirSync(root, { recursive: true }).filter(
    (name) =>
      name.endsWith('.js') &&
      /\bh\(\s*'table'|createElement\('table'\)|<table/.test(readFileSync(new URL(name, root), 'utf8')),
  );
  assert.deepEqual(own, ['ui/data-table.js']);
});

test('the number of rows has its noun in the singular', () => {
  assert.deepEqual(
    [shown(1, 1, 'bars'), shown(0, 0, 'bars'), shown(5, 1200, 'bars')],
    ['1 bar', '0 bars', 'showing 5 of 1,200 bars'],
  );
});

test('an empty list says what it is for, and links to the next action', needsPage, async () => {
  open();
  const { empty } = await import('../../../static/js/ui/data-table.js');
  const box = empty('No sweeps yet', 'A sweep runs a scenario with several values.', ['Choose a scenario', '#new']);
  assert.equal(box.querySelector('strong').textContent, 'No sweeps yet');
  assert.match(box.textContent, /A sweep runs a scenario with several values\./);
  assert.equal(box.querySelector('a.button').getAttribute('href'), '#new');
  let pressed = 0;
  const other = empty('No job matches', 'The search leaves out all jobs.', ['Show all jobs', () => pressed++]);
  other.querySelector('button').click();
  assert.deepEqual([other.querySelector('button').textContent, pressed], ['Show all jobs', 1]);
});

test('every empty list of the pages has a next action', () => {
  const calls = scripts().flatMap((path) => {
    const text = readFileSync(new URL(path, ROOT), 'utf8');
    return [...text.matchAll(/[^\w.]empty\(/g)].map(({ index }) => ({ path, given: argumentsAt(text, index + 7) }));
  });
  assert.ok(calls.length > 30);
  const short = calls.filter(({ path, given }) => given < 3 && !path.endsWith('ui/data-table.js'));
  assert.deepEqual(short, []);
});

/** Number of arguments of the call whose first argument begins there. */
function argumentsAt(text, start) {
  let [depth, count, quote, filled] = [0, 1, '', false];
  for (let at = start; ; at++) {
    const sign = text[at];
    if (quote) {
      if (sign === quote) quote = '';
    } else if ('\'"`'.includes(sign)) [quote, filled] = [sign, true];
    else if ('([{'.includes(sign)) [depth, filled] = [depth + 1, true];
    else if (')]}'.includes(sign)) {
      if (depth-- === 0) return count - (filled ? 0 : 1); // a comma may end the list
    } else if (sign === ',' && depth === 0) [count, filled] = [count + 1, false];
    else if (/\S/.test(sign)) filled = true;
  }
}

test('only an operator is led to a new run', needsPage, () => {
  open();
  assert.equal(firstRun()[1], '/scenarios/');
  document.body.dataset.role = 'viewer';
  assert.equal(firstRun()[1], '/experiments/');
});

const OPTIONAL = [
  { title: 'Name', cell: (row) => row.name },
  { title: 'Group', sparse: true, cell: (row) => row.group ?? '–' },
  { title: 'Reason', once: true, cell: (row) => h('span', {}, row.reason) },
];
const heads = () => texts('#list thead th');

test('a sparse column is shown once a row has a value; the menu says why it is left out', needsPage, async () => {
  const { table } = await made({}, OPTIONAL);
  table.paint([
    { name: 'a', reason: 'x' },
    { name: 'b', reason: 'y' },
  ]);
  assert.deepEqual(heads(), ['Name', 'Reason']);
  assert.deepEqual(texts('.menu label'), ['Groupno values', 'Reason']);
  table.paint([
    { name: 'a', reason: 'x' },
    { name: 'b', reason: 'y', group: '3' },
  ]);
  assert.deepEqual(heads(), ['Name', 'Group', 'Reason']);
  assert.deepEqual(texts('.menu label'), ['Group', 'Reason']);
});

test('a column whose value all of several rows share is left out, and its text is given', needsPage, async () => {
  const { table } = await made({}, OPTIONAL);
  const { sharedText } = await import('../../../static/js/ui/column-choice.js');
  const same = [
    { name: 'a', reason: 'in a group' },
    { name: 'b', reason: 'in a group' },
  ];
  table.paint(same);
  assert.deepEqual([heads(), sharedText(OPTIONAL[2], same)], [['Name'], 'in a group']);
  assert.deepEqual(texts('.menu label'), ['Groupno values', 'Reasonequal in all rows']);
  table.paint(same.slice(1));
  assert.deepEqual(heads(), ['Name', 'Reason'], 'of a single row it is shown');
  assert.equal(sharedText(OPTIONAL[2], same.slice(1)), null);
});
