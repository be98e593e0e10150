// Utility, cost and payoff of a decision, with the parts of the cost, most expensive first.

import { table } from '../../ui/data-table.js';
import { h } from '../../ui/dom.js';
import { MIN_TWO_DECIMALS, amount, clock, fixed, number, significant } from '../../util/format.js';
import { costly } from './found-schedule.js';

const MAX_DIGITS = 6;

/**
 * Utility, cost and payoff as the sentence of the decision writes them (scheduling/slotted/reasons.py): with as many
 * decimals as it takes for the rounded ones to add up; one that would be 0 has three significant digits.
 *
 * @param {number} utility
 * @param {number} cost
 * @param {number} payoff
 */
function addingUp(utility, cost, payoff) {
  /** @param {number} value */
  const rounded = (value) => Number(value.toFixed(digits));
  let digits = decimalsOf(payoff);
  while (digits < MAX_DIGITS && rounded(rounded(utility) - rounded(cost)) !== rounded(payoff)) digits++;
  return [utility, cost, payoff].map((value) => (rounded(value) || !value ? fixed(value, digits) : significant(value)));
}

/** Decimals that distinguish a payoff from 0: two, or up to MAX_DIGITS. @param {number} payoff */
function decimalsOf(payoff) {
  const size = Math.abs(payoff);
  return payoff === 0 || size >= MIN_TWO_DECIMALS / 2 ? 2 : Math.min(MAX_DIGITS, 1 - Math.floor(Math.log10(size)));
}

/** values: of the decision; paid: whether the job was admitted at this cost; serverOf(index): a link to a server. */
export function payoffParts(values, info, paid, serverOf) {
  const { utility, cost, payoff, cost_by_resource: parts, cells } = values;
  const { names, units } = info;
  const box = (title, text, negative) =>
    h('div', { class: negative ? 'negative' : null }, h('span', {}, title), h('b', {}, text));
  const [utilityText, costText, payoffText] = addingUp(utility, cost, payoff);
  const total = (parts ?? []).reduce((sum, part) => sum + part, 0);
  const resources = (parts ?? []).map((part, r) => [r, part]);
  const shownParts = costly(resources, ([, part]) => part);
  const shownCells = costly(cells ?? [], ([, , , , part]) => part);
  return [
    h(
      'div',
      { class: 'sum' },
      box('Utility', utilityText), // of the best schedule at the decision, not the metric of a completed job
      box(paid ? 'Cost paid' : 'Cost at current prices', costText),
      box('Payoff = utility − cost', payoffText, payoff <= 0),
    ),
    shownParts.length
      ? h(
          'section',
          {},
          h('h3', {}, 'Cost by resource'),
          table(
            [
              { title: 'Resource', cell: ([r]) => names[r] },
              { title: 'Cost', number: true, cell: ([, part]) => amount(part) },
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
          h('h3', {}, 'Most expensive servers, resources and slots'),
          h('p', { class: 'muted small' }, 'Those with the largest parts of the cost.'),
          h(
            'div',
            { class: 'scroll' },
            table(
              [
                { title: 'Server', cell: ([server]) => serverOf(server) },
                { title: 'Resource', cell: ([, r]) => names[r] },
                { title: 'Slot', number: true, cell: ([, , slot]) => number(slot, 0) },
                { title: 'Start', number: true, cell: ([, , slot]) => clock(slot * info.cluster.slot_ms) },
                { title: 'Price', number: true, cell: ([, r, , price]) => `${significant(price)} / ${units[r]}` },
                { title: 'Cost', number: true, cell: ([, , , , cost]) => amount(cost) },
              ],
              shownCells,
              { cards: false },
            ),
          ),
        )
      : null,
  ];
}
