// One server's resource over time, stacked by job: the amount of each job, under the line of the capacity.

import { redraw } from '../core/render-loop.js';
import { colors, onTheme } from '../util/colors.js';
import { capacityAt, largest } from '../util/capacity.js';
import { clock, number, percent, plural, roundStep } from '../util/format.js';
import { gestures } from './parts/gestures.js';
import { inPanel } from '../ui/failures/panel-isolation.js';
import { addInterval, blankBefore, settle } from '../util/interval-sums.js';
import { endAt, validAt } from '../core/columns/bars.js';
import { applyTheme, syncRange, timeChart, outageBands, unseenBands } from './parts/time-chart.js';

const MAX_LAYERS = 60; // jobs with their own layer; the others in view share one
const BIN_PX = 2;
const HEADROOM = 1.06; // of the axis above the capacity
const MAX_INTERVALS = 3; // between ticks from 0 to the capacity
const NEAR = 0.85; // share of the capacity from which the label of a round tick would touch that of the capacity

/**
 * Layers of one resource in [from, from + width * bins), as known at p: {layers: [{job, sum: mean amount per bin}],
 * rest: n}.
 *
 * bars     columns job, start_ms, end_ms, born_ms, died_ms;  rows: those of the server;  amountOf(row) -> what it holds
 * The jobs that hold most of it in the view get their own layers, in the order of their first bar; `rest` others share
 * the last one, whose job is -1.
 */
export function layersOf(bars, rows, amountOf, p, from, width, bins) {
  const to = from + width * bins;
  const found = new Map(); // job -> {weight in view, bars, first start}
  for (const bar of rows) {
    if (bars.start_ms[bar] >= to || endAt(bars, bar, p) <= from || !validAt(bars, bar, p)) continue;
    const amount = amountOf(bar);
    if (!(amount > 0)) continue;
    const job = bars.job[bar];
    if (!found.has(job)) found.set(job, { weight: 0, held: [], startMs: bars.start_ms[bar] });
    const entry = found.get(job);
    entry.weight += amount * (Math.min(endAt(bars, bar, p), to) - Math.max(bars.start_ms[bar], from));
    entry.held.push(bar);
    entry.startMs = Math.min(entry.startMs, bars.start_ms[bar]);
  }
  const entries = [...found].map(([job, entry]) => ({ job, ...entry }));
  const ranked = entries.sort((a, b) => b.weight - a.weight || a.job - b.job);
  const own = ranked.slice(0, MAX_LAYERS).sort((a, b) => a.startMs - b.startMs || a.job - b.job);
  const others = ranked.slice(MAX_LAYERS);
  const sumOf = (held) => {
    const sum = new Float64Array(bins + 2);
    for (const bar of held) addInterval(sum, bins, from, width, bars.start_ms[bar], endAt(bars, bar, p), amountOf(bar));
    return settle(sum, bins);
  };
  const layers = own.map(({ job, held }) => ({ job, sum: sumOf(held) }));
  if (others.length) layers.push({ job: -1, sum: sumOf(others.flatMap(({ held }) => held)) });
  return { layers, rest: others.length };
}

