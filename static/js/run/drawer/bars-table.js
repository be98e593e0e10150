// The bars of a job as a table.

import { OPEN, roleName } from '../../core/columns/bars.js';
import { shown, table } from '../../ui/data-table.js';
import { h } from '../../ui/dom.js';
import { clock, number } from '../../util/format.js';

const MAX_BARS = 60;

/** story: from the API; serverOf(index): a link to a server. null if no bar is left in the plan. */
export function barsTable(story, serverOf) {
  const at = Object.fromEntries((story.bar_fields ?? []).map((name, i) => [name, i]));
  const bars = (story.bars ?? []).filter((bar) => bar[at.died_ms] < 0).sort((a, b) => a[at.start_ms] - b[at.start_ms]);
  if (!bars.length) return null;
  return h(
    'section',
    {},
    h('h3', {}, 'Bars'),
    h('p', { class: 'muted small' }, shown(Math.min(MAX_BARS, bars.length), bars.length, 'bars')),
    h(
      'div',
      { class: 'scroll' },
      table(
        [
          { title: 'Role', cell: (bar) => roleName(bar[at.role]) },
          { title: 'Server', cell: (bar) => serverOf(bar[at.server]) },
          { title: 'Count', number: true, cell: (bar) => number(bar[at.count], 0) },
          { title: 'Start', number: true, cell: (bar) => clock(bar[at.start_ms]) },
          { title: 'End', number: true, cell: (bar) => (bar[at.end_ms] < OPEN ? clock(bar[at.end_ms]) : 'open') },
        ],
        bars.slice(0, MAX_BARS),
        { cards: false },
      ),
    ),
  );
}
