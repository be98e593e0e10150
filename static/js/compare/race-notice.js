// Notice about the race that the compared runs belong to.

import { get } from '../core/api.js';
import { tellRefused } from '../ui/address/query.js';
import { $, h } from '../ui/dom.js';

const UNRACED = 'The notice about the race is not shown.';

/** Shows the scenario of the race, and the schedulers that were left out. */
export async function showRace(id) {
  const found = await get(`/api/scenarios/${id}/race/`).catch((error) => tellRefused(error.message, UNRACED));
  if (!found) return;
  const others = found.left_out.filter(({ model }) => model);
  const unable = found.left_out.filter(({ model }) => !model);
  const out = [
    others.length
      ? [
          'Left out, because metrics of other execution models could not be ranked with these: ',
          reasons(others, ({ model }) => model),
        ]
      : null,
    unable.length ? ['Left out: ', reasons(unable, ({ reason }) => reason)] : null,
  ];
  $('#compared').prepend(
    h(
      'div',
      { class: 'notice', id: 'race' },
      `Race on “${found.name}”: all schedulers that support its cluster and trace, with the same seed. `,
      found.left_out.length ? out : 'All schedulers took part.',
    ),
  );
}

/** Schedulers by reason, those with the same one in one row. */
function reasons(left, of) {
  const by = new Map();
  for (const row of left) by.set(of(row), [...(by.get(of(row)) ?? []), row.title]);
  return h(
    'ul',
    {},
    [...by].map(([reason, titles]) => h('li', {}, h('strong', {}, titles.join(', ')), `: ${reason}`)),
  );
}
