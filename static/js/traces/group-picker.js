// Queues (virtual clusters, partitions) of a trace to choose from: check boxes with counts, a filter, all and none.

import { h } from '../ui/dom.js';
import { number, plural } from '../util/format.js';

/**
 * groups: [[name, jobs], ...]; the one without a name holds the rest. {element, chosen(),
 * filter}
 */
export function groupsField(groups, onChange) {
  const named = groups.filter(([name]) => name !== '');
  const rest = groups.reduce((sum, [name, jobs]) => sum + (name === '' ? jobs : 0), 0);
  const rows = named.map(([name, jobs], i) => {
    const input = h('input', { type: 'checkbox', id: `group-${i}`, checked: true, value: name });
    const row = h(
      'label',
      { class: 'pick-row', for: input.id },
      input,
      h('span', { class: 'name' }, name),
      h('span', { class: 'count' }, number(jobs, 0)),
    );
    return { name, input, row };
  });
  const summary = h('span', { class: 'muted small' });
  const filter = h('input', {
    type: 'search',
    id: 'group-filter',
    placeholder: 'Filter',
    'aria-label': 'Filter queues by name',
  });
  const list = h(
    'div',
    { class: 'pick-list', role: 'group', 'aria-label': 'Queues', tabindex: 0 },
    rows.map(({ row }) => row),
  );
  const count = () => rows.filter(({ input }) => input.checked).length;
  const changed = () => {
    summary.textContent =
      `${number(count(), 0)} of ${plural(rows.length, 'queue')} ` +
      `selected${rest ? `; select all to include ${plural(rest, 'job')} in other queues or in none` : ''}`;
    onChange();
  };
  const set = (on) => () => {
    for (const { input, row } of rows) if (!row.hidden) input.checked = on;
    changed();
  };
  filter.addEventListener('input', () => {
    const wanted = filter.value.trim().toLowerCase();
    for (const { name, row } of rows) row.hidden = !name.toLowerCase().includes(wanted);
  });
  list.addEventListener('change', changed);
  const element = h(
    'fieldset',
    { class: 'field groups' },
    h('legend', {}, 'Queues (virtual clusters, partitions)'),
    h(
      'div',
      { class: 'bar' },
      filter,
      h('button', { type: 'button', onclick: set(true) }, 'All'),
      h('button', { type: 'button', onclick: set(false) }, 'None'),
    ),
    list,
    summary,
  );
  const chosen = () =>
    count() === rows.length ? null : rows.filter(({ input }) => input.checked).map(({ name }) => name);
  summary.textContent = `${number(rows.length, 0)} of ${plural(rows.length, 'queue')} selected`;
  return { element, chosen, names: rows.map(({ name }) => name) };
}
