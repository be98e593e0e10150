// Utility, cost and payoff of a decision, with the parts of the cost, most expensive first.

import { table } from '../../ui/data-table.js';
import { h } from '../../ui/dom.js';
import { amount, clock, fixed, number, significant } from '../../util/format.js';
import { costly } from './found-schedule.js';

/** values: of the decision; paid: whether the job was admitted at this cost; serverOf(index): a link to a server. */
export function payoffParts(values, info, paid, serverOf) {
  const { utility, cost, payoff, cost_by_resource: parts, cells } = values;
  const { names, units } = info;
  const box = (title, value, negative) =>
    h('div', { class: negative ? 'negative' : null }, h('span', {}, title), h('b', {}, amount(value)));
  const total = (parts ?? []).reduce((sum, part) => sum + part, 0);
  const resources = (parts ?? []).map((part, r) => [r, part]);
  const shownParts = costly(resources, ([, part]) => part);
  const shownCells = costly(cells ?? [], ([, , , , part]) => part);
  return [
    h(
      'div',
      { class: 'sum' },
      box('Utility', utility),
      box(paid ? 'Cost paid' : 'Cost at current prices', cost),
      box('Payoff = utility − cost', payoff, payoff <= 0),
    ),
    shownParts.length
      ? h(
          'section',
          {},
          h('h3', {}, 'Cost by resource'),
          table(
            [
              { title: 'Resource', cell: ([r]) => names[r] },
              { title: 'Cost', number: true, cell: ([, part]) => fixed(part) },
              { title: 'Share', number: true, cell: ([, part]) => `${((part / total) * 100).toFixed(1)} %` },
              {
                title: '',
                cell: ([, part]) =>
                  h('span', { class: 'meter' }, h('i', { css: { width: `${(part / total) * 100}%` } })),
              },
            ],
            shownParts,
          ),
        )
      : null,
    shownCells.length
      ? h(
          'section',
          {},
          h('h3', {}, 'Most expensive cells'),
          h('p', { class: 'muted small' }, 'The servers, resources and slots with the largest part of the cost.'),
          h(
            'div',
            { class: 'scroll' },
            table(
              [
                { title: 'Server', cell: ([server]) => serverOf(server) },
                { title: 'Resource', cell: ([, r]) => names[r] },
                { title: 'Slot', number: true, cell: ([, , slot]) => number(slot, 0) },
                { title: 'From', number: true, cell: ([, , slot]) => clock(slot * info.cluster.slot_ms) },
                { title: 'Price', number: true, cell: ([, r, , price]) => `${significant(price)} / ${units[r]}` },
                { title: 'Cost', number: true, cell: ([, , , , cost]) => fixed(cost) },
              ],
              shownCells,
              { cards: false },
            ),
          ),
        )
      : null,
  ];
}
