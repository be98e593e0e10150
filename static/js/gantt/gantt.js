// The Gantt: an empty Chart.js scatter chart for the axes, and a loop over layers that paint its rows.
//
// Few visible bars are rectangles, in sub-rows if the row is high enough. With many bars, and in rows too low
// for their sub-rows (frame.js decides), each pixel is shaded: by the allocated share of the most allocated
// resource, or in rows without a capacity by the number of workers (run/schedule/schedule-note.js).

import { gestures } from '../charts/parts/gestures.js';
import { applyTheme, syncRange, timeChart } from '../charts/parts/time-chart.js';
import { redraw } from '../core/render-loop.js';
import { validAt } from '../core/columns/bars.js';
import { inPanel } from '../ui/failures/panel-isolation.js';
import { colors, onTheme } from '../util/colors.js';
import { byJob } from './bar-colors.js';
import { Frame } from './frame.js';
import { commonLayers } from './layers/index.js';
import { paintRowNames } from './row-names.js';
import { Pointer } from './pointer.js';
import { MAX_ROW_PX } from './assigned-sub-rows.js';
import { MIN_ROW_PX, fittedPx } from './row-fit.js';
import { Rows } from './rows.js';

export class Gantt {
  /**
   * canvas; models: the execution models of the run, each with layers(context) and subRows(server); scroller: the
   * element whose scrollbar moves the rows; tip: the tooltip; onPick(job, more: with Ctrl, beside the others);
   * onServer(server);
   * onFrame({servers, from, to}) after servers and a range of time were framed with Alt, onFrame({why}) where the frame
   * holds none; paint(job, colors) -> [fill, ink].
   */
  constructor(
    canvas,
    /** @type {any} */ {
      store,
      info,
      models,
      view,
      playhead,
      scroller,
      tip,
      order = 'servers',
      onPick,
      onServer,
      onFrame,
      paint = byJob().paint,
    },
  ) {
    this.canvas = canvas;
    this.store = store;
    this.info = info;
    this.view = view;
    this.playhead = playhead;
    this.scroller = scroller;
    this.tip = tip;
    this.onPick = onPick;
    this.onServer = onServer;
    this.onFrame = onFrame;
    this.paint = paint;
    this.rows = new Rows(store, info, order, models);
    this.rowPx = null; // null = fit the height
    this.top = 0; // px scrolled
    this.selected = null; // job
    this.also = new Set(); // further selected jobs
    this.marked = null; // [job] 1 for search results; the others are dimmed
    /** @type {((folded: Set<number>) => void) | null} */
    this.onFold = null;
    this.onDetail = null; // called when the note below the schedule may have changed
    this.shown = ''; // what the note states and the count of rows, as of the last drawing
    this.frame = new Frame(this);
    this.pointer = new Pointer(this);
    this.draw = inPanel(canvas, () => this.#draw());
    const context = { store, info, view, redraw: () => redraw(this.draw) };
    const layers = [...commonLayers(context), ...models.flatMap((model) => model.layers(context))];
    this.layers = layers.sort((a, b) => a.level - b.level);
    const y = {
      type: 'linear',
      min: 0,
      max: 1,
      reverse: true,
      border: { display: false },
      grid: { display: false },
      ticks: { display: false },
    };
    const plugin = { id: 'gantt', beforeDatasetsDraw: (chart) => this.#paint(chart) };
    this.chart = timeChart(canvas, view, playhead, {
      type: 'scatter',
      data: { datasets: [{ data: [] }] },
      y,
      plugins: [plugin],
      padTop: 8,
    });
    this.#listen();
  }

  #listen() {
    const { canvas, view, playhead, scroller, pointer } = this;
    gestures(canvas, view, () => this.chart.chartArea, {
      scroll: (px) => this.scrollBy(px),
      click: (x, y, more) => pointer.click(x, y, more),
      hover: (x, y) => pointer.hover(x, y),
      frame: this.onFrame ? (box, done) => pointer.select(box, done) : null,
    });
    scroller.addEventListener('scroll', () => {
      if (Math.abs(scroller.scrollTop - this.top) < 1) return;
      this.top = scroller.scrollTop;
      this.update();
    });
    for (const name of ['range', 'cursor']) view.addEventListener(name, () => this.update());
    for (const name of ['move', 'state']) playhead.addEventListener(name, () => this.update());
    onTheme(() => {
      applyTheme(this.chart);
      this.stale = true;
      this.update();
    });
  }

  /** The layer with that name. */
  layer(name) {
    return this.layers.find((layer) => layer.name === name);
  }

  /** The store has changed. */
  update() {
    redraw(this.draw);
  }

  setOrder(order) {
    this.rows.order = order;
    this.rows.folded.clear();
    this.#rebuilt();
  }

  /** Shows only rows whose name contains the text. */
  setQuery(text) {
    this.rows.query = text.trim().toLowerCase();
    this.#rebuilt();
  }

  select(job) {
    this.selected = job;
    this.also.clear();
    redraw(this.draw);
  }

  /** Adds a job to the selection, or removes it. */
  add(job) {
    if (this.selected === null || job === this.selected) return this.select(job);
    if (!this.also.delete(job)) this.also.add(job);
    redraw(this.draw);
  }

  /** True if rows are shaded and none has single bars, which have colours. */
  get allShaded() {
    const { views } = this.frame;
    return views.some(({ how }) => how === 'shade') && !views.some(({ how }) => how === 'bars' || how === 'owned');
  }

  /** The selected jobs. */
  get chosen() {
    return this.selected === null ? [] : [this.selected, ...this.also];
  }

  /** Folds every site into one row, or opens them; of queues or users, opens each into a row for each job. */
  fold(all) {
    const able = this.rows.list.filter(({ fold }) => fold !== undefined && fold !== null);
    this.rows.folded = new Set(all ? able.map(({ index }) => index) : []);
    this.#rebuilt();
  }

  /** Highlights the jobs with a 1; null: none. */
  mark(marked) {
    this.marked = marked;
    redraw(this.draw);
  }

  /** Sets the colour scheme of bars: paint(job, colors) -> [fill, ink]. */
  setPaint(paint) {
    this.paint = paint;
    redraw(this.draw);
  }

  /** Scrolls and pans to a job's first bar. */
  reveal(job) {
    const { bars } = this.store;
    const p = this.playhead.ms;
    const has = (row, bar) => bars.job[bar] === job && validAt(bars, bar, p);
    const place = this.rows.list.findIndex((row) =>
      row.kind === 'job'
        ? row.index === job
        : row.kind !== 'site' && row.sorted.subarray(0, row.length).some((bar) => has(row, bar)),
    );
    if (place < 0) return;
    this.scrollTo((place + 0.5) * this.rowHeight() - this.height / 2);
    const row = this.rows.list[place];
    const first = row.sorted.subarray(0, row.length).find((bar) => has(row, bar));
    if (first !== undefined && (bars.end_ms[first] <= this.view.from || bars.start_ms[first] >= this.view.to))
      this.view.reveal(bars.start_ms[first]);
  }

  /**
   * factor > 1: taller rows; 0: fit the height. Returns whether rows can be lower, and taller, than now.
   *
   * @returns {[boolean, boolean]}
   */
  scaleRows(factor) {
    const middle = (this.top + this.height / 2) / this.rowHeight();
    const most = Math.max(MAX_ROW_PX, this.#fitting());
    this.rowPx = factor ? clamp(this.rowHeight() * factor, MIN_ROW_PX, most) : null;
    this.scrollTo(middle * this.rowHeight() - this.height / 2);
    return [this.rowHeight() > MIN_ROW_PX, this.rowHeight() < most];
  }

  /** Sets the height of the rows; null: fit the height. @param {number | null} px */
  setRowPx(px) {
    this.rowPx = px;
    this.scrollTo(this.top);
  }

  /** The folded rows have changed. */
  refold() {
    this.#rebuilt();
  }

  rowHeight() {
    return this.rowPx ?? this.#fitting();
  }

  #fitting() {
    return fittedPx(this.height, this.rows);
  }

  get height() {
    const area = this.chart.chartArea;
    return area ? area.bottom - area.top : 1;
  }

  /** Scrolls by px; false if all rows are visible. */
  scrollBy(px) {
    const before = this.top;
    this.scrollTo(this.top + px);
    return this.top !== before;
  }

  scrollTo(px) {
    this.top = clamp(px, 0, Math.max(0, this.rows.list.length * this.rowHeight() - this.height));
    this.scroller.scrollTop = this.top;
    redraw(this.draw);
  }

  /** Table of the content of the rows in the visible time range: {head, rows, total}. */
  table(limit = 500) {
    const rows = [];
    let total = 0;
    for (const row of this.rows.list) {
      for (const found of this.layers.map((layer) => layer.table(row, this.frame))) {
        total += found.length;
        rows.push(...found.slice(0, Math.max(0, limit - rows.length)));
      }
    }
    return { head: ['Job', 'Role', 'Server', 'Count', 'Start', 'End'], rows, total };
  }

  #rebuilt() {
    this.rows.rebuild();
    this.scrollTo(0);
  }

