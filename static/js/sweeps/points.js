// The points of a sweep as a table: one run each.

import { rowsOfPage, table } from '../ui/data-table.js';
import { $, fill, h, setText } from '../ui/dom.js';
import { stateMark } from '../ui/labels/state-mark.js';
import { pager } from '../ui/pager.js';
import { plural } from '../util/format.js';

const PAGE_SIZE = rowsOfPage(50);

export class Points {
  /** section: with the count, the table and the pager. */
  constructor(section) {
    this.section = section;
    this.page = 1;
  }

  /** points: of the API; shown: of shown.js. */
  paint(points, { metric, axes, text }) {
    const { section, page } = this;
    const rows = points.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE);
    const go = (to) => {
      this.page = to;
      this.paint(points, { metric, axes, text });
    };
    section.hidden = false; // once the height above it is known
    setText($('#count', section), plural(points.length, 'point'));
    fill($('#points-pager', section), pager({ page, size: PAGE_SIZE, count: points.length, rows: rows.length }, go));
    fill($('#points', section), table(columnsOf(metric, axes, text), rows));
  }
}

const columnsOf = (metric, axes, text) => [
  { title: 'Run', cell: ({ run }) => (run ? h('a', { href: `/runs/${run}/` }, `Run ${run}`) : '–') },
  { title: 'State', cell: ({ status }) => stateMark(status) },
  ...axes.map((axis, n) => ({
    title: axis.title,
    number: axis.values.every((value) => typeof value === 'number'),
    cell: ({ place }) => axis.text(axis.values[place[n]]),
  })),
  { title: 'Seed', number: true, cell: ({ seed }) => String(seed) },
  {
    title: metric.title,
    number: true,
    cell: ({ figures }) => ((figures[metric.key] ?? null) === null ? '–' : text(figures[metric.key])),
  },
];
