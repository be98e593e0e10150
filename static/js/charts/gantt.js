// The Gantt: an empty Chart.js scatter chart for the axes, and this plugin, which paints the bars itself.
//
// Up to DETAIL_BARS visible bars it fills rectangles grouped by colour, in sub-lanes where a row is high enough; beyond, and
// in rows too low for their lanes, it shades each pixel by the share of the server that is allocated (raster.js).

import { redraw } from '../frame.js';
import { colors, onTheme, stripes } from '../lib/colors.js';
import { clock, duration, number, percent } from '../lib/format.js';
import { gestures } from '../lib/gestures.js';
import { CLOUD, NEVER, PS, TRANSFER, trueAt } from '../store.js';
import { applyTheme, syncRange, timeChart, xOf } from './axes.js';
import { describeEditFlag, paintEditFlags } from './edit-flags.js';
import { GroupBands } from './groups.js';
import { InFlight } from './in-flight.js';
import { Pieces } from './pieces.js';
import { Raster } from './raster.js';
import { describeRegrouping, paintRegroupings } from './regroupings.js';
import { Rows } from './rows.js';
import { JobStates } from './states.js';

const DETAIL_BARS = 8000;
const LANE_PX = 1.5; // a lane lower than this is shaded, not drawn
const ROW_PX = [3, 64]; // lowest and highest row
const LABEL_PX = 11;
const NOTCH_PX = 5; // of an end that was cut

