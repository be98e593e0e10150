// The audit list: filtered and paged by the server, its filters kept in the URL.

import { get } from '../lib/api.js';
import { $, debounce, fill, h, setText } from '../lib/dom.js';
import { number } from '../lib/format.js';
import { empty, table } from '../lib/list.js';
import { pager } from '../lib/pager.js';
import { url } from '../lib/view.js';

const SIZE = 50;
const FILTERS = ['q', 'user', 'action', 'since', 'until'];
const PAGES = { run: (id) => `/runs/${id}/`, scenario: (id) => `/scenarios/${id}/`, sweep: (id) => `/sweeps/${id}/`, trace: (id) => `/traces/${id}/` }; // subjects that have a page of their own
const fields = Object.fromEntries(FILTERS.map((name) => [name, $(`#${name}`)]));
let page = url.number('page') ?? 1;
let turn = 0;

const columns = [
  { title: 'When', cell: (entry) => h('span', { class: 'nowrap', title: entry.at }, `${entry.at.slice(0, 10)} ${entry.at.slice(11, 19)} UTC`) },
  { title: 'Who', cell: (entry) => entry.user || h('span', { class: 'muted' }, 'the system') },
  { title: 'Action', cell: (entry) => h('span', { class: 'nowrap' }, entry.action.replace('.', ' · ')) },
  { title: 'What', cell: (entry) => subject(entry) },
  { title: 'Detail', wide: true, cell: (entry) => detail(entry.detail) },
];

function subject({ subject: text, action }) {
  const [noun, id] = text.split(' ');
  if (!PAGES[noun] || action.endsWith('.delete')) return h('span', { class: 'nowrap' }, text);
  return h('a', { href: PAGES[noun](id), class: 'nowrap' }, text);
}

function detail(values) {
  const plain = (value) => (value !== null && typeof value === 'object' ? JSON.stringify(value) : String(value));
  return Object.entries(values).map(([name, value]) => (name === 'name' ? plain(value) : `${name} ${plain(value)}`)).join(', ');
}

async function load() {
  const now = ++turn;
  const asked = Object.fromEntries(FILTERS.map((name) => [name, fields[name].value]));
  url.set({ ...asked, page: page === 1 ? '' : page });
  try {
    const answer = await get(`/api/audit/?${new URLSearchParams({ ...asked, page, size: SIZE })}`);
    if (now === turn) paint(answer, Object.values(asked).some(Boolean));
  } catch (error) {
    if (now !== turn) return;
    if (error.status === 404 && page > 1) return go(1);
    fill($('#list'), h('p', { class: 'error', role: 'alert' }, error.message));
    fill($('#pager'));
  }
}

function paint({ count, results, users, actions }, filtered) {
  const nouns = [...new Set(actions.map((action) => action.split('.')[0]))];
  options(fields.user, 'everybody', users.map((name) => [name, name]));
  options(fields.action, 'every action', nouns.flatMap((noun) => [[noun, `${noun} · all`], ...actions.filter((a) => a.startsWith(`${noun}.`)).map((a) => [a, a.replace('.', ' · ')])]));
  setText($('#count'), `${number(count, 0)} ${count === 1 ? 'entry' : 'entries'}${filtered ? ' that match' : ''}, the newest first`);
  fill($('#list'), results.length ? table(columns, results) : filtered ? empty('No entry matches', 'Change the search, the days or the names.') : empty('Nothing was changed yet', 'Uploads, scenarios, runs and what is done to them appear here.'));
  fill($('#pager'), pager({ page, size: SIZE, count, rows: results.length }, go));
}

/** Fills a select, keeping what was chosen: also one that came with the address. */
function options(select, all, pairs) {
  const chosen = select.value;
  fill(select, h('option', { value: '' }, all), pairs.map(([value, text]) => h('option', { value }, text)));
  select.value = pairs.some(([value]) => value === chosen) ? chosen : '';
}

function go(to) {
  page = to;
  load();
}

for (const [name, field] of Object.entries(fields)) {
  const wanted = url.get(name) ?? '';
  if (field.tagName === 'SELECT' && wanted) fill(field, h('option', { value: wanted }, wanted));
  field.value = wanted;
  field.addEventListener(name === 'q' ? 'input' : 'change', debounce(() => go(1), name === 'q' ? 250 : 0));
}
load();
