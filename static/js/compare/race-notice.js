// Message about the race that the compared runs belong to.

import { get } from '../core/api.js';
import { tellRefused } from '../ui/address/query.js';
import { $, h } from '../ui/dom.js';
import { number, plural } from '../util/format.js';

const UNRACED = 'The message about the race is not shown.';

/** Shows the scenario of the race of these runs, and the schedulers that were left out. */
export async function showRace(id, runs) {
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
      `Race on “${found.name}”: ${entered(found.able, runs)} support its cluster and trace, with the same seed. `,
      out,
    ),
  );
}

/** 'all 11 schedulers that', or '3 of 11 schedulers that' where some were chosen. */
function entered(able, runs) {
  const raced = new Set(runs.map(({ scheduler }) => scheduler));
  const count = able.filter(({ scheduler }) => raced.has(scheduler)).length;
  const all = plural(able.length, 'scheduler');
  return count < able.length ? `${number(count, 0)} of ${all} that` : `all ${all} that`;
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