  #draw() {
    const grown = this.rows.sync();
    if (this.stale || syncRange(this.chart, this.view)) this.chart.update('none');
    else this.chart.draw();
    this.stale = false;
    if (grown || this.scrolledFor !== this.rows.list.length * this.rowHeight()) this.#sizeScroller();
  }

  #sizeScroller() {
    const total = this.rows.list.length * this.rowHeight();
    this.scrolledFor = total;
    const spacer = this.scroller.firstElementChild;
    const area = this.chart.chartArea;
    this.scroller.style.top = `${area.top}px`;
    this.scroller.style.height = `${area.bottom - area.top}px`;
    spacer.style.height = `${total}px`;
    this.scroller.classList.toggle('idle', total <= this.height + 1);
    if (this.top > total - this.height) this.scrollTo(this.top);
  }

  #paint({ ctx, chartArea: area }) {
    if (!this.chart) return; // Chart.js draws once while it is being built
    const { frame, layers, top, selected, also, marked, paint } = this;
    const owned = (row) => layers.some((layer) => layer.owns(row));
    Object.assign(frame, { rows: this.rows, selected, also, marked });
    frame.lay({ area, top, rowPx: this.rowHeight(), c: colors(), paint, owned });
    ctx.save();
    ctx.beginPath();
    ctx.rect(area.left, area.top, area.right - area.left, area.bottom - area.top);
    ctx.clip();
    for (const layer of layers) layer.paint(ctx, frame);
    ctx.restore();
    for (const layer of layers) layer.paintAbove(ctx, frame);
    paintRowNames(ctx, frame, this.pointer.row);
    const shown = [frame.signature, this.rows.countText, ...layers.map(({ signature }) => signature)].join();
    if (shown !== this.shown) this.onDetail?.();
    this.shown = shown;
  }
}

function clamp(value, low, high) {
  return Math.min(Math.max(value, low), high);
}
