// Teams: the list with members and what each team owns, a form for a new one, and a form that moves an object.

import { get, post, remove } from '../core/api.js';
import { confirmed } from '../ui/confirm.js';
import { DataTable, empty, shown } from '../ui/data-table.js';
import { $, fill, h } from '../ui/dom.js';
import { field } from '../ui/fields/form-field.js';
import { onSubmit } from '../ui/fields/submission.js';
import { PagePart } from '../ui/failures/page-part.js';
import { failureLine } from '../ui/failures/failure-line.js';
import { plural } from '../util/format.js';

const fail = failureLine($('#list-error'));
const MOVED_TYPES = [
  ['scenario', 'Scenario with its runs'],
  ['sweep', 'Sweep with its runs'],
  ['trace', 'Trace'],
  ['cluster', 'Cluster'],
  ['connection', 'Live cluster with its runs'],
];
const NOUNS = { connection: 'live cluster' };
const choice = h('select', { id: 'team' });
let accounts = [];

const columns = [
  { title: 'Team', value: (t) => t.name, cell: (t) => t.name },
  { title: 'Members', wide: true, cell: membersOf },
  { title: 'Objects', wide: true, cell: ownsText },
  { title: '', cell: (t) => button('Remove', () => drop(t), 'quiet danger') },
];
const list = new DataTable($('#list'), { name: 'teams', columns });

function button(text, onclick, kind = 'quiet') {
  return h('button', { type: 'button', class: kind, onclick }, text);
}

function membersOf(team) {
  const known = new Set(team.members.map((member) => member.id));
  const others = accounts.filter((account) => !known.has(account.id));
  const options = others.map((account) => h('option', { value: account.id }, account.name));
  const onchange = (event) => done(() => post(`/api/teams/${team.id}/join/`, { account: Number(event.target.value) }));
  const out = (member) => () => done(() => post(`/api/teams/${team.id}/leave/`, { account: member.id }));
  return h(
    'div',
    { class: 'actions' },
    team.members.map((member) =>
      member.provided
        ? h('span', { class: 'chip', title: 'Member through a group of the OpenID provider' }, member.name)
        : h(
            'button',
            { type: 'button', class: 'quiet', title: `Remove from ${team.name}`, onclick: out(member) },
            `${member.name} ×`,
          ),
    ),
    others.length
      ? h('select', { 'aria-label': `Add a member to ${team.name}`, onchange }, h('option', {}, 'Add …'), options)
      : null,
  );
}

function ownsText({ owns }) {
  const parts = Object.entries(owns).filter(([, count]) => count);
  return parts.length
    ? parts.map(([kind, count]) => plural(count, NOUNS[kind] ?? kind)).join(', ')
    : h('span', { class: 'muted' }, 'nothing');
}

async function load() {
  const [page, people] = await Promise.all([get('/api/teams/?size=200'), get('/api/accounts/?size=200')]);
  accounts = people.results;
  $('#count').textContent = shown(page.results.length, page.count, page.count === 1 ? 'team' : 'teams');
  const about = 'A team decides who sees which objects; without teams all users see all objects.';
  list.paint(page.results, { none: empty('No teams yet', about, ['Create a team', '#new']) });
  const kept = choice.value;
  const options = page.results.map((team) => h('option', { value: team.id }, team.name));
  fill(choice, h('option', { value: '' }, 'Everybody'), options);
  if (page.results.some((team) => String(team.id) === kept)) choice.value = kept;
}

/** The list again after `action`; the sentence of its failure stays on the page. */
async function done(action) {
  try {
    await action();
    fail(null);
  } catch (error) {
    fail(error);
  }
  await load();
}

async function drop(team) {
  if (await confirmed(`Remove the team ${team.name}?`, 'Remove')) await done(() => remove(`/api/teams/${team.id}/`));
}

/** Fills the form; `send` returns after the server has taken it. */
function form(root, fields, text, send) {
  const problem = h('p', { class: 'error wide', role: 'alert', hidden: true });
  const submit = h('button', { class: 'primary' }, text);
  fill(root, fields, h('div', { class: 'actions' }, submit), problem);
  onSubmit(root, submit, problem, async () => {
    await send();
    await load();
  });
}

const name = field('Name', h('input', { id: 'name', maxlength: 80, autocomplete: 'off' }));
form($('#new'), [name.element], 'Create team', async () => {
  await post('/api/teams/', { name: name.value() ?? '' });
  name.input.value = '';
});

const options = MOVED_TYPES.map(([value, text]) => h('option', { value }, text));
const kind = field('Kind', h('select', { id: 'kind' }, options));
const key = field(
  'Number or name',
  h('input', { id: 'key', maxlength: 80 }),
  'As in the address of its page; for a live cluster, its name',
);
const target = field('New owner', choice);
form($('#move'), [kind.element, key.element, target.element], 'Move', async () => {
  $('#moved').textContent = '';
  const team = target.input.value ? Number(target.input.value) : null;
  const made = await post('/api/teams/move/', { kind: kind.input.value, key: key.value() ?? '', team });
  const where = choice.selectedOptions[0]?.textContent ?? '';
  $('#moved').textContent = `${made.name} now belongs to ${team ? `the team ${where}` : 'everybody'}.`;
});

new PagePart('list of teams').first($('#list'), load).catch(fail);