export class Gantt {
  /** canvas; scroller: the element whose scrollbar moves the rows; tip: the tooltip; onPick(job); onServer(server); onFrame({servers, from, to}) after servers and a range of time were framed with Alt; paint(job, colors) -> [fill, ink]. */
  constructor(canvas, { store, info, view, playhead, scroller, tip, order = 'servers', onPick, onServer, onFrame, paint = byJob }) {
    Object.assign(this, { canvas, store, info, view, playhead, scroller, tip, onPick, onServer, onFrame, paint });
    this.framed = null; // {x0, y0, x1, y1} while servers and a range of time are chosen
    this.rows = new Rows(store, info, order);
    this.raster = new Raster();
    this.rowPx = null; // null = as high as fits
    this.top = 0; // px scrolled
    this.selected = null; // job
    this.marked = null; // [job] 1 for those that a search found: the others stand back
    this.detail = ''; // 'bars' | 'shade': what the last painting used
    this.visible = 0;
    this.onDetail = null; // called when one of the three has changed
    this.hidesPs = false; // whether some rows are too low for their parameter servers
    this.low = 0; // rows that the last painting shaded because they are too low for their lanes
    this.draw = () => this.#draw();
    this.groups = new GroupBands(store, info, () => redraw(this.draw));
    this.states = new JobStates(store, info);
    this.inFlight = new InFlight(store, info, () => redraw(this.draw));
    this.pieces = info.scheduler.lanes ? new Pieces(store) : null;
    const y = { type: 'linear', min: 0, max: 1, reverse: true, border: { display: false }, grid: { display: false }, ticks: { display: false } };
    const plugin = { id: 'gantt', beforeDatasetsDraw: (chart) => this.#paint(chart) };
    this.chart = timeChart(canvas, view, playhead, { type: 'scatter', data: { datasets: [{ data: [] }] }, y, plugins: [plugin], padTop: 8 });
    gestures(canvas, view, () => this.chart.chartArea, {
      scroll: (px) => this.scrollBy(px),
      click: (x, yPx) => this.#click(x, yPx),
      hover: (x, yPx) => this.#hover(x, yPx),
      frame: onFrame ? (box, done) => this.#frame(box, done) : null,
    });
    scroller.addEventListener('scroll', () => {
      if (Math.abs(scroller.scrollTop - this.top) < 1) return;
      this.top = scroller.scrollTop;
      redraw(this.draw);
    });
    for (const name of ['range', 'cursor']) view.addEventListener(name, () => redraw(this.draw));
    playhead.addEventListener('move', () => redraw(this.draw));
    playhead.addEventListener('state', () => redraw(this.draw));
    onTheme(() => {
      applyTheme(this.chart);
      this.stale = true;
      redraw(this.draw);
    });
  }

  /** The store has changed. */
  update() {
    redraw(this.draw);
  }

  setOrder(order) {
    this.rows.order = order;
    this.#rebuilt();
  }

  /** Shows only rows whose name contains the text. */
  setQuery(text) {
    this.rows.query = text.trim().toLowerCase();
    this.#rebuilt();
  }

  select(job) {
    this.selected = job;
    redraw(this.draw);
  }

  /** Lets the jobs with a 1 stand out; null: all alike. */
  mark(marked) {
    this.marked = marked;
    redraw(this.draw);
  }

  /** Another way to colour bars: paint(job, colors) -> [fill, ink]. */
  setPaint(paint) {
    this.paint = paint;
    redraw(this.draw);
  }

  /** Scrolls and pans to a job's first bar. */
  reveal(job) {
    const { bars } = this.store;
    const p = this.playhead.ms;
    const has = (row, bar) => bars.job[bar] === job && trueAt(bars, bar, p);
    const place = this.rows.list.findIndex((row) => (row.kind === 'job' ? row.index === job : row.kind !== 'site' && row.sorted.subarray(0, row.length).some((bar) => has(row, bar))));
    if (place < 0) return;
    this.scrollTo((place + 0.5) * this.rowHeight() - this.height / 2);
    const row = this.rows.list[place];
    const first = row.sorted.subarray(0, row.length).find((bar) => has(row, bar));
    if (first !== undefined && (bars.end_ms[first] <= this.view.from || bars.start_ms[first] >= this.view.to)) this.view.reveal(bars.start_ms[first]);
  }

  /** factor > 1: higher rows; 0: as high as fits. */
  scaleRows(factor) {
    const middle = (this.top + this.height / 2) / this.rowHeight();
    this.rowPx = factor ? clamp(this.rowHeight() * factor, ...ROW_PX) : null;
    this.scrollTo(middle * this.rowHeight() - this.height / 2);
  }

  rowHeight() {
    return this.rowPx ?? clamp(this.height / Math.max(1, this.rows.list.length), 5, this.rows.many ? 400 : 40);
  }

  get height() {
    const area = this.chart.chartArea;
    return area ? area.bottom - area.top : 1;
  }

  /** Scrolls by px; false when there is nothing to scroll. */
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

  /** The bars on screen's rows and time range as a table: {head, rows, total}. */
  table(limit = 500) {
    const { bars } = this.store;
    const rows = [];
    let total = 0;
    for (const row of this.rows.list) {
      const [low, high] = this.rows.window(row, this.view.from, this.view.to);
      for (let i = low; i < high; i++) {
        const bar = row.sorted[i];
        if (bars.end_ms[bar] <= this.view.from || !trueAt(bars, bar, this.playhead.ms)) continue;
        if (++total > limit) continue;
        rows.push([this.#jobName(bars.job[bar]), roleName(bars.role[bar]), this.#serverName(bars.server[bar]), bars.count[bar],
          clock(bars.start_ms[bar]), clock(bars.end_ms[bar])]);
      }
      for (const { job, server, count, from, until } of this.inFlight.grouped(row, this.view.from, this.view.to, this.playhead.ms)) {
        if (++total <= limit) rows.push([this.#jobName(job), 'upload', this.#serverName(server), count, clock(from), clock(until)]);
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

  #paint(chart) {
    if (!this.chart) return; // Chart.js draws once while it is being built
    const { ctx, chartArea: area } = chart;
    const c = colors();
    const rowPx = this.rowHeight();
    const first = Math.max(0, Math.floor(this.top / rowPx));
    const last = Math.min(this.rows.list.length, Math.ceil((this.top + this.height) / rowPx));
    const windows = [];
    let visible = 0;
    for (let i = first; i < last; i++) {
      const row = this.rows.list[i];
      const [low, high] = this.rows.window(row, this.view.from, this.view.to);
      windows.push([row, low, high]);
      visible += high - low;
    }
    const before = `${this.detail} ${this.visible} ${this.hidesPs}`;
    this.visible = visible;
    this.hidesPs = this.rows.anyPs && windows.some(([row]) => row.typed && this.rows.lanesOf(row, rowPx) < row.lanes);
    const y0 = area.top + first * rowPx - this.top;
    ctx.save();
    ctx.beginPath();
    ctx.rect(area.left, area.top, area.right - area.left, area.bottom - area.top);
    ctx.clip();
    this.#grid(ctx, area, windows, y0, rowPx, c);
    if (this.groups.any && this.rows.order === 'servers') this.groups.paint(ctx, { area, windows, y0, rowPx, view: this.view, p: this.playhead.ms, selected: this.selected, marked: this.marked, c, xOf: (ms) => xOf(this.chart, ms) });
    this.detail = (visible > DETAIL_BARS && !this.#statesShown()) || this.#crowded(windows, rowPx) ? 'shade' : 'bars';
    if (this.detail === 'shade') this.#shade(ctx, area, windows, y0, rowPx, c);
    else this.#bars(ctx, area, windows, y0, rowPx, c);
    this.#wash(ctx, chart, c);
    paintRegroupings(ctx, this.store.regroupings, { area, xOf: (ms) => xOf(this.chart, ms), p: this.playhead.ms, c });
    paintEditFlags(ctx, this.store.edits, { area, xOf: (ms) => xOf(this.chart, ms), p: this.playhead.ms, c });
    if (this.framed) paintFrame(ctx, this.framed, c);
    ctx.restore();
    if (before !== `${this.detail} ${this.visible} ${this.hidesPs}`) this.onDetail?.();
    this.#labels(ctx, area, windows, y0, rowPx, c);
  }

  /** A frame over rows of servers: while it is drawn, and when it is let go. */
  #frame(box, done) {
    this.framed = done ? null : box;
    this.tip.hide(); // it would cover the frame
    redraw(this.draw);
    if (!done || !box) return;
    const { chartArea: area } = this.chart;
    const [top, bottom, left, right] = [Math.min(box.y0, box.y1), Math.max(box.y0, box.y1), Math.min(box.x0, box.x1), Math.max(box.x0, box.x1)];
    const rowPx = this.rowHeight();
    const rows = this.rows.list.slice(Math.max(0, Math.floor((top - area.top + this.top) / rowPx)), Math.ceil((bottom - area.top + this.top) / rowPx));
    const servers = rows.filter((row) => row.kind === 'server' && row.index >= 0).map((row) => row.index);
    const at = (x) => this.view.from + ((Math.max(area.left, Math.min(area.right, x)) - area.left) / (area.right - area.left)) * (this.view.to - this.view.from);
    if (servers.length && right - left > 4) this.onFrame({ servers, from: Math.max(0, Math.round(at(left))), to: Math.round(at(right)) });
  }

  /** Whether rows are of jobs in groups: then their stretches are painted instead of their bars. */
  #statesShown() {
    return this.groups.any && this.rows.order === 'jobs';
  }

  /** Whether many rows are too low for their lanes: then all are shaded, rather than some. */
  #crowded(windows, rowPx) {
    if (this.rows.order === 'jobs') return false;
    let low = 0;
    for (const [row] of windows) if (row.kind !== 'site' && (rowPx - 2) / this.rows.lanesOf(row, rowPx) < LANE_PX) low++;
    return low > windows.length / 5;
  }

  #grid(ctx, area, windows, y0, rowPx, c) {
    windows.forEach(([row], i) => {
      const y = y0 + i * rowPx;
      if (row.kind === 'site') {
        ctx.fillStyle = c.band;
        ctx.fillRect(area.left, y, area.right - area.left, rowPx);
      } else if (rowPx >= 9) {
        ctx.fillStyle = c.line;
        ctx.fillRect(area.left, Math.round(y + rowPx) - 1, area.right - area.left, 1);
      }
      for (const [begin, end] of this.#away(row)) {
        const x = Math.max(area.left, xOf(this.chart, begin));
        const right = Math.min(area.right, xOf(this.chart, end));
        if (right <= x) continue;
        ctx.fillStyle = c.line;
        ctx.fillRect(x, y + 1, right - x, Math.max(1, rowPx - 2));
      }
    });
  }

  /** When the row's server is not there. */
  #away(row) {
    return row.kind === 'server' ? (this.info.cluster.servers[row.index]?.away ?? []) : [];
  }

  #shade(ctx, area, windows, y0, rowPx, c) {
    const width = Math.max(1, Math.round(area.right - area.left));
    this.raster.begin(width, windows.length);
    windows.forEach((window, i) => this.#shadeRow(i, window, width, c));
    this.raster.blit(ctx, area.left, y0, area.right - area.left, rowPx);
    windows.forEach(([row], i) => this.#uploading(ctx, area, row, y0 + i * rowPx, rowPx, c));
    if (rowPx < 6) return;
    ctx.fillStyle = c.panel;
    for (let i = 0; i <= windows.length; i++) ctx.fillRect(area.left, Math.round(y0 + i * rowPx) - 1, area.right - area.left, 1);
  }

  #shadeRow(y, [row, low, high], width, c) {
    if (row.kind === 'site') return;
    this.raster.line(y, {
      bars: this.store.bars, sorted: row.sorted, low, high, weights: this.rows.weights, p: this.playhead.ms, ramp: c.ramp,
      from: this.view.from, msPerPx: (this.view.to - this.view.from) / width, full: this.rows.fullOf(row), only: this.selected === null ? this.marked : null,
    });
  }

  #bars(ctx, area, windows, y0, rowPx, c) {
    const buckets = new Map(); // fill -> [x, y, width, height, ...]
    const labels = [];
    const shaded = [];
    const over = { strips: new Map(), notches: [] }; // what lies on the bars: uploads, and ends that were cut
    const width = Math.max(1, Math.round(area.right - area.left));
    windows.forEach((window, i) => {
      const [row] = window;
      if (row.kind === 'site') return;
      const y = y0 + i * rowPx;
      if (row.kind === 'job') this.#jobMarks(ctx, area, row, y, rowPx, c);
      if (row.kind === 'job' && this.groups.any) return void this.states.paint(ctx, row, { area, y, rowPx, view: this.view, p: this.playhead.ms, selected: this.selected, c, xOf: (ms) => xOf(this.chart, ms), own: this.paint(row.index, c) });
      const lanes = row.kind === 'job' ? jobLanes(rowPx) : this.rows.lanesOf(row, rowPx);
      if ((rowPx - 2) / lanes < LANE_PX) shaded.push([i, window]);
      else this.#rowBars(ctx, area, window, y, rowPx, lanes, { buckets, labels, over }, c);
    });
    this.low = shaded.length;
    if (shaded.length) {
      this.raster.begin(width, windows.length);
      for (const [i, window] of shaded) this.#shadeRow(i, window, width, c);
      this.raster.blit(ctx, area.left, y0, area.right - area.left, rowPx);
    }
    fillAll(ctx, buckets);
    notch(ctx, over.notches, c.panel);
    fillAll(ctx, over.strips);
    for (const [i, [row]] of shaded) this.#uploading(ctx, area, row, y0 + i * rowPx, rowPx, c);
    ctx.font = `${LABEL_PX}px ${getComputedStyle(document.body).fontFamily}`;
    ctx.textBaseline = 'middle';
    for (const [text, x, y, room, fill] of labels) {
      ctx.fillStyle = fill;
      if (ctx.measureText(text).width < room - 6) ctx.fillText(text, x + 4, y);
    }
  }

