// A panel of curves over the page's time range. The legend is the readout: it shows each curve's value at the crosshair, or
// at the playhead; a click on a name hides or shows its curve.

import { redraw } from '../frame.js';
import { onTheme } from '../lib/colors.js';
import { fill, h, setText } from '../lib/dom.js';
import { gestures } from '../lib/gestures.js';
import { upperBound } from '../lib/search.js';
import { applyTheme, syncRange, timeChart } from './axes.js';

const SLOW_MS = 6; // computing that took longer is not done in every frame of a zoom
const REST_MS = 180; // between computations for new data

export class Curves {
  /**
   * compute(view, p, bins) -> [{key, group, name, color, dash, unit, x, y, low, high, stepped, fill}] with x in ms, rising;
   *   the bands from low to high are shown for one group at a time: that of the name last pointed at
   * exact(t, p) -> {key: value at the moment t as known at p}, where the drawn points are means;  format(value, curve) -> text
   *   of the readout;  y: Chart.js options of the value axis
   */
  constructor(canvas, { view, playhead, legend, compute, exact, format, y, hidden = [], xTicks = true, plugins = [] }) {
    Object.assign(this, { canvas, view, playhead, legend, compute, exact, format });
    this.hidden = new Set(hidden);
    this.focus = null; // group of the curves whose band is shown
    this.curves = [];
    this.cost = 0;
    this.computedAt = 0;
    this.stale = true;
    this.draw = () => this.#draw();
    const bands = { id: 'bands', beforeDatasetsDraw: (chart) => this.#bands(chart) };
    this.chart = timeChart(canvas, view, playhead, { type: 'line', data: { datasets: [] }, y, plugins: [bands, ...plugins], xTicks });
    gestures(canvas, view, () => this.chart.chartArea);
    view.addEventListener('range', () => {
      this.urgent = this.cost < SLOW_MS;
      this.update();
    });
    view.addEventListener('cursor', () => redraw(this.draw));
    playhead.addEventListener('move', () => this.update());
    playhead.addEventListener('state', () => this.update());
    onTheme(() => {
      applyTheme(this.chart);
      this.update();
    });
  }

  /** What the curves show has changed. */
  update() {
    this.stale = true;
    redraw(this.draw);
  }

  /** The numbers as drawn: {head, rows, total}. */
  table(time, limit = 500) {
    const shown = this.curves.filter((curve) => curve.y.length);
    const x = shown[0]?.x ?? [];
    const rows = [];
    for (let i = 0; i < x.length && rows.length < limit; i++) {
      rows.push([time(x[i]), ...shown.map((curve) => this.format(curve.y[i], curve))]);
    }
    return { head: ['Time', ...shown.map((curve) => (curve.unit ? `${curve.name} (${curve.unit})` : curve.name))], rows, total: x.length };
  }

  #draw() {
    const moved = syncRange(this.chart, this.view);
    const now = performance.now();
    const due = this.urgent || now - this.computedAt > REST_MS;
    if (this.stale && due) this.#compute(now);
    else if (moved) this.chart.update('none');
    else this.chart.draw();
    if (this.stale) this.timer ??= setTimeout(() => this.#again(), REST_MS);
    this.#readout();
  }

  #again() {
    this.timer = null;
    redraw(this.draw);
  }

  #compute(now) {
    this.stale = this.urgent = false;
    clearTimeout(this.timer);
    this.timer = null;
    const area = this.chart.chartArea;
    const bins = Math.max(60, Math.round((area ? area.right - area.left : 600) / 2));
    this.curves = this.compute(this.view, this.playhead.ms, bins);
    this.focus ??= this.curves[0]?.group ?? null;
    this.cost = performance.now() - now;
    this.computedAt = performance.now();
    this.chart.data.datasets = this.curves.map((curve) => ({
      data: points(curve), hidden: this.hidden.has(curve.key), borderColor: curve.color, borderWidth: curve.width ?? 1.5, borderDash: curve.dash ?? [],
      stepped: curve.stepped ?? false, pointRadius: 0, fill: curve.fill ? 'origin' : false, backgroundColor: `${curve.color}22`, spanGaps: false,
    }));
    this.chart.update('none');
    this.#legend();
  }

  #bands(chart) {
    const { ctx, scales, chartArea: area } = chart;
    ctx.save();
    ctx.beginPath();
    ctx.rect(area.left, area.top, area.right - area.left, area.bottom - area.top);
    ctx.clip();
    for (const curve of this.curves) {
      if (!curve.low || curve.group !== this.focus || this.hidden.has(curve.key)) continue;
      ctx.fillStyle = curve.color;
      ctx.globalAlpha = 0.13;
      for (let i = 0; i + 1 < curve.x.length; i++) {
        if (!Number.isFinite(curve.low[i]) || !Number.isFinite(curve.high[i])) continue;
        const left = scales.x.getPixelForValue(curve.x[i]);
        const right = scales.x.getPixelForValue(curve.x[i + 1]);
        if (right < area.left || left > area.right) continue;
        const top = scales.y.getPixelForValue(curve.high[i]);
        const bottom = scales.y.getPixelForValue(Math.max(curve.low[i], scales.y.min));
        ctx.fillRect(left, top, right - left + 0.3, Math.max(0, bottom - top));
      }
    }
    ctx.restore();
  }

  #legend() {
    const signature = this.curves.map((curve) => curve.key + curve.color).join() + [...this.hidden].join();
    if (signature === this.signature) return;
    this.signature = signature;
    this.values = new Map();
    fill(this.legend, this.curves.map((curve) => {
      const value = h('b', {}, '');
      this.values.set(curve.key, value);
      const toggle = () => {
        if (!this.hidden.delete(curve.key)) this.hidden.add(curve.key);
        this.signature = null;
        this.update();
      };
      const swatch = h('i', { class: curve.dash?.length ? 'line dashed' : 'line', css: { 'border-color': curve.color } });
      const focus = () => {
        if (curve.group === undefined || this.focus === curve.group) return;
        this.focus = curve.group;
        redraw(this.draw);
        this.onFocus?.(curve);
      };
      return h('button', { type: 'button', class: 'key', onpointerenter: focus, onfocus: focus, 'aria-pressed': String(!this.hidden.has(curve.key)), onclick: toggle, title: 'Hide or show this curve' },
        swatch, h('span', {}, curve.name), value);
    }));
  }

  #readout() {
    const t = this.view.cursor ?? this.playhead.ms;
    const exact = this.exact?.(t, this.playhead.ms);
    for (const curve of this.curves) {
      const at = upperBound(curve.x.length, t, (i) => curve.x[i]) - 1;
      const value = exact ? exact[curve.key] : at >= 0 ? curve.y[at] : null;
      setText(this.values?.get(curve.key), Number.isFinite(value) ? this.format(value, curve) : '–');
    }
  }
}

function points({ x, y }) {
  const out = new Array(x.length);
  for (let i = 0; i < x.length; i++) out[i] = { x: x[i], y: Number.isFinite(y[i]) ? y[i] : null };
  return out;
}
