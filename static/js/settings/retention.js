// Retention: how much of each kind of data there is and how long it stays, and the next clean-up with its start.

import { get, post } from '../core/api.js';
import { logError } from '../core/client-errors.js';
import { confirmed } from '../ui/confirm.js';
import { DataTable, empty } from '../ui/data-table.js';
import { $, errorLine, fill, h, wholeDates } from '../ui/dom.js';
import { PagePart } from '../ui/failures/page-part.js';
import { bytes, capital, number, plural, wall } from '../util/format.js';

const say = errorLine($('#list-error'));
const AGAIN_MS = 1_000; // between two looks at a clean-up that runs
const MAX_WAIT_MS = 600_000; // after which the page no longer waits; the request stays
const PAGES = { runs: 'runs', uploads: 'traces' }; // first word of a rule -> its pages
const run = $('#run');

const none = () => h('span', { class: 'muted' }, '–');
const size = (row) => (row.size === null ? none() : h('span', { class: 'nowrap' }, bytes(row.size)));

const kinds = new DataTable($('#kinds'), {
  name: 'retention-kinds',
  columns: [
    { title: 'Data', value: (k) => k.title, cell: (k) => capital(k.title) },
    { title: 'Number', number: true, value: (k) => k.rows, cell: (k) => number(k.rows, 0) },
    { title: 'Size', number: true, value: (k) => k.size ?? 0, cell: size },
    {
      title: 'Oldest entry',
      value: (k) => k.oldest ?? '',
      cell: (k) => h('span', { class: 'nowrap' }, wall(k.oldest)),
    },
    { title: 'Retention', wide: true, cell: (k) => h('span', { title: k.settings.join(', ') }, k.stays) },
  ],
});

const due = new DataTable($('#due'), {
  name: 'retention-due',
  columns: [
    { title: 'Data', value: (d) => d.rule, cell: (d) => capital(d.rule) },
    { title: 'Number', number: true, value: (d) => d.rows, cell: (d) => number(d.rows, 0) },
    { title: 'Size', number: true, value: (d) => d.size ?? 0, cell: size },
    { title: 'Setting', cell: (d) => (d.setting ? h('code', {}, d.setting) : none()) },
    { title: 'Objects', wide: true, cell: objects },
  ],
});

/** Links to the first objects of a rule. */
function objects({ rule, rows, numbers }) {
  if (!numbers.length) return none();
  const page = PAGES[rule.split(' ')[0]] ?? 'runs';
  const links = numbers.flatMap((key, i) => [i ? ', ' : '', h('a', { href: `/${page}/${key}/` }, String(key))]);
  return h('span', {}, links, rows > numbers.length ? ` and ${number(rows - numbers.length, 0)} more` : '');
}

/** 'runs: 3 (12.1 MB), forecasts: 40' */
const listed = (rows) =>
  rows
    .map((row) => `${row.rule}: ${number(row.rows, 0)}${row.size === null ? '' : ` (${bytes(row.size)})`}`)
    .join(', ');

async function load() {
  const found = await get('/api/retention/');
  const rows = found.due.filter((row) => row.rows);
  kinds.paint(found.kinds);
  due.paint(rows, {
    none: empty('Nothing to remove', 'No data are older or larger than their settings allow.', [
      'Show the settings',
      '#kinds',
    ]),
  });
  const database = found.database_size === null ? '' : `Database: ${bytes(found.database_size)} · `;
  $('#stores').textContent = `${database}free on the disk of the data folder: ${bytes(found.disk_free)}`;
  const total = rows.reduce((sum, row) => sum + (row.size ?? 0), 0);
  const count = rows.reduce((sum, row) => sum + row.rows, 0);
  $('#total').textContent = count ? `${plural(count, 'object')}, ${bytes(total)} of logs and files` : '';
  fill($('#last'), wholeDates(lastText(found.last)));
  run.disabled = !rows.length;
  return { rows, last: found.last?.at ?? '' };
}

function lastText(last) {
  if (!last) return 'Nobody has started a clean-up yet.';
  const removed = Object.entries(last.removed).map(([rule, count]) => `${rule}: ${number(count, 0)}`);
  const what = removed.join(', ') || 'nothing';
  const by = last.user || 'a deleted account';
  const rest = last.error ? ` It did not remove everything: ${last.error}. Start it again to continue.` : '';
  return `Last clean-up that somebody started: ${wall(last.at)}, by ${by}; removed: ${what}.${rest}`;
}

async function start() {
  const { rows, last } = await load(); // what the question states is what is due now
  if (!rows.length) return;
  if (!(await confirmed(`Remove this permanently? ${capital(listed(rows))}.`, 'Remove'))) return;
  run.disabled = true;
  await post('/api/retention/');
  const until = Date.now() + MAX_WAIT_MS;
  $('#last').textContent = 'The clean-up was requested; a background worker does it …';
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    const now = await get('/api/retention/');
    if ((now.last?.at ?? '') !== last) break;
    if (Date.now() > until) throw new Error('No background worker has done the clean-up yet; see the page Audit.');
  }
  await load();
}

/** `action`, whose failure is shown on the page. */
async function done(action) {
  try {
    say('');
    await action();
  } catch (error) {
    logError(error);
    say(error.message);
    run.disabled = false;
  }
}

run.addEventListener('click', () => done(start));
done(() => new PagePart('data and their sizes').first($('#kinds'), load));