  #rowBars(ctx, area, [row, low, high], y, rowPx, lanes, { buckets, labels, over }, c) {
    const { bars } = this.store;
    const { from } = this.view;
    const pxPerMs = (area.right - area.left) / (this.view.to - from);
    const lanePx = (rowPx - (rowPx > 8 ? 2 : 1)) / lanes;
    const gap = lanePx >= 6 ? 1 : 0;
    for (let i = low; i < high; i++) {
      const bar = row.sorted[i];
      if (bars.end_ms[bar] <= from || !trueAt(bars, bar, this.playhead.ms)) continue;
      const job = bars.job[bar];
      const isPs = bars.role[bar] === PS;
      if (isPs && row.kind === 'job' && lanes === 1) continue;
      const lane = row.kind === 'job' ? Number(isPs) : this.rows.lanes[bar];
      const copies = this.rows.copiesOf(bar);
      if ((row.typed && lane >= lanes) || copies === 0) continue;
      const x = Math.max(area.left - 2, area.left + (bars.start_ms[bar] - from) * pxPerMs);
      const right = Math.min(area.right + 2, area.left + (bars.end_ms[bar] - from) * pxPerMs);
      const dim = this.selected !== null ? this.selected !== job : this.marked !== null && !this.marked[job];
      const [own, ink] = this.paint(job, c);
      const color = dim ? c.line : own;
      const fill = isPs && lanePx >= 4 ? stripes(ctx, color) : color;
      const rect = [x, y + lane * lanePx + gap / 2, Math.max(right - x - (right - x > 4 ? 1 : 0), 1), Math.max(1, lanePx - gap)];
      if (bars.role[bar] === TRANSFER && this.pieces) {
        this.#strip(ctx, rect[0], rect[2], y + (lane + 1) * lanePx, lanePx, color, over.strips);
        continue;
      }
      if (!buckets.has(fill)) buckets.set(fill, []);
      buckets.get(fill).push(...rect);
      if (lanePx >= LABEL_PX && rect[2] > 34 && labels.length < 400 && !isPs && !(this.pieces && row.kind === 'job')) {
        const count = bars.count[bar] * copies;
        const text = count > 1 ? `${this.#jobName(job)} ×${number(count, 0)}` : this.#jobName(job);
        labels.push([text, Math.max(x, area.left), rect[1] + rect[3] / 2 + 0.5, right - Math.max(x, area.left), dim ? c.muted : ink]);
      }
      if (this.pieces && !isPs && row.kind === 'server' && lanePx >= 3 && rect[2] > 3) {
        const [suspended, resumed] = this.pieces.ends(bar, this.playhead.ms);
        if (suspended) over.notches.push([rect[0] + rect[2], -1, rect]);
        if (resumed) over.notches.push([rect[0], 1, rect]);
      }
    }
    this.#strips(ctx, area, row, y, lanes, lanePx, over.strips, c);
  }

  /** Uploads on their lanes: thin and hatched, at the foot of the lane where the chunk will run. */
  #strips(ctx, area, row, y, lanes, lanePx, strips, c) {
    if (lanePx < 2) return;
    const { bars } = this.store;
    let last = '';
    for (const i of this.inFlight.of(row, this.view.from, this.view.to, this.playhead.ms)) {
      const bar = this.inFlight.bar[i];
      const lane = row.kind === 'job' ? 0 : this.rows.lanes[bar];
      if (lane >= lanes || this.rows.copiesOf(bar) === 0) continue;
      const x = Math.max(area.left - 2, xOf(this.chart, this.inFlight.from[i]));
      const right = Math.min(area.right + 2, xOf(this.chart, this.inFlight.until[i]));
      const same = `${bars.job[bar]}/${lane}/${x}/${right}`; // chunks of a job that share a lane travel together
      if (same === last) continue;
      last = same;
      const job = bars.job[bar];
      this.#strip(ctx, x, right - x, y + (lane + 1) * lanePx, lanePx, this.selected !== null && this.selected !== job ? c.muted : this.paint(job, c)[0], strips);
    }
  }

  /** Adds what is thin and hatched, with its foot at `foot`. */
  #strip(ctx, x, width, foot, lanePx, color, strips) {
    const height = Math.min(4, Math.max(1.5, lanePx / 3));
    const fill = stripes(ctx, color);
    if (!strips.has(fill)) strips.set(fill, []);
    strips.get(fill).push(x, foot - height, Math.max(1, width), height);
  }

  /** Under a shaded row: when anything is on its way there. */
  #uploading(ctx, area, row, y, rowPx, c) {
    if (row.kind === 'site' || rowPx < 8) return;
    ctx.fillStyle = stripes(ctx, c.ink);
    let until = -Infinity;
    for (const i of this.inFlight.of(row, this.view.from, this.view.to, this.playhead.ms)) {
      const from = Math.max(this.inFlight.from[i], until); // by dispatch: what is painted is not painted again
      until = Math.max(until, this.inFlight.until[i]);
      if (until <= from) continue;
      const x = Math.max(area.left, xOf(this.chart, from));
      const right = Math.min(area.right, xOf(this.chart, until));
      if (right > x) ctx.fillRect(x, y + rowPx - 5, right - x, 4);
    }
  }

  /** In the rows of jobs: the wait as a thin line, a rejection as a cross, each where it happened. */
  #jobMarks(ctx, area, row, y, rowPx, c) {
    const { jobs, verdicts } = this.store;
    const arrived = jobs.arrived_ms[row.index];
    const p = this.playhead.ms;
    if (arrived === NEVER || arrived > p) return;
    const x = xOf(this.chart, arrived);
    const rejected = verdicts[row.index]?.[0] === 'rejected' && jobs.decided_ms[row.index] <= p;
    const start = jobs.start_ms[row.index];
    const until = xOf(this.chart, rejected ? jobs.decided_ms[row.index] : start === NEVER ? p : Math.min(start, Math.max(p, arrived)));
    ctx.fillStyle = rejected ? c.bad : c.muted;
    ctx.fillRect(x, y + rowPx / 2 - 0.5, Math.max(1, until - x), 1);
    ctx.fillRect(x, y + 1, 1, rowPx - 2);
    if (this.pieces && !rejected && start !== NEVER) this.#suspensions(ctx, area, row, y, rowPx);
    if (!rejected) return;
    const size = Math.min(4, rowPx / 3);
    ctx.strokeStyle = c.bad;
    ctx.lineWidth = 1.5;
    ctx.beginPath();
    for (const sign of [-1, 1]) {
      ctx.moveTo(until - size, y + rowPx / 2 - sign * size);
      ctx.lineTo(until + size, y + rowPx / 2 + sign * size);
    }
    ctx.stroke();
  }

  /** From a job's start to its finish a thin line, which shows wherever no bar covers it. */
  #suspensions(ctx, area, row, y, rowPx) {
    const { jobs } = this.store;
    const x = Math.max(area.left, xOf(this.chart, jobs.start_ms[row.index]));
    const right = Math.min(area.right, xOf(this.chart, jobs.finish_ms[row.index] === NEVER ? this.playhead.ms : jobs.finish_ms[row.index]));
    if (right > x) ctx.fillRect(x, y + rowPx * 0.25, right - x, 1);
  }

  /** What lies after the playhead is a plan: paler. */
  #wash(ctx, chart, c) {
    const { chartArea: area } = chart;
    const x = Math.max(area.left, xOf(chart, this.playhead.ms));
    if (x >= area.right) return;
    ctx.globalAlpha = 0.5;
    ctx.fillStyle = c.panel;
    ctx.fillRect(x, area.top, area.right - x, area.bottom - area.top);
    ctx.globalAlpha = 1;
  }

  #labels(ctx, area, windows, y0, rowPx, c) {
    ctx.save();
    ctx.beginPath();
    ctx.rect(0, area.top - 6, area.left - 4, area.bottom - area.top + 12);
    ctx.clip();
    ctx.textBaseline = 'middle';
    const family = getComputedStyle(document.body).fontFamily;
    const taken = [];
    const place = (row, i) => {
      const y = y0 + (i + 0.5) * rowPx;
      if (y < area.top || y > area.bottom || taken.some((other) => Math.abs(other - y) < LABEL_PX + 1)) return;
      taken.push(y);
      ctx.font = `${row.kind === 'site' ? '600 ' : ''}${LABEL_PX}px ${family}`;
      ctx.fillStyle = row.kind === 'site' || row.index === this.hoverRow || (row.kind === 'job' && row.index === this.selected) ? c.ink : c.muted;
      ctx.fillText(row.kind === 'site' ? row.label : shorten(ctx, row.label, area.left - 14), 6, y);
    };
    windows.forEach(([row], i) => row.kind === 'site' && place(row, i));
    windows.forEach(([row], i) => row.kind !== 'site' && place(row, i));
    ctx.restore();
  }

  /** What lies at a point of the canvas: {row, t, bars: rows of the store}; null outside the plot. */
  at(x, y) {
    const { chartArea: area } = this.chart;
    if (x < area.left || x > area.right || y < area.top || y > area.bottom) return null;
    const rowPx = this.rowHeight();
    const position = (y - area.top + this.top) / rowPx;
    const row = this.rows.list[Math.floor(position)];
    if (!row) return null;
    const msPerPx = (this.view.to - this.view.from) / (area.right - area.left);
    const t = this.view.from + (x - area.left) * msPerPx;
    const { bars } = this.store;
    const found = [];
    const [low, high] = this.rows.window(row, t - msPerPx, t + msPerPx);
    for (let i = low; i < high; i++) {
      const bar = row.sorted[i];
      if (bars.end_ms[bar] > t - msPerPx && trueAt(bars, bar, this.playhead.ms)) found.push(bar);
    }
    const lanes = row.kind === 'job' ? jobLanes(rowPx) : this.rows.lanesOf(row, rowPx);
    const lane = Math.floor((position % 1) * lanes);
    if (this.detail === 'bars' && row.kind === 'server' && (rowPx - 2) / lanes >= LANE_PX) {
      found.sort((a, b) => Math.abs(this.rows.lanes[a] - lane) - Math.abs(this.rows.lanes[b] - lane));
    }
    return { row, t, bars: found, slack: msPerPx };
  }

  #click(x, y) {
    const hit = this.at(x, y);
    const named = hit ? null : this.#named(x, y);
    if (named?.kind === 'server' && named.index >= 0) this.onServer?.(named.index);
    else if (named?.kind === 'job') this.onPick?.(named.index);
    if (!hit) return;
    if (hit.row.kind === 'job') this.onPick?.(hit.row.index);
    else if (this.groups.any && hit.row.kind === 'server') this.onPick?.(this.groups.at(hit.row.index, hit.t)?.[2].jobs[0] ?? null);
    else if (hit.bars.length) this.onPick?.(this.store.bars.job[hit.bars[0]]);
  }

  /** The row whose name stands at a point left of the plot. */
  #named(x, y) {
    const { left, top, bottom } = this.chart.chartArea;
    return x < left && y >= top && y < bottom ? this.rows.list[Math.floor((y - top + this.top) / this.rowHeight())] : null;
  }

  #hover(x, y) {
    const hit = x === null || x === undefined ? null : this.at(x, y);
    const named = hit || x === null || x === undefined ? null : this.#named(x, y);
    this.hoverRow = hit?.row.index ?? null;
    this.canvas.classList.toggle('hit', Boolean(hit?.bars.length || hit?.row.kind === 'job' || named?.kind === 'job' || (named?.kind === 'server' && this.onServer)));
    const flag = x === null || x === undefined ? [] : describeEditFlag(this.store.edits, x, { xOf: (ms) => xOf(this.chart, ms), p: this.playhead.ms });
    if (flag.length) return this.tip.show(flag, x, y, this.canvas);
    const regrouped = hit ? describeRegrouping(this.store.regroupings, x, y - this.chart.chartArea.top, { xOf: (ms) => xOf(this.chart, ms), p: this.playhead.ms }) : [];
    if (regrouped.length) return this.tip.show(regrouped, x, y, this.canvas);
    if (!hit || (hit.row.kind === 'site' && !hit.bars.length)) return this.tip.hide();
    this.tip.show(this.#describe(hit), x, y, this.canvas);
  }

  #describe({ row, t, bars: found, slack }) {
    const { bars } = this.store;
    const lines = [[row.label, clock(t)]];
    if (this.groups.any && row.kind === 'server') return [...lines, ...this.groups.describe(row.index, t)];
    if (this.groups.any && row.kind === 'job') return [...lines, ...this.states.describe(row.index, t, this.playhead.ms)];
    if (row.kind === 'server') {
      const sum = found.reduce((total, bar) => total + this.rows.weights[bar], 0);
      if (row.index === CLOUD) lines.push(['workers', number(sum, 0)]);
      else lines.push([row.typed ? 'lanes in use' : 'allocated (scarcest resource)', percent(sum)]);
    }
    if (row.kind === 'many') lines.push(['workers', number(found.reduce((sum, bar) => sum + this.rows.weights[bar], 0), 0)]);
    const shown = found.filter((bar) => this.rows.copiesOf(bar) !== 0);
    for (const bar of shown.slice(0, 6)) {
      const copies = this.rows.copiesOf(bar);
      const who = row.kind === 'job' ? this.#serverName(bars.server[bar]) : this.#jobName(bars.job[bar]);
      const what = copies > 1 ? `${number(copies, 0)} chunks` : bars.chunk[bar] >= 0 ? `chunk ${number(bars.chunk[bar] + 1, 0)}` : `${number(bars.count[bar], 0)} ${roleName(bars.role[bar], bars.count[bar])}`;
      lines.push([who, `${what}, ${duration(bars.end_ms[bar] - bars.start_ms[bar])}${this.#broken(bar)}`, bars.job[bar]]);
    }
    if (shown.length > 6) lines.push(['', `and ${shown.length - 6} more bars`]);
    const uploads = this.inFlight.describe(row, t, slack, this.playhead.ms, (group) => (row.kind === 'job' ? `to ${this.#serverName(group.server)}` : this.#jobName(group.job)));
    lines.push(...uploads);
    const away = this.#away(row).find(([begin, end]) => begin <= t && t < end);
    if (away) lines.push(['', `away until ${clock(away[1])}`]);
    else if (!found.length && !uploads.length && row.kind === 'server') lines.push(['', 'idle']);
    return lines;
  }

  /** Whether the bar ends, or begins, in a suspension. */
  #broken(bar) {
    if (!this.pieces || this.store.bars.role[bar] === PS) return '';
    const [suspended, resumed] = this.pieces.ends(bar, this.playhead.ms);
    return `${resumed ? ', goes on after a suspension' : ''}${suspended ? ', then suspended' : ''}`;
  }

  #jobName(job) {
    return this.info.ids?.[job] ?? `job ${job}`;
  }

  #serverName(server) {
    if (server === -2) return 'cloud';
    return this.info.cluster.servers[server]?.name ?? '–';
  }
}

