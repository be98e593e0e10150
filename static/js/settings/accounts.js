// Accounts of people: the list with roles and states, the form, and links that set a password, which are shown once.

import { get, patch, post } from '../core/api.js';
import { confirmed } from '../ui/confirm.js';
import { DataTable, shown } from '../ui/data-table.js';
import { $, fill, h } from '../ui/dom.js';
import { field } from '../ui/fields/form-field.js';
import { onSubmit } from '../ui/fields/submission.js';
import { PagePart } from '../ui/failures/page-part.js';
import { failureLine } from '../ui/failures/failure-line.js';
import { capital, wall } from '../util/format.js';
import { showOnce } from './secret-line.js';

const fail = failureLine($('#list-error'));
const own = Number($('main').dataset.account);
const ROLES = [
  ['viewer', 'reads'],
  ['operator', 'also uploads, runs, edits, deletes, proposes plans and stops them'],
  ['approver', 'also approves plans for real clusters and sets their permissions'],
  ['admin', 'also manages accounts, teams, all tokens and retention'],
];
const LOGINS = { password: 'password', none: 'no password yet', links: 'login links', provider: 'OpenID provider' };

const columns = [
  { title: 'Name', value: (a) => a.name, cell: (a) => [a.name, a.id === own ? ' (you)' : ''] },
  { title: 'Role', value: (a) => ROLES.findIndex(([role]) => role === a.role), cell: roleChoice },
  { title: 'Login method', value: (a) => a.login, cell: (a) => LOGINS[a.login] },
  { title: 'Created', value: (a) => a.created_at, cell: (a) => moment(a.created_at, '') },
  { title: 'Last login', value: (a) => a.last_login_at ?? '', cell: (a) => moment(a.last_login_at, 'never') },
  {
    title: 'State',
    value: (a) => Number(a.active),
    cell: (a) => (a.active ? 'active' : h('span', { class: 'muted' }, 'disabled')),
  },
  { title: '', cell: (a) => (a.id === own ? '' : h('div', { class: 'actions' }, buttons(a))) },
];

const list = new DataTable($('#list'), { name: 'accounts', columns });

function moment(at, otherwise) {
  return h('span', { class: 'muted nowrap' }, at ? wall(at) : otherwise);
}

/** The role as a choice; one's own is changed by another admin. */
function roleChoice(account) {
  if (account.id === own) return account.role;
  const roles = account.role ? ROLES : [['', ''], ...ROLES];
  const options = roles.map(([role]) => h('option', { value: role, selected: role === account.role }, role || 'none'));
  const onchange = (event) => change(account, { role: event.target.value });
  return h('select', { 'aria-label': `Role of ${account.name}`, onchange }, options);
}

function buttons(account) {
  const button = (text, onclick, kind = 'quiet') => h('button', { type: 'button', class: kind, onclick }, text);
  return [
    account.active && !['links', 'provider'].includes(account.login)
      ? button('Reset password', () => reset(account))
      : null,
    account.active
      ? button('Disable', () => disable(account), 'quiet danger')
      : button('Enable', () => change(account, { active: true })),
  ];
}

async function load() {
  const page = await get('/api/accounts/?size=200');
  $('#count').textContent = shown(page.results.length, page.count, page.count === 1 ? 'account' : 'accounts');
  list.paint(page.results);
}

/** The answer of `action`, and the list again; null with the sentence of its failure on the page. */
async function done(action) {
  let answer = null;
  try {
    answer = await action();
    fail(null);
  } catch (error) {
    fail(error);
  }
  await load(); // a choice that was refused shows its value again
  return answer;
}

const change = (account, values) => done(() => patch(`/api/accounts/${account.id}/`, values));

async function disable(account) {
  const question = `Disable the account ${account.name}? Its sessions end, and its tokens are refused.`;
  if (await confirmed(question, 'Disable')) await change(account, { active: false });
}

async function reset(account) {
  const question = `Reset the password of ${account.name}? The current password and all sessions end at once.`;
  if (!(await confirmed(question, 'Reset password'))) return;
  const made = await done(() => post(`/api/accounts/${account.id}/reset/`));
  if (made) show(made, `The password of ${made.name} was reset.`);
}

function form(root) {
  const name = field('Name', h('input', { id: 'name', maxlength: 150, autocomplete: 'off' }), 'Used to log in');
  const role = field(
    'Role',
    h(
      'select',
      { id: 'role' },
      ROLES.map(([value, about]) => h('option', { value }, `${capital(value)}: ${about}`)),
    ),
  );
  const problem = h('p', { class: 'error wide', role: 'alert', hidden: true });
  const button = h('button', { class: 'primary' }, 'Create account');
  fill(root, name.element, role.element, h('div', { class: 'actions' }, button), problem);
  onSubmit(root, button, problem, async () => {
    const made = await post('/api/accounts/', { name: name.value() ?? '', role: role.input.value });
    show(made, `The account ${made.name} was created.`);
    name.input.value = '';
    await load();
  });
}

function show(account, sentence) {
  const more =
    'Send this link to the owner of the account. It sets a password once, within a day, and is not shown again.';
  showOnce($('#made'), `${sentence} ${more}`, 'Link that sets the password', location.origin + account.link);
}

form($('#new'));
new PagePart('list of accounts').first($('#list'), load).catch(fail);
