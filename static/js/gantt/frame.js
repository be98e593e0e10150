// Frame of the Gantt: the visible rows, their positions on the canvas, and the bars near a point.

import { endAt, validAt } from '../core/columns/bars.js';

import { MAX_ROW_PX } from './assigned-sub-rows.js';

const MAX_DETAIL_BARS = 8000; // beyond, rows are shaded
const MIN_SUB_ROW_PX = 1.5; // a row whose sub-rows are lower is shaded

/**
 * One visible row. how: 'none' of a heading, 'owned' by a layer that paints it in place of its bars, 'bars' or 'shade'.
 * low, high: positions in row.sorted of the bars that may be visible. subRows: their number, only of 'bars'.
 *
 * @typedef {{row: any, y: number, low: number, high: number, how: string, subRows: number, subRowPx: number,
 *   gap: number}}
 * RowView
 */

export class Frame {
  /** rows: of the Gantt; the rest is the page's. */
  constructor({ store, info, view, playhead, rows }) {
    this.store = store;
    this.info = info;
    this.view = view;
    this.playhead = playhead;
    this.rows = rows;
    this.detail = ''; // 'bars' | 'shade'
    this.visible = 0; // bars that may be in view, with those of former plans
    this.low = 0; // rows that are shaded because they are too low for their sub-rows
    this.hidesPs = false; // whether some rows are too low for their parameter servers
    this.selected = null; // job
    this.also = new Set(); // further selected jobs
    this.marked = null; // [job] 1 for highlighted jobs
    this.views = [];
    this.texts = []; // [x, y, width, height] of texts that no other text may cover, in the order of painting
    this.first = 0; // position of the first visible row among all
  }

