// Notice about the race that the compared runs belong to.

import { get } from '../core/api.js';
import { tellRefused } from '../ui/address/query.js';
import { $, h } from '../ui/dom.js';

const UNRACED = 'The notice about the race is not shown.';

/** Shows the scenario of the race, and the schedulers that were left out. */
export async function showRace(id) {
  const found = await get(`/api/scenarios/${id}/race/`).catch((error) => tellRefused(error.message, UNRACED));
  if (!found) return;
  const by = new Map();
  for (const { title, reason } of found.left_out) by.set(reason, [...(by.get(reason) ?? []), title]);
  const out = [...by].map(([reason, those]) => h('li', {}, h('strong', {}, those.join(', ')), `: ${reason}.`));
  $('#compared').prepend(
    h(
      'div',
      { class: 'notice', id: 'race' },
      `Race on “${found.name}”: all schedulers that support its cluster and trace, with the same seed. `,
      out.length ? ['Left out:', h('ul', {}, out)] : 'All schedulers took part.',
    ),
  );
}
