// A panel of curves over the page's time range. The legend is the readout: it shows each curve's value at the
// crosshair, or at the playhead; a click on a name hides or shows its curve.

import { redraw } from '../../core/render-loop.js';
import { onTheme } from '../../util/colors.js';
import { fill, h, setText } from '../../ui/dom.js';
import { datasetsOf, meanUntil, valueAt } from './curve-data.js';
import { gestures } from './gestures.js';
import { inPanel } from '../../ui/failures/panel-isolation.js';
import { atMost } from '../../util/throttle.js';
import { ColorBar, HeatRows, placeOf, rowAxis } from '../layouts/heat-rows.js';
import { drawTitles, plotsOf, stackedAxes } from '../layouts/small-multiples.js';
import { applyTheme, plannedShade, syncRange, timeChart, unseenBands, valueAxis } from './time-chart.js';
import { CurveRaster } from './step-raster.js';

const SLOW_MS = 6; // a longer computation is not done in every frame of a zoom
const REST_MS = 180; // between computations for new data
const READ_MS = 100; // between two readouts, which read every job; at once while the crosshair moves

let computedFrame = -1; // time of the last frame in which a panel computed: one per frame, so that none takes too long

export class Curves {
  /**
   * compute(view, p, bins) -> [{key, group, name, color, dash, unit, x, y, stepped, fill}] with x in ms, rising;
   *   or with `long` (LongCurve) in place of x and y: it is painted by pixel columns, over its band; the bands are
   *   shown for one group at a time: that of the name last pointed at
   * exact(t, p) -> {key: value at the time t as known at p}, where the drawn points are means
   * format(value, curve) -> text of the readout; bare(value): the same without the unit
   * y: Chart.js options of the value axis; measure: what its values are, on the axis and in the legend
   * planned(): whether what comes after the time shown is planned; it is drawn paler
   * means(): whether the readout has the means of the range in view, while no time is pointed at
   * onClick(t, curve): a click on the plot, at the time t and nearest to that curve
   */
  constructor(
    canvas,
    /** @type {any} */ {
      view,
      playhead,
      legend,
      compute,
      exact,
      format,
      bare,
      y,
      measure = '',
      hidden = [],
      xTicks = true,
      plugins = [],
      planned = () => false,
      means = () => false,
      onClick,
    },
  ) {
    this.canvas = canvas;
    this.view = view;
    this.playhead = playhead;
    this.legend = legend;
    this.compute = compute;
    this.exact = exact;
    this.format = format;
    this.bare = bare ?? format;
    this.heat = null; // HeatRows, once it is needed
    /** @type {((curve: any) => void) | null} */
    this.onFocus = null; // the pointer is on another curve
    /** @type {((shown: {plots: number, rows: number}) => void) | null} */
    this.onArrange = null;
    this.y = measure ? { ...y, title: { display: true, text: measure } } : y;
    this.measure = measure;
    this.planned = planned;
    this.means = means;
    this.onClick = onClick;
    this.hidden = new Set(hidden);
    this.focus = null; // group of the curves whose band is shown
    this.curves = [];
    this.cost = 0;
    this.computedAt = 0;
    this.stale = true;
    this.computed = 0; // number of computations; with the chart's axes it decides whether the image is valid
    this.raster = new CurveRaster();
    this.layout = null; // one plot
    this.axes = JSON.stringify([null, null]); // what the value axes were made for
    this.plots = null; // of small multiples
    this.draw = inPanel(canvas, (nowMs) => this.#draw(nowMs));
    this.read = atMost(
      READ_MS,
      inPanel(canvas, () => this.#readout()),
    );
    const long = { id: 'long', beforeDatasetsDraw: (chart) => this.#long(chart) };
    this.chart = timeChart(canvas, view, playhead, {
      type: 'line',
      data: { datasets: [] },
      y: this.y,
      plugins: [
        unseenBands(view, playhead),
        long,
        plannedShade(playhead, planned),
        { id: 'titles', afterDatasetsDraw: (chart) => this.#titles(chart) },
        ...plugins,
      ],
      xTicks,
    });
    const click = onClick && ((x, y) => this.#clicked(x, y));
    gestures(canvas, view, () => this.chart.chartArea, { click });
    view.addEventListener('range', () => {
      this.urgent = this.cost < SLOW_MS;
      this.update();
    });
    view.addEventListener('cursor', () => redraw(this.draw));
    playhead.addEventListener('move', () => this.update());
    playhead.addEventListener('state', () => this.update());
    onTheme(() => {
      applyTheme(this.chart);
      this.urgent = true; // paper does not wait for the next computation
      this.update();
    });
  }

  /** The data of the curves have changed. */
  update() {
    this.stale = true;
    redraw(this.draw);
  }

  /**
   * Layout of the curves: null for one plot, {titleOf(curve)} for small multiples, {heat: true} for a heat map
   * of curves that have `long`.
   */
  arrange(layout) {
    this.layout = layout;
    this.axes = null;
    this.update();
  }

  /** Other options of the value axis. */
  setAxis(options) {
    Object.assign(this.y, options);
    this.axes = null;
    this.update();
  }

  /** The time of the crosshair, or else of the playhead. */
  get time() {
    return this.view.cursor ?? this.playhead.ms;
  }

  get log() {
    return this.y.type === 'logarithmic';
  }

  /** The numbers as drawn: {head, rows, total, means}. */
  table(time, limit = 500) {
    const shown = this.curves.filter((curve) => curve.y.length);
    const x = shown[0]?.x ?? [];
    const rows = [];
    for (let i = 0; i < x.length && rows.length < limit; i++) {
      const values = shown.map((curve) => (curve.unit ? this.bare : this.format)(curve.y[i], curve)); // the head has it
      rows.push([time(x[i]), ...values]);
    }
    return {
      head: ['Time', ...shown.map((curve) => (curve.unit ? `${curve.name} (${curve.unit})` : curve.name))],
      rows,
      total: x.length,
      means: Boolean(this.exact) && !this.curves.some(({ long }) => long),
    };
  }

  #draw(nowMs) {
    const moved = syncRange(this.chart, this.view);
    const now = performance.now();
    const rested = now - this.computedAt > REST_MS;
    const due = this.stale && (this.urgent || !this.axes || (rested && computedFrame !== nowMs));
    if (due) {
      computedFrame = nowMs;
      this.#compute(now);
    } else if (moved) this.chart.update('none');
    else this.chart.draw();
    if (this.stale && rested) redraw(this.draw);
    else if (this.stale) this.timer ??= setTimeout(() => this.#again(), REST_MS);
    if (due || this.view.cursor !== null) this.#readout();
    else this.read();
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
    this.computed++;
    for (const curve of this.curves)
      if (curve.long) Object.assign(curve, curve.long.within(this.view.from, this.view.to));
    this.focus ??= this.curves[0]?.group ?? null;
    this.#setAxes();
    this.cost = performance.now() - now;
    this.computedAt = performance.now();
    this.chart.data.datasets = datasetsOf(this.curves, this.hidden, this.#longShown(), this.view);
    this.chart.update('none');
    this.#legend();
  }

  /** The curves that are not hidden. */
  get shown() {
    return this.curves.filter((curve) => !this.hidden.has(curve.key));
  }

  #longShown() {
    return this.shown.filter((curve) => curve.long);
  }

  /** Value axes of the layout; every curve knows its own. */
  #setAxes() {
    const shown = this.shown;
    this.plots = this.layout?.titleOf && shown.length ? plotsOf(shown, this.layout.titleOf) : null;
    for (const curve of this.curves) curve.axis = this.plots ? (this.plots.of.get(curve.key) ?? 'y0') : 'y';
    const names = shown.map(({ name }) => name);
    const axes = JSON.stringify([this.plots?.titles ?? null, this.layout?.heat ? names : null]);
    if (axes === this.axes) return;
    this.axes = axes;
    const y = this.layout?.heat ? rowAxis(names) : this.y;
    const made = this.plots ? stackedAxes(this.plots.titles, { ...y, title: { display: false } }) : { y };
    const { scales } = this.chart.config.options;
    const wide = Object.entries(made).map(([id, options]) => [id, valueAxis(options)]);
    this.chart.config.options.scales = { x: scales.x, ...Object.fromEntries(wide) };
    this.chart.data.datasets = []; // none is left of an axis that is gone
    this.onArrange?.({ plots: Object.keys(made).length, rows: this.layout?.heat ? names.length : 0 });
    this.chart.update('none');
    applyTheme(this.chart);
  }

  #titles(chart) {
    if (this.plots) drawTitles(chart, this.plots.titles);
  }

  /** A click on the plot: reports the nearest curve. */
  #clicked(x, y) {
    const { chartArea: area, scales } = this.chart;
    if (!(x >= area.left && x <= area.right && y >= area.top && y <= area.bottom)) return;
    const t = this.view.from + ((x - area.left) / (area.right - area.left)) * (this.view.to - this.view.from);
    const shown = this.shown;
    const row = shown[Math.floor(((y - area.top) / (area.bottom - area.top)) * shown.length)];
    const away = (curve) => {
      const { top, bottom } = scales[curve.axis];
      if (y < top || y > bottom) return Infinity;
      const px = scales[curve.axis].getPixelForValue(valueAt(curve, t));
      return Number.isFinite(px) ? Math.abs(px - y) : Number.MAX_VALUE;
    };
    const found = this.layout?.heat ? row : shown.reduce((a, b) => (away(b) < away(a) ? b : a), shown[0]);
    if (found) this.onClick(t, found);
  }

  #long(chart) {
    if (!this.chart) return; // Chart.js draws once while it is being built
    const key = `${this.computed} ${this.focus}`;
    if (this.layout?.heat) {
      this.heat ??= new HeatRows();
      return this.heat.paint(chart, this.#longShown(), this.view, { log: this.log, key });
    }
    this.raster.paint(
      chart,
      this.#longShown(),
      this.view,
      (curve) => curve.long.low && curve.group === this.focus,
      key,
    );
  }

  #legend() {
    const heat = Boolean(this.layout?.heat);
    const unseen = Boolean(this.view.unseen?.spans.length);
    const planned = this.planned() && this.#reachesBeyond(this.playhead.ms);
    const curves = this.curves.map((curve) => curve.key + curve.color);
    const signature = [...curves, ...this.hidden, heat, unseen, planned].join();
    if (signature === this.signature) return;
    this.signature = signature;
    this.values = new Map();
    this.bars = new Map(); // key of a curve -> the colour bar of its row
    fill(
      this.legend,
      this.curves.map((curve) => {
        const value = h('b', {}, '');
        this.values.set(curve.key, value);
        if (heat) this.bars.set(curve.key, new ColorBar());
        const toggle = () => {
          if (!this.hidden.delete(curve.key)) this.hidden.add(curve.key);
          this.signature = null;
          this.update();
        };
        const swatch = h('i', {
          class: curve.dash?.length ? 'line dashed' : 'line',
          css: { 'border-color': curve.color },
        });
        const focus = () => {
          if (curve.group === undefined || this.focus === curve.group) return;
          this.focus = curve.group;
          redraw(this.draw);
          this.onFocus?.(curve);
        };
        return h(
          'button',
          {
            type: 'button',
            class: 'key',
            onpointerenter: focus,
            onfocus: focus,
            'aria-pressed': String(!this.hidden.has(curve.key)),
            onclick: toggle,
            title: this.hidden.has(curve.key) ? 'Hidden; click to show this curve' : 'Click to hide this curve',
          },
          heat ? null : swatch,
          h('span', {}, curve.name),
          this.bars.get(curve.key)?.element,
          value,
        );
      }),
      this.measure ? h('span', { class: 'measure-key' }, `in ${this.measure}`) : null,
      this.curves.some(({ key }) => this.hidden.has(key))
        ? h('span', { class: 'hidden-key' }, 'struck through: hidden; click to show')
        : null,
      unseen ? h('span', { class: 'unseen-key' }, h('i', { class: 'unobserved' }), 'cluster not observed') : null,
      planned ? h('span', { class: 'planned-key' }, h('i', { class: 'pale' }), 'planned, after the time shown') : null,
    );
  }

  /** True if a curve in view goes on after a time. */
  #reachesBeyond(ms) {
    return ms < this.view.to && this.shown.some(({ x, long }) => (long?.x ?? x).at(-1) > ms);
  }

  #readout() {
    const t = this.time;
    const mean = this.view.cursor === null && this.means();
    const exact = mean ? null : this.exact?.(t, this.playhead.ms);
    this.legend.title = mean ? 'Means of the range in view; point at the chart for the values at one time' : '';
    for (const curve of this.curves) {
      const value = mean ? meanUntil(curve, this.playhead.ms) : exact ? exact[curve.key] : valueAt(curve, t);
      const bar = this.bars?.get(curve.key);
      const format = bar ? this.bare : this.format; // the bar states the unit
      const text = Number.isFinite(value) ? `${mean ? 'mean ' : ''}${format(value, curve)}` : '–';
      setText(this.values?.get(curve.key), text);
      bar?.show(this.#barOf(curve, value));
    }
  }

  #barOf(curve, value) {
    const ends = this.heat?.ends.get(curve.key);
    if (!ends || !(ends[0] <= ends[1]) || this.hidden.has(curve.key)) return { low: '', high: '–', place: null };
    const [low, high] = ends.map((end) => this.bare(end, curve));
    return { low, high: curve.unit ? `${high} ${curve.unit}` : high, place: placeOf(value, ends, this.log) };
  }
}