  /**
   * Lays out the rows between the px `top` and the plot's height. owned(row): whether a layer paints it in place of its
   * bars.
   */
  lay({ area, top, rowPx, c, paint, owned }) {
    this.area = area;
    this.top = top;
    this.rowPx = rowPx;
    this.c = c;
    this.paint = paint;
    this.texts = [];
    this.from = this.view.from;
    this.p = this.playhead.ms;
    this.pxPerMs = (area.right - area.left) / (this.view.to - this.view.from);
    const { list } = this.rows;
    const first = Math.max(0, Math.floor(top / rowPx));
    const last = Math.min(list.length, Math.ceil((top + area.bottom - area.top) / rowPx));
    this.first = first;
    this.y0 = area.top + first * rowPx - top;
    this.views = list.slice(first, last).map((row, i) => this.#view(row, this.y0 + i * rowPx, owned));
    this.visible = this.views.reduce((sum, { low, high }) => sum + high - low, 0);
    this.#choose();
    const hidden = ({ row }) => row.typed && this.rows.subRows.of(row, rowPx) < row.subRows;
    this.hidesPs = this.rows.anyPs && this.views.some(hidden);
  }

  /** Text that changes with what the notes and the legend of the schedule state. */
  get signature() {
    const kinds = new Set(this.views.map(({ row, how }) => `${row.kind} ${how}`));
    return [this.detail, this.visible, this.narrow, this.hidesPs, this.low, this.tallest, this.first, ...kinds].join();
  }

  /** True if the rows are at least MAX_ROW_PX high, so that no hint to make them taller is given. */
  get tallest() {
    return this.rowPx >= MAX_ROW_PX;
  }

  /** Number of bars in view that are valid at the time shown. */
  get inView() {
    let number = 0;
    this.#eachInView(() => number++);
    return number;
  }

  /**
   * True if more than half of the bars that are drawn are shorter than a pixel and therefore drawn one pixel wide. The
   * value is computed at each drawing, so the bars of shaded rows, of which there can be millions, are not counted.
   */
  get narrow() {
    if (this.detail !== 'bars') return false;
    const { bars } = this.store;
    const least = 1 / this.pxPerMs;
    let [short, all] = [0, 0];
    this.#eachInView((bar) => {
      all++;
      if (endAt(bars, bar, this.p) - bars.start_ms[bar] < least) short++;
    });
    return short > all / 2;
  }

  /** Calls visit(bar) for each bar in view that is valid at the time shown. */
  #eachInView(visit) {
    const { bars } = this.store;
    for (const { row, low, high, how } of this.views) {
      if (how === 'none') continue;
      for (let i = low; i < high; i++) {
        const bar = row.sorted[i];
        if (bars.end_ms[bar] > this.from && validAt(bars, bar, this.p)) visit(bar);
      }
    }
  }

  #view(row, y, owned) {
    const [low, high] = this.rows.window(row, this.view.from, this.view.to);
    const how = row.kind === 'site' ? 'none' : owned(row) ? 'owned' : 'shade';
    return { row, y, low, high, how, subRows: 0, subRowPx: 0, gap: 0 };
  }

  /** Bars if they are few and rows are high enough; if many rows are too low, all are shaded. */
  #choose() {
    const open = this.views.filter(({ how }) => how === 'shade');
    this.detail = 'shade';
    this.low = 0;
    if (open.reduce((sum, { low, high }) => sum + high - low, 0) > MAX_DETAIL_BARS) return;
    for (const each of open) this.#sizeSubRows(each);
    const low = open.filter(({ subRows }) => (this.rowPx - 2) / subRows < MIN_SUB_ROW_PX);
    this.low = low.length;
    if (this.rows.order !== 'jobs' && low.length > this.views.length / 5) return;
    this.detail = 'bars';
    for (const each of open) if (!low.includes(each)) each.how = 'bars';
  }

  #sizeSubRows(each) {
    const { rowPx } = this;
    each.subRows = each.row.kind === 'job' ? jobSubRows(rowPx) : this.rows.subRows.of(each.row, rowPx);
    each.subRowPx = (rowPx - (rowPx > 8 ? 2 : 1)) / each.subRows;
    each.gap = each.subRowPx >= 6 ? 1 : 0;
  }

  /** px of a time. */
  xOf(ms) {
    return this.area.left + (ms - this.from) * this.pxPerMs;
  }

  /** [x, right] of an interval, clipped to the plot; null outside. */
  spanOf(from, until) {
    const x = Math.max(this.area.left, this.xOf(from));
    const right = Math.min(this.area.right, this.xOf(until));
    return right > x ? [x, right] : null;
  }

  /** True if a job is dimmed: another one is selected, or others were found by a search. */
  dims(job) {
    if (this.selected === null) return this.marked !== null && !this.marked[job];
    return this.selected !== job && !this.also.has(job);
  }

  /** The sub-row of a bar in its row. */
  subRowOf({ row }, bar) {
    return row.kind === 'job' ? Number(this.store.bars.role[bar] === 1) : this.rows.subRows.at(bar);
  }

  /**
   * Calls visit(bar, subRow, x, right) for each bar of a row of bars that is valid at the time shown and has a sub-row.
   */
  eachBar(each, visit) {
    const { bars } = this.store;
    const { left, right: end } = this.area;
    for (let i = each.low; i < each.high; i++) {
      const bar = each.row.sorted[i];
      if (bars.end_ms[bar] <= this.from || !validAt(bars, bar, this.p)) continue;
      const subRow = this.subRowOf(each, bar);
      if (subRow >= each.subRows || this.rows.subRows.copiesOf(bar) === 0) continue;
      const x = Math.max(left - 2, left + (bars.start_ms[bar] - this.from) * this.pxPerMs);
      const right = Math.min(end + 2, left + (endAt(bars, bar, this.p) - this.from) * this.pxPerMs);
      visit(bar, subRow, x, right);
    }
  }

  /** [x, y, width, height] of a bar between x and right on a sub-row. */
  rectOf({ y, subRowPx, gap }, subRow, x, right) {
    const width = right - x - (right - x > 4 ? 1 : 0);
    return [x, y + subRow * subRowPx + gap / 2, Math.max(width, 1), Math.max(1, subRowPx - gap)];
  }

  /**
   * Row and time at a point of the canvas: {row, how, t, slack: ms of a pixel, subRow}; null outside the plot.
   */
  at(x, y) {
    const { area } = this;
    if (!area || x < area.left || x > area.right || y < area.top || y > area.bottom) return null;
    const position = (y - area.top + this.top) / this.rowPx;
    const row = this.rows.list[Math.floor(position)];
    if (!row) return null;
    const shown = this.views.find((each) => each.row === row);
    const subRow = Math.floor((position % 1) * (shown?.subRows ?? 0));
    return {
      row,
      how: shown?.how ?? 'none',
      subRow,
      t: this.from + (x - area.left) / this.pxPerMs,
      slack: 1 / this.pxPerMs,
    };
  }

  /**
   * The bars at a point that `at` found, those on its sub-row first. Of bars narrower than a pixel, which are drawn
   * wider, those within a pixel of it.
   */
  barsAt({ row, t, slack, subRow, how }) {
    const { bars } = this.store;
    const found = [];
    const [low, high] = this.rows.window(row, t - slack, t + slack);
    for (let i = low; i < high; i++) {
      const bar = row.sorted[i];
      const [start, end] = [bars.start_ms[bar], endAt(bars, bar, this.p)];
      const reach = end - start < slack ? slack : 0;
      if (start <= t + reach && end > t - reach && validAt(bars, bar, this.p)) found.push(bar);
    }
    const { subRows } = this.rows;
    if (how === 'bars' && row.kind === 'server')
      found.sort((a, b) => Math.abs(subRows.at(a) - subRow) - Math.abs(subRows.at(b) - subRow));
    return found;
  }

  jobName(job) {
    return this.info.ids?.[job] ?? `job ${job}`;
  }

  serverName(server) {
    return server === -2 ? 'cloud' : (this.info.cluster.servers[server]?.name ?? '–');
  }
}

/** Rows of jobs show workers, and below them parameter servers where there is room. */
function jobSubRows(rowPx) {
  return rowPx >= 10 ? 2 : 1;
}
