// Tokens: the list, the form, and the value of a new token, which is shown once.

import { get, post } from '../core/api.js';
import { confirmed } from '../ui/confirm.js';
import { DataTable, empty, shown } from '../ui/data-table.js';
import { $, fill, h } from '../ui/dom.js';
import { field, numberField } from '../ui/fields/form-field.js';
import { onSubmit } from '../ui/fields/submission.js';
import { PagePart } from '../ui/failures/page-part.js';
import { failureLine } from '../ui/failures/failure-line.js';
import { wall } from '../util/format.js';
import { SCOPES } from '../ui/labels/token-scopes.js';
import { showOnce } from './secret-line.js';

const fail = failureLine($('#list-error'));

const columns = [
  { title: 'Token', value: (t) => t.name, cell: (t) => t.name },
  { title: 'Scopes', cell: (t) => t.scopes.join(', ') },
  { title: 'Account', value: (t) => t.created_by, cell: (t) => t.created_by },
  { title: 'Created', value: (t) => t.created_at, cell: (t) => moment(t.created_at, '') },
  { title: 'Last used', value: (t) => t.last_used_at ?? '', cell: (t) => moment(t.last_used_at, 'never') },
  { title: 'Expiry', value: (t) => t.expires_at ?? '', cell: (t) => moment(t.expires_at, 'never') },
  {
    title: 'State',
    cell: (t) =>
      t.ended ? h('span', { class: 'muted', title: t.ended }, t.revoked_at ? 'revoked' : 'expired') : 'valid',
  },
  {
    title: '',
    cell: (t) =>
      t.ended ? '' : h('button', { type: 'button', class: 'quiet danger', onclick: () => revoke(t) }, 'Revoke'),
  },
];

const list = new DataTable($('#list'), { name: 'tokens', columns });

function moment(at, otherwise) {
  return h('span', { class: 'muted nowrap' }, at ? wall(at) : otherwise);
}

async function load() {
  const page = await get('/api/tokens/?size=200');
  $('#count').textContent = shown(page.results.length, page.count, page.count === 1 ? 'token' : 'tokens');
  const about = 'A token lets a script or a cluster use the API without a login.';
  list.paint(page.results, { none: empty('No tokens yet', about, ['Create a token', '#new']) });
}

async function revoke(token) {
  if (!(await confirmed(`Revoke the token ${token.name}? Requests with it will be refused.`, 'Revoke'))) return;
  try {
    await post(`/api/tokens/${token.id}/revoke/`);
    fail(null);
    await load();
  } catch (error) {
    fail(error);
  }
}

function form(root) {
  const name = field('Name', h('input', { id: 'name', maxlength: 200, required: true }), 'What the token is for');
  const scope = field(
    'Scope',
    h(
      'select',
      { id: 'scope' },
      Object.entries(SCOPES).map(([value, text]) => h('option', { value }, text)),
    ),
  );
  const source = field(
    'Source',
    h('input', { id: 'source', maxlength: 60, placeholder: 'lab' }),
    'Part of the address, such as lab in /api/ingest/lab/events',
  );
  const days = numberField('days', 'Days until it expires', { whole: true, min: 1, value: 90, help: 'Empty: never' });
  const problem = h('p', { class: 'error wide', role: 'alert', hidden: true });
  const button = h('button', { class: 'primary' }, 'Create token');
  const fits = () => {
    source.element.hidden = scope.input.value !== 'ingest';
  };
  scope.input.addEventListener('change', fits);
  addEventListener('pageshow', fits); // Back keeps the scope that was chosen
  fill(
    root,
    name.element,
    scope.element,
    source.element,
    days.element,
    h('div', { class: 'actions wide' }, button),
    problem,
  );
  onSubmit(root, button, problem, async () => {
    const chosen = scope.input.value === 'ingest' ? `ingest:${source.value() ?? ''}` : scope.input.value;
    const body = { name: name.value() ?? '', scopes: [chosen], days: days.value() ?? null };
    show(await post('/api/tokens/', body));
    name.input.value = '';
    await load();
  });
}

/** The value of a new token: it cannot be shown again. */
function show(token) {
  const sentence = `The token ${token.name} was created. Copy its value now: it is not shown again.`;
  showOnce($('#made'), sentence, 'Value of the token', token.value);
}

form($('#new'));
new PagePart('list of tokens').first($('#list'), load).catch(fail);
