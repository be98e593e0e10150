// The audit list: filtered and paged by the server, its filters kept in the URL.

import { get } from '../core/api.js';
import { logError } from '../core/client-errors.js';
import { $, debounce, fill, h, setText } from '../ui/dom.js';
import { number, wallSeconds } from '../util/format.js';
import { repeatAfter } from '../util/poll.js';
import { DataTable, empty, firstRun, rowsOfPage } from '../ui/data-table.js';
import { actionsTitle, actionTitle } from '../models/titles.js';
import { detailText } from '../scenarios/audit-detail.js';
import { PagePart } from '../ui/failures/page-part.js';
import { tellRefused, url } from '../ui/address/query.js';

const PAGE_SIZE = rowsOfPage(50);
const FILTERS = ['q', 'user', 'action', 'since', 'until'];
const YEAR = /^(?!0000)\d{4}-/; // of a day that the API can read
const PAGES = {
  run: (id) => `/runs/${id}/`,
  scenario: (id) => `/scenarios/${id}/`,
  experiment: (name) => `/experiments/${name}/`,
  sweep: (id) => `/sweeps/${id}/`,
  trace: (id) => `/traces/${id}/`,
  connection: (name) => `/live/${name}/`,
  account: () => '/settings/accounts/',
  team: () => '/settings/teams/',
  retention: () => '/settings/retention/',
  alert: () => '/alerts/',
  rule: () => '/alerts/#rules',
  plan: (id, { detail }) => `/live/${detail.name}/plans/`,
}; // subjects with their own page
const titled = new PagePart('titles of schedulers and edits');
const fields = Object.fromEntries(FILTERS.map((name) => [name, $(`#${name}`)]));
let turn = 0;
let known = null; // titles of schedulers and edits

const columns = [
  {
    title: 'Time',
    cell: (entry) => h('span', { class: 'nowrap', title: entry.at }, wallSeconds(entry.at)),
  },
  { title: 'User', cell: (entry) => entry.user || h('span', { class: 'muted' }, 'system') },
  { title: 'Action', cell: (entry) => h('span', { class: 'nowrap' }, actionTitle(entry.action)) },
  { title: 'Subject', cell: (entry) => subject(entry) },
  { title: 'Detail', wide: true, cell: (entry) => detailText(entry.detail, known) },
];

const list = new DataTable($('#list'), {
  name: 'audit',
  columns,
  size: PAGE_SIZE,
  pages: $('#pager'),
  onChange: ({ page }) => go(page),
});
list.page = url.number('page', { from: 1, instead: 'The first page is shown.' }) ?? 1;

/** A link to what was changed; its name if it was deleted. */
function subject(entry) {
  const { subject: text, gone } = entry;
  const [noun, id] = text.split(' ');
  if (gone)
    return h('span', { title: gone }, h('s', { class: 'nowrap muted' }, text), h('span', { class: 'why small' }, gone));
  const page = text === `${noun} ${id}` || text === 'retention' ? PAGES[noun] : null;
  const parts = text.split(/(?<=_)/).map((part, i) => [i ? h('wbr') : null, part]); // long names break after a word
  return h(page ? 'a' : 'span', { href: page?.(id, entry), class: 'nowrap' }, parts);
}

async function load() {
  const now = ++turn;
  const { page } = list;
  const asked = /** @type {any} */ (Object.fromEntries(FILTERS.map((name) => [name, fields[name].value])));
  url.set({ ...asked, page: page === 1 ? '' : page });
  const wrong = wrongDays(asked);
  if (wrong) return refused(wrong);
  try {
    const path = `/api/audit/?${new URLSearchParams({ ...asked, page: String(page), size: String(PAGE_SIZE) })}`;
    const [answer] = await Promise.all([get(path), known ?? catalogue()]);
    if (now === turn) paint(answer, Object.values(asked).some(Boolean));
  } catch (error) {
    logError(error);
    if (now !== turn) return;
    if (error.status === 404 && page > 1) {
      tellRefused(error.message, 'The first page is shown.');
      return go(1);
    }
    refused(error.message);
    repeatAfter(error, () => now === turn && load());
  }
}

/** Reason why no list is shown. */
function refused(message) {
  fill($('#list'), h('p', { class: 'error', role: 'alert' }, message));
  fill($('#pager'));
  setText($('#count'), ''); // it was that of other filters
}

/** Error in the first or the last day, or in their order, with their labels on the page; '' without an error. */
function wrongDays({ since, until }) {
  for (const [label, day] of [
    ['From', since],
    ['To', until],
  ])
    if (day && !YEAR.test(day)) return `“${label}” must be a day of the years 1 to 9999, got ${day}.`;
  return since && until && since > until ? `“From” must not be after “To”, got ${since} and ${until}.` : '';
}

/** Schedulers and edits with their titles; without them their keys are shown. */
async function catalogue() {
  const paths = ['/api/schedulers/', '/api/edits/'];
  const answers = await titled.load(Promise.all(paths.map((path) => get(path))), load);
  if (answers) [known] = [{ schedulers: answers[0], verbs: answers[1] }];
}

function paint({ count, results, users, actions }, filtered) {
  const nouns = [...new Set(actions.map((action) => action.split('.')[0]))];
  const ofUser = options(
    fields.user,
    'All users',
    users.map((name) => [name, name]),
  );
  const ofAction = options(
    fields.action,
    'All actions',
    nouns.flatMap((noun) => [
      [noun, actionsTitle(noun)],
      ...actions.filter((a) => a.startsWith(`${noun}.`)).map((a) => [a, actionTitle(a)]),
    ]),
  );
  if (!ofUser || !ofAction) {
    if (!ofUser) url.refuse('user', 'must be a user in the list', 'Changes by all users are listed.');
    if (!ofAction) url.refuse('action', 'must be an action in the list', 'All actions are listed.');
    return go(1);
  }
  setText(
    $('#count'),
    `${number(count, 0)} ${count === 1 ? 'entry' : 'entries'}${filtered ? ' found' : ''}, newest first`,
  );
  const none = filtered
    ? empty('No matching entries', 'The filters leave out all entries.', ['Show all entries', '/audit/'])
    : empty('No changes yet', 'Changes that users and the twin made appear here with time and author.', firstRun());
  list.paint(results, { page: list.page, count, none });
}

/** Fills a select and keeps its value, also one from the address that is not in the list. */
function options(select, all, pairs) {
  const chosen = select.value;
  fill(
    select,
    h('option', { value: '' }, all),
    pairs.map(([value, text]) => h('option', { value }, text)),
  );
  select.value = pairs.some(([value]) => value === chosen) ? chosen : '';
  return select.value === chosen;
}

function go(to) {
  list.page = to;
  load();
}

for (const [name, field] of Object.entries(fields)) {
  const wanted = url.get(name) ?? '';
  if (field.tagName === 'SELECT' && wanted) fill(field, h('option', { value: wanted }, wanted));
  field.value = wanted;
  if (field.value !== wanted) url.refuse(name, 'must be a day as YYYY-MM-DD', 'Changes of all days are listed.');
  field.addEventListener(
    name === 'q' ? 'input' : 'change',
    debounce(() => go(1), name === 'q' ? 250 : 0),
  );
}
load();
