// Findings that need attention, as list items: open alerts, or what the rules of alerts find in an ended run.

import { h } from '../ui/dom.js';
import { codeText } from '../ui/labels/code-text.js';
import { number, wall } from '../util/format.js';

const MAX_ITEMS = 8; // the page Alerts has all of them

/**
 * The points as list items: first those that are still the case, the unacknowledged before the others. elsewhere:
 * points of other live clusters, with their `cluster`.
 */
export function attentionItems(points, elsewhere = []) {
  const fine = points.length ? [] : [h('li', { class: 'fine' }, 'Nothing in this run needs attention')];
  return [...fine, ...listed([...ordered(points), ...ordered(elsewhere)])];
}

function ordered(points) {
  const place = ({ found, acknowledged }) => 2 * Number(!found) + Number(acknowledged);
  return [...points].sort((a, b) => place(a) - place(b));
}

function listed(sorted) {
  const rest = sorted.length - MAX_ITEMS;
  const items = sorted.slice(0, MAX_ITEMS).map(item);
  return rest > 0 ? [...items, h('li', {}, h('a', { href: '/alerts/' }, `${number(rest, 0)} more`))] : items;
}

function item({ cluster, level, rule, sentence, address, began_at: began, acknowledged, found }) {
  const properties = { class: level, 'data-rule': rule, title: began ? `Alert since ${wall(began)}` : null };
  const text = address ? h('a', { href: address }, codeText(sentence)) : codeText(sentence);
  const notes = [acknowledged && ', acknowledged', !found && ', no longer the case'].filter(Boolean);
  return h(
    'li',
    properties,
    cluster ? `${cluster}: ` : '',
    text,
    notes.length ? h('span', { class: 'muted' }, notes.join('')) : null,
  );
}
