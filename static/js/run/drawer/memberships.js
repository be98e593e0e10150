// Co-location groups of a job, for the drawer: its states over time, its machines, and where its data were.

import { h } from '../../ui/dom.js';
import { clock, duration, number, percent, plural } from '../../util/format.js';
import { shown, table } from '../../ui/data-table.js';
import { stateMark } from '../../ui/labels/state-mark.js';

const MAX_ROWS = 60;

/** A section with the newest stretches; stretches as GET /api/runs/<id>/jobs/<job>/ gives them. */
export function membership(stretches) {
  const title = h('h2', {}, 'Group history');
  if (!stretches.length)
    return h('section', { class: 'step' }, title, h('p', { class: 'muted' }, 'The job has not been in a group yet.'));
  const last = stretches.at(-1);
  const rows = stretches.slice(-MAX_ROWS).reverse();
  const now =
    last.until_ms === null && last.group !== undefined
      ? h(
          'p',
          {},
          `Group ${last.group}: ${plural(last.machines, 'machine')} shared by ` +
            `${plural(last.jobs, 'job')}; CPU ${percent(last.cpu_utilization)}, network ` +
            `${percent(last.net_utilization)}. ` +
            `Iteration time ${duration(last.pace_ms)}. On disk: ` +
            `${percent(last.disk_ratio)} of the input, ${percent(last.model_disk_ratio)} of the ` +
            `model. In memory: ${number(last.memory_gb, 1)} GB per machine; the group uses ` +
            `${percent(last.memory_used)} of the usable memory.`,
        )
      : null;
  return h(
    'section',
    { class: 'step' },
    title,
    now,
    h(
      'p',
      { class: 'muted small' },
      `${shown(rows.length, stretches.length, 'intervals')}, newest first; amounts at the end of each`,
    ),
    h(
      'div',
      { class: 'scroll' },
      table(
        [
          { title: 'State', cell: (row) => stateMark(row.state) },
          { title: 'Start', number: true, cell: (row) => clock(row.from_ms) },
          { title: 'End', number: true, cell: (row) => (row.until_ms === null ? '–' : clock(row.until_ms)) },
          { title: 'Group', number: true, cell: (row) => (row.group === undefined ? '–' : number(row.group, 0)) },
          { title: 'Machines', number: true, cell: (row) => (row.group === undefined ? '–' : number(row.machines, 0)) },
          { title: 'Jobs', number: true, cell: (row) => (row.group === undefined ? '–' : number(row.jobs, 0)) },
          {
            title: 'Share on disk',
            number: true,
            cell: (row) => (row.group === undefined ? '–' : percent(row.disk_ratio)),
          },
          {
            title: 'Memory',
            number: true,
            cell: (row) => (row.group === undefined ? '–' : `${number(row.memory_gb, 1)} GB`),
          },
        ],
        rows,
      ),
    ),
  );
}