/** Each job its own colour, and what is readable on it. */
function byJob(job, c) {
  return [c.jobs[job % c.jobs.length], c.onJob[job % c.jobs.length]];
}

export function roleName(role, count = 1) {
  const name = ['worker', 'parameter server', 'transfer'][role] ?? 'bar';
  return count === 1 ? name : `${name}s`;
}

function fillAll(ctx, buckets) {
  for (const [fill, rects] of buckets) {
    ctx.fillStyle = fill;
    for (let i = 0; i < rects.length; i += 4) ctx.fillRect(rects[i], rects[i + 1], rects[i + 2], rects[i + 3]);
  }
}

/** Cuts a corner off each end given as [x, into, rect]: a slope down where a chunk was suspended, up where it goes on. */
function notch(ctx, ends, color) {
  ctx.fillStyle = color;
  ctx.beginPath();
  for (const [x, into, [, top, width, height]] of ends) {
    const size = Math.min(NOTCH_PX, width / 2, height);
    ctx.moveTo(x, top);
    ctx.lineTo(x + into * size, top);
    ctx.lineTo(x, top + height);
    ctx.closePath();
  }
  ctx.fill();
}

/** Rows of jobs show workers, and below them parameter servers where there is room. */
function jobLanes(rowPx) {
  return rowPx >= 10 ? 2 : 1;
}

function clamp(value, low, high) {
  return Math.min(Math.max(value, low), high);
}

/** Cut at the front: names of servers and jobs differ at their ends. */
function shorten(ctx, text, room) {
  if (ctx.measureText(text).width <= room) return text;
  let cut = 1;
  while (cut < text.length - 3 && ctx.measureText(`…${text.slice(cut)}`).width > room) cut++;
  return `…${text.slice(cut)}`;
}

function paintFrame(ctx, { x0, y0, x1, y1 }, c) {
  ctx.strokeStyle = c.accent;
  ctx.setLineDash([4, 3]);
  ctx.strokeRect(Math.min(x0, x1) + 0.5, Math.min(y0, y1) + 0.5, Math.abs(x1 - x0), Math.abs(y1 - y0));
  ctx.setLineDash([]);
}