export class Stack {
  /**
   * source() -> {bars, rows}, see layersOf;  amountOf(row), unit: of the resource
   * capacity(p): steps (capacity.js) as known at p; null where there is none
   * outagesThen(p): outages of the server as known at p
   * seenFrom(): time before which a real cluster was not observed
   * nameOf(job);  tip;  onPick(job)
   */
  constructor(
    canvas,
    { view, playhead, source, amountOf, capacity, outagesThen, seenFrom, unit, nameOf, tip, onPick },
  ) {
    this.canvas = canvas;
    this.view = view;
    this.playhead = playhead;
    this.source = source;
    this.amountOf = amountOf;
    this.capacity = capacity;
    this.seenFrom = seenFrom;
    this.unit = unit;
    this.nameOf = nameOf;
    this.tip = tip;
    this.onPick = onPick;
    this.layers = [];
    this.rest = 0;
    this.draw = inPanel(canvas, () => this.#draw());
    const y = {
      type: 'linear',
      min: 0,
      max: (capacity ? largest(capacity(Infinity)) : 1) * HEADROOM,
      border: { display: false },
      ticks: { callback: (v) => number(v, 2) },
      afterBuildTicks: (axis) => {
        axis.ticks = ticksUpTo(axis.max / HEADROOM).map((value) => ({ value }));
      },
    };
    this.chart = timeChart(canvas, view, playhead, {
      type: 'scatter',
      data: { datasets: [{ data: [] }] },
      y,
      plugins: [
        unseenBands(view, playhead),
        outageBands(() => outagesThen(playhead.ms)),
        { id: 'stack', beforeDatasetsDraw: (chart) => this.#paint(chart) },
      ],
    });
    gestures(canvas, view, () => this.chart.chartArea, {
      click: (x, yPx) => this.#pick(x, yPx),
      hover: (x, yPx) => this.#hover(x, yPx),
    });
    for (const name of ['range', 'cursor']) view.addEventListener(name, () => redraw(this.draw));
    for (const name of ['move', 'state']) playhead.addEventListener(name, () => redraw(this.draw));
    onTheme(() => {
      applyTheme(this.chart);
      this.stale = true;
      redraw(this.draw);
    });
  }

  update() {
    redraw(this.draw);
  }

  /** Time by job, as drawn: {head, rows, total}. */
  table(limit = 500) {
    const names = this.layers.map(({ job }) => (job < 0 ? plural(this.rest, 'other job') : this.nameOf(job)));
    const rows = [];
    const { from, width, bins } = this.grid ?? { bins: 0 };
    for (let bin = 0; bin < bins && rows.length < limit; bin++)
      rows.push([clock(from + bin * width), ...this.layers.map(({ sum }) => number(sum[bin]))]);
    return { head: ['Time', ...names.map((name) => `${name} (${this.unit})`)], rows, total: bins };
  }

  #draw() {
    const { stale } = this;
    this.stale = false; // set before drawing, which may find that the axis has to grow
    if (syncRange(this.chart, this.view) || stale) this.chart.update('none');
    else this.chart.draw();
  }

  #paint(chart) {
    if (!this.chart) return;
    const { ctx, chartArea: area, scales } = chart;
    const bins = Math.max(20, Math.round((area.right - area.left) / BIN_PX));
    const { from } = this.view;
    const width = (this.view.to - from) / bins;
    this.grid = { from, width, bins };
    const { bars, rows } = this.source();
    Object.assign(this, layersOf(bars, rows, this.amountOf, this.playhead.ms, from, width, bins));
    for (const { sum } of this.layers) blankBefore(sum, from, width, this.seenFrom());
    if (this.capacity === null && this.#fit(scales.y, bins)) return;
    const c = colors();
    const step = (area.right - area.left) / bins;
    const base = new Float64Array(bins);
    ctx.save();
    ctx.beginPath();
    ctx.rect(area.left, area.top, area.right - area.left, area.bottom - area.top);
    ctx.clip();
    for (const { job, sum } of this.layers) {
      ctx.fillStyle = job < 0 ? c.same : c.jobs[job % c.jobs.length];
      for (let bin = 0; bin < bins; bin++) {
        if (!(sum[bin] > 0)) continue;
        let last = bin; // equal neighbours are one rectangle
        while (last + 1 < bins && sum[last + 1] === sum[bin] && base[last + 1] === base[bin]) last++;
        const top = scales.y.getPixelForValue(base[bin] + sum[bin]);
        const bottom = scales.y.getPixelForValue(base[bin]);
        ctx.fillRect(
          area.left + bin * step,
          top,
          (last + 1 - bin) * step,
          Math.max(1, bottom - top - (bottom - top > 3 ? 1 : 0)),
        );
        for (let i = bin; i <= last; i++) base[i] += sum[i];
        bin = last;
      }
    }
    const x = Math.max(area.left, scales.x.getPixelForValue(this.playhead.ms));
    ctx.globalAlpha = 0.5;
    ctx.fillStyle = c.panel;
    if (x < area.right) ctx.fillRect(x, area.top, area.right - x, area.bottom - area.top);
    ctx.globalAlpha = 1;
    if (this.capacity !== null) this.#limit(ctx, area, scales, c);
    ctx.restore();
  }

  #limit(ctx, area, { x, y }, c) {
    ctx.strokeStyle = c.muted;
    ctx.setLineDash([4, 3]);
    ctx.beginPath();
    let left = area.left;
    for (const [until, amount] of this.capacity(this.playhead.ms)) {
      const right = until === Infinity ? area.right : Math.min(area.right, x.getPixelForValue(until));
      if (right <= left) continue;
      const line = Math.round(y.getPixelForValue(amount)) + 0.5;
      ctx.moveTo(left, line);
      ctx.lineTo(right, line);
      left = right;
    }
    ctx.stroke();
  }

