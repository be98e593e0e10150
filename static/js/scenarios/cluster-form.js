// Form of a cluster: rows of count x type x site, with live sums.

import { post } from '../core/api.js';
import { RESOURCES, clusterOf, placeOf, problems, sums } from './cluster-builder.js';
import { SITES } from '../util/capacity.js';
import { fill, h } from '../ui/dom.js';
import { number } from '../util/format.js';
import { empty, table } from '../ui/data-table.js';
import { field, numberField } from '../ui/fields/form-field.js';

const ROLES = [
  ['worker', 'workers'],
  ['ps', 'parameter servers'],
];
const START = { count: 8, type: 'gpu8', site: 'edge', gpu: 8, cpu: 96, memory: 512, storage: 4000, bandwidth: 25 };
const MINUTE_MS = 60_000;
const REPEAT_MS = 1000; // Enter once more within this time means the same cluster, which is stored by then

/** Renders `form`; onMade(cluster) is called after it is stored. */
export function clusterForm(form, onMade) {
  const name = field('Name', h('input', { id: 'n-name', maxlength: 200 }));
  const slot = numberField('n-slot', 'Slot length, min', {
    min: 0,
    value: 60,
    help: 'Duration of a slot of slotted schedulers',
  });
  const horizon = numberField('n-horizon', 'Horizon, slots', {
    whole: true,
    min: 1,
    placeholder: 'none',
    help: 'Schedulers that plan ahead reject jobs that cannot finish within it',
  });
  const box = h('div', { class: 'machine-rows' });
  const sum = h('div', { class: 'scroll', id: 'sums', 'aria-live': 'polite' });
  const errorLine = h('p', { class: 'error', role: 'alert', hidden: true });
  const go = h('button', { class: 'primary' }, 'Create cluster');
  const plus = h('button', { type: 'button', id: 'add-row', onclick: () => (add(next()), sync()) }, 'Add row');
  const rows = [];
  let made = 0;
  let madeAt = -Infinity; // when a cluster was stored last; in ms of the page
  let tried = false; // errors are shown after the first attempt

  function next() {
    const last = rows.at(-1);
    return last ? { ...last.values(), type: `type${made + 1}` } : START;
  }

  function add(start) {
    const n = ++made;
    const id = (key) => `r${n}-${key}`;
    const number_ = (key, title, options) =>
      numberField(id(key), title, { min: 0, value: start[key] ?? 0, ...options });
    /** @type {Record<string, any>} */
    const fields = {
      count: number_('count', 'Count', { whole: true, min: 1 }),
      type: field('Type', h('input', { id: id('type'), maxlength: 80, value: start.type })),
      site: field(
        'Site',
        h(
          'select',
          { id: id('site') },
          SITES.map((site) => h('option', { value: site, selected: site === start.site }, site)),
        ),
      ),
      ...Object.fromEntries(RESOURCES.map(([key, title]) => [key, number_(key, title)])),
    };
    const checks = ROLES.map(([role, title]) => {
      const input = h('input', { type: 'checkbox', id: id(role), checked: !start.roles || start.roles.includes(role) });
      return { role, input, label: h('label', { class: 'check', for: input.id }, input, title) };
    });
    const roleProblem = h('span', { class: 'error', role: 'alert', hidden: true });
    const roles = h(
      'fieldset',
      { class: 'field roles' },
      h('legend', {}, 'Roles'),
      checks.map(({ label }) => label),
      roleProblem,
    );
    fields.roles = { say: (text) => ((roleProblem.textContent = text), (roleProblem.hidden = !text)) };
    const element = h(
      'div',
      { class: 'machine-row', role: 'group', 'aria-label': `Servers, row ${n}` },
      ['count', 'type', 'site', ...RESOURCES.map(([key]) => key)].map((key) => fields[key].element),
      roles,
      h(
        'button',
        { type: 'button', class: 'quiet danger', 'aria-label': `Remove row ${n}`, onclick: () => drop(row) },
        'Remove',
      ),
    );
    const row = {
      element,
      fields,
      values: () => ({
        count: fields.count.value() ?? NaN,
        type: fields.type.input.value.trim(),
        site: fields.site.input.value,
        roles: checks.filter(({ input }) => input.checked).map(({ role }) => role),
        ...Object.fromEntries(RESOURCES.map(([key]) => [key, fields[key].value() ?? NaN])),
      }),
    };
    rows.push(row);
    box.append(element);
  }

  function drop(row) {
    rows.splice(rows.indexOf(row), 1);
    row.element.remove();
    sync();
    plus.focus();
  }

  function given() {
    return {
      name: name.input.value.trim(),
      slot_ms: Math.round((slot.value() ?? NaN) * MINUTE_MS),
      horizon_slots: horizon.value(),
      rows: rows.map((row) => {
        const { count, type, site, roles, ...capacity } = row.values();
        return { count, type, site, roles, capacity };
      }),
    };
  }

  /** Writes each sentence beside its field; those of the rows as a whole below them. */
  function show(found) {
    const top = { name, slot, horizon };
    for (const one of Object.values(top)) one.say('');
    for (const row of rows) for (const one of Object.values(row.fields)) one.say('');
    errorLine.hidden = true;
    for (const [row, key, sentence] of found) {
      const place = row === null ? top[key] : rows[row].fields[key];
      if (place) place.say(sentence);
      else {
        errorLine.hidden = false;
        errorLine.textContent = sentence;
      }
    }
  }

  function sync() {
    const now = given();
    const counted = sums(now.rows.filter((row) => row.count > 0));
    const column = (key, title) => ({ title, number: true, cell: (total) => number(total[key], 1) });
    fill(
      sum,
      counted.length
        ? table(
            [
              { title: 'Site', cell: ({ site }) => site },
              column('servers', 'Servers'),
              ...RESOURCES.map(([key, title]) => column(key, title)),
            ],
            withTotal(counted),
          )
        : empty('No servers yet', 'A cluster has at least one server.', ['Add a row', () => plus.click()]),
    );
    if (tried) show(problems(now));
  }

  form.addEventListener('input', sync);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (event.timeStamp - madeAt < REPEAT_MS) return;
    tried = true;
    const now = given();
    const found = problems(now);
    show(found);
    if (found.length) return form.querySelector('[aria-invalid]')?.focus();
    go.disabled = true;
    try {
      onMade(await post('/api/clusters/?from=form', clusterOf(now)));
      tried = false;
      madeAt = performance.now();
      name.input.value = '';
    } catch (error) {
      show([[...placeOf(error.message, now.rows), error.message]]);
    } finally {
      go.disabled = false;
    }
  });
  fill(
    form,
    h('div', { class: 'form' }, name.element, slot.element, horizon.element),
    box,
    h('div', { class: 'bar' }, plus),
    sum,
    errorLine,
    h('div', { class: 'bar' }, go),
  );
  add(START);
  sync();
}

function withTotal(counted) {
  if (counted.length < 2) return counted;
  const total = { site: 'together', servers: 0 };
  for (const site of counted)
    for (const [key, value] of Object.entries(site)) if (key !== 'site') total[key] = (total[key] ?? 0) + value;
  return [...counted, total];
}
