// Heat map of curves: a row for each curve, coloured in each pixel column by its highest value there. The colours of a
// row run from its lowest to its highest value in the range shown, as rows have different units; its colour bar states
// both.

import { h, setText } from '../../ui/dom.js';
import { colors } from '../../util/colors.js';
import { spans } from '../../util/step-series.js';

const NARROW_PX = 640; // of the window: names of rows are shortened
const MAX_SHORT = 5; // letters of a word that is not shortened to its first half: 'cloud mem.'

/** @param {Float64Array} values @returns {[number, number]} lowest and highest; [Infinity, -Infinity] without values */
export function endsOf(values) {
  let [least, most] = [Infinity, -Infinity];
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    least = Math.min(least, value);
    most = Math.max(most, value);
  }
  return [least, most];
}

/**
 * Place of a value between the ends of a row, 0 to 1; null where it has none.
 *
 * @param {number | null | undefined} value
 * @param {[number, number]} ends
 * @param {boolean} log
 */
export function placeOf(value, [least, most], log) {
  if (typeof value !== 'number' || !Number.isFinite(value) || !(least <= most)) return null;
  const scaled = (/** @type {number} */ v) => (log ? Math.log(Math.max(v, Number.MIN_VALUE)) : v);
  const [low, high] = [scaled(least), scaled(most)];
  return high > low ? Math.min(1, Math.max(0, (scaled(value) - low) / (high - low))) : 0;
}

/**
 * Index of the colour, 0 (none) to 255, of each column of a row.
 *
 * @param {Float64Array} values
 * @param {boolean} log
 */
export function shades(values, log) {
  const ends = endsOf(values);
  return Uint8Array.from(values, (value) => {
    const place = placeOf(value, ends, log);
    return place === null ? 0 : 1 + Math.round(254 * place);
  });
}

/**
 * Options of the value axis of a heat map: the names of the rows.
 *
 * @param {string[]} names
 */
export function rowAxis(names) {
  const text = (/** @type {string} */ name) => (innerWidth < NARROW_PX ? name.replace(/\w+/g, short) : name);
  return {
    type: 'linear',
    min: 0,
    max: Math.max(1, names.length),
    reverse: true,
    border: { display: false },
    grid: { display: false },
    afterBuildTicks: (/** @type {any} */ axis) => {
      axis.ticks = names.map((_, row) => ({ value: row + 0.5 }));
    },
    ticks: { autoSkip: false, callback: (/** @type {number} */ value) => text(names[Math.floor(value)] ?? '') },
  };
}

const short = (/** @type {string} */ word) =>
  word.length > MAX_SHORT ? `${word.slice(0, Math.floor(word.length / 2))}.` : word;

export class HeatRows {
  constructor() {
    this.canvas = document.createElement('canvas');
    this.key = '';
    /** @type {Map<string, [number, number]>} */
    this.ends = new Map(); // key of a curve -> the values that its first and its last colour stand for
  }

  /**
   * Paints the rows over the plot. What was painted is kept as long as `key`, the range and the size stay the same.
   *
   * @param {any} chart
   * @param {{key: string, long: import('../../util/step-series.js').LongCurve}[]} curves
   * @param {{from: number, to: number}} view
   * @param {{log: boolean, key: string}} options
   */
  paint(chart, curves, view, { log, key }) {
    const { ctx, chartArea: area } = chart;
    const width = Math.round((area.right - area.left) * chart.currentDevicePixelRatio);
    if (width < 1 || !curves.length) return;
    const now = [key, log, view.from, view.to, width, curves.length].join();
    if (now !== this.key) this.#fill(curves, view, width, log);
    this.key = now;
    ctx.save();
    ctx.imageSmoothingEnabled = false;
    ctx.drawImage(this.canvas, area.left, area.top, area.right - area.left, area.bottom - area.top);
    ctx.fillStyle = colors().panel; // a gap between the rows
    const height = (area.bottom - area.top) / curves.length;
    for (let row = 1; row < curves.length; row++)
      ctx.fillRect(area.left, Math.round(area.top + row * height), area.right - area.left, 1);
    ctx.restore();
  }

  /**
   * @param {{key: string, long: import('../../util/step-series.js').LongCurve}[]} curves
   * @param {{from: number, to: number}} view
   * @param {number} width
   * @param {boolean} log
   */
  #fill(curves, view, width, log) {
    const { ramp } = colors();
    [this.canvas.width, this.canvas.height] = [width, curves.length];
    const context = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext('2d'));
    const image = context.createImageData(width, curves.length);
    const words = new Uint32Array(image.data.buffer);
    this.ends.clear();
    curves.forEach(({ key, long }, row) => {
      const { high } = long.columns('y', spans(long.x, view.from, view.to, width));
      this.ends.set(key, endsOf(high));
      shades(high, log).forEach((shade, column) => (words[row * width + column] = ramp[shade]));
    });
    context.putImageData(image, 0, 0);
  }
}

/** Colour bar of a row: the values at its two ends with their unit, and a mark at the value of the moment. */
export class ColorBar {
  constructor() {
    this.low = h('span', { class: 'low' });
    this.high = h('span', { class: 'high' });
    this.mark = h('i', { class: 'pointer-line', hidden: true });
    this.element = h('span', { class: 'color-bar' }, this.low, h('i', { class: 'ramp' }, this.mark), this.high);
  }

  /** @param {{low: string, high: string, place: number | null}} shown place: of the value between the ends, 0 to 1 */
  show({ low, high, place }) {
    setText(this.low, low);
    setText(this.high, high);
    this.mark.hidden = place === null;
    if (place !== null) this.mark.style.left = `${(place * 100).toFixed(1)}%`;
  }
}