  /** Fit of the axis: without a capacity to the largest sum; true if it has to be drawn again. */
  #fit(axis, bins) {
    let top = 1;
    for (let bin = 0; bin < bins; bin++)
      top = Math.max(top, Math.ceil(this.layers.reduce((sum, layer) => sum + (layer.sum[bin] || 0), 0) - 1e-9));
    if (axis.options.max === top * HEADROOM) return false;
    this.chart.options.scales.y.max = top * HEADROOM;
    this.stale = true;
    redraw(this.draw);
    return true;
  }

  /** {t, total, layer, amount} under a point; null outside the plot. */
  #at(x, y) {
    const { chartArea: area, scales } = this.chart;
    if (!this.grid || x < area.left || x > area.right || y < area.top || y > area.bottom) return null;
    const { bins, from, width } = this.grid;
    const bin = Math.min(bins - 1, Math.floor(((x - area.left) / (area.right - area.left)) * bins));
    const wanted = scales.y.getValueForPixel(y);
    const t = from + (bin + 0.5) * width;
    let total = t < this.seenFrom() ? NaN : 0;
    let layer = null;
    for (const one of this.layers) {
      total += one.sum[bin];
      if (!layer && one.sum[bin] > 0 && wanted <= total) layer = one;
    }
    return { t, total, layer, amount: layer ? layer.sum[bin] : 0 };
  }

  #pick(x, y) {
    const job = this.#at(x, y)?.layer?.job ?? -1;
    if (job >= 0) this.onPick(job);
  }

  #hover(x, y) {
    const hit = x === null || x === undefined ? null : this.#at(x, y);
    this.canvas.classList.toggle('hit', (hit?.layer?.job ?? -1) >= 0);
    if (!hit) return this.tip.hide();
    const whole = this.capacity === null ? null : capacityAt(this.capacity(this.playhead.ms), hit.t);
    const share = whole ? `, ${percent(hit.total / whole)}` : '';
    const lines = [
      [
        clock(hit.t),
        whole === null
          ? `${number(hit.total, 2)} ${this.unit}`
          : `${number(hit.total, 2)} of ${number(whole, 2)} ${this.unit}${share}`,
      ],
    ];
    if (hit.layer)
      lines.push([
        hit.layer.job < 0 ? plural(this.rest, 'other job') : this.nameOf(hit.layer.job),
        `${number(hit.amount, 2)} ${this.unit}`,
        ...(hit.layer.job < 0 ? [] : [hit.layer.job]),
      ]);
    this.tip.show(lines, x, y, this.canvas);
  }
}

/** Ticks of an axis: round values, and the capacity. @param {number} capacity */
export function ticksUpTo(capacity) {
  const step = roundStep(capacity / MAX_INTERVALS);
  const round = Array.from({ length: MAX_INTERVALS }, (_, i) => i * step);
  return [...round.filter((value) => value < NEAR * capacity), capacity];
}
