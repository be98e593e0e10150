// The servers of a scenario as a table, with the edits of each: what the picture of the servers shows.

import { table } from '../../ui/data-table.js';
import { $, fill, h } from '../../ui/dom.js';
import { number, plural } from '../../util/format.js';

const MAX_ROWS = 500;

/**
 * Lets the button show and hide the table below the picture.
 *
 * @param {HTMLButtonElement} button
 * @param {HTMLElement} picture
 * @param {{name: string, site: string}[]} all
 * @param {Record<string, string>} edits of servers, by name
 */
export function serversTable(button, picture, all, edits) {
  const rows = all.slice(0, MAX_ROWS);
  const total = plural(all.length, 'server');
  button.onclick = () => {
    const box = $('#server-table') ?? h('div', { id: 'server-table', class: 'scroll', hidden: true });
    if (!box.isConnected) picture.after(box);
    box.hidden = !box.hidden;
    button.setAttribute('aria-pressed', String(!box.hidden));
    fill(
      box,
      h(
        'p',
        { class: 'muted small' },
        all.length > rows.length ? `First ${number(rows.length, 0)} of ${total}` : total,
      ),
      table(
        [
          { title: 'Server', cell: ({ name }) => name },
          { title: 'Site', cell: ({ site }) => site },
          { title: 'Edits', cell: ({ name }) => edits[name] ?? '' },
        ],
        rows,
      ),
    );
  };
}
