// Long curves as one image of the plot: for each pixel column, the range from the lowest to the highest value that is
// visible there. A canvas strokes a hundred thousand steps in a third of a second; writing their columns takes a few
// milliseconds.

import { spans } from '../../util/step-series.js';

export class CurveRaster {
  constructor() {
    this.canvas = document.createElement('canvas');
    this.context = this.canvas.getContext('2d');
    this.key = '';
  }

  /**
   * Paints `curves` ({long, color '#rrggbb', width px, dash [on, off] px, axis}) over the chart's plot, each within its
   * value axis, first the bands of those for which banded(curve). What was painted is kept as long as `key` and the
   * axes stay the same.
   */
  paint(chart, curves, view, banded, key) {
    const { ctx, chartArea: area, scales } = chart;
    const ratio = chart.currentDevicePixelRatio;
    const width = Math.round((area.right - area.left) * ratio);
    const height = Math.round((area.bottom - area.top) * ratio);
    if (width < 1 || height < 1 || !curves.length) return;
    const axes = [...new Set(curves.map(({ axis = 'y' }) => axis))].map((id) => scales[id]);
    const shape = axes.map(({ type, min, max, top, bottom }) => [type, min, max, top, bottom].join());
    const now = [key, view.from, view.to, ...shape, width, height].join();
    if (now !== this.key) {
      this.key = now;
      this.#begin(width, height);
      const known = new Map(); // curves with the same x have the same spans
      const shown = (x) => known.get(x) ?? known.set(x, spans(x, view.from, view.to, width)).get(x);
      const rowOf = ({ axis = 'y' }) => {
        const y = scales[axis];
        const inside = (px) => Math.min(Math.max(px, y.top), y.bottom);
        return (value) => (inside(y.getPixelForValue(Math.max(value, y.min))) - area.top) * ratio;
      };
      for (const curve of curves) if (banded(curve)) this.#band(curve, shown(curve.long.x), rowOf(curve));
      const phase = Math.round(view.from / ((view.to - view.from) / width)); // dashes move with the curve
      for (const curve of curves) this.#line(curve, shown(curve.long.x), rowOf(curve), ratio, phase);
      this.context.putImageData(this.image, 0, 0);
    }
    ctx.drawImage(this.canvas, area.left, area.top, width / ratio, height / ratio);
  }

  #begin(width, height) {
    if (this.image?.width !== width || this.image.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
      this.image = this.context.createImageData(width, height);
      this.words = new Uint32Array(this.image.data.buffer);
    }
    this.words.fill(0);
    if (this.found?.low.length !== width) this.found = { low: new Float64Array(width), high: new Float64Array(width) };
  }

  #band({ long, color }, shown, rowOf) {
    const { low } = long.columns('low', shown);
    const { high } = long.columns('high', shown);
    const word = wordOf(color);
    for (let column = 0; column < low.length; column++)
      if (low[column] <= high[column]) this.#fill(column, rowOf(high[column]), rowOf(low[column]), word, 0.13);
  }

  #line({ long, color, width = 1.5, dash = [] }, shown, rowOf, ratio, phase) {
    const { low, high } = long.columns('y', shown, this.found);
    const word = wordOf(color);
    const half = (width * ratio) / 2;
    const wide = Math.max(0, Math.round(width * ratio) - 2); // further columns that a jump covers on a dense screen
    const [on, off] = dash.length ? dash.map((px) => Math.round(px * ratio)) : [1, 0];
    // of the gap of a dash: the next column shows it, so that no peak falls into a gap
    let [least, most] = [Infinity, -Infinity];
    for (let column = 0; column < low.length; column++) {
      for (let back = Math.max(0, column - wide); back <= column; back++) {
        if (low[back] < least) least = low[back];
        if (high[back] > most) most = high[back];
      }
      if (least > most) continue;
      if (off && (((column + phase) % (on + off)) + on + off) % (on + off) >= on) continue;
      this.#fill(column, rowOf(most) - half, rowOf(least) + half, word, 1);
      [least, most] = [Infinity, -Infinity];
    }
  }

  /** Lays the colour over rows top..bottom (fractions of a pixel count by their share) of a column. */
  #fill(column, top, bottom, word, alpha) {
    const { width, height } = this.image;
    top = Math.max(0, top);
    bottom = Math.min(height, bottom);
    if (!(top < bottom)) return;
    const first = Math.floor(top);
    const last = Math.ceil(bottom) - 1;
    if (first === last) return this.#blend(first * width + column, word, alpha * (bottom - top));
    this.#blend(first * width + column, word, alpha * (first + 1 - top));
    this.#blend(last * width + column, word, alpha * (bottom - last));
    const { words } = this;
    const begin = (first + 1) * width + column;
    const end = last * width + column;
    if (alpha === 1) for (let at = begin; at < end; at += width) words[at] = word;
    else for (let at = begin; at < end; at += width) this.#blend(at, word, alpha);
  }

  #blend(at, word, alpha) {
    const under = this.words[at];
    if (under === 0) {
      this.words[at] = (word & 0xffffff) | (Math.round(alpha * 255) << 24);
      return;
    }
    const below = ((under >>> 24) / 255) * (1 - alpha);
    const all = alpha + below;
    const share = alpha / all;
    const red = (under & 255) + ((word & 255) - (under & 255)) * share;
    const green = ((under >>> 8) & 255) + (((word >>> 8) & 255) - ((under >>> 8) & 255)) * share;
    const blue = ((under >>> 16) & 255) + (((word >>> 16) & 255) - ((under >>> 16) & 255)) * share;
    this.words[at] =
      (Math.round(all * 255) << 24) | (Math.round(blue) << 16) | (Math.round(green) << 8) | Math.round(red);
  }
}

/** '#rrggbb' as an opaque pixel of an ImageData: bytes red, green, blue, alpha. */
function wordOf(color) {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}
