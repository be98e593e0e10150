// Rows with many bars, or too low for them: each pixel is shaded by the allocated share of the most allocated resource,
// or, in a row without a capacity, by the number of workers. The bars of selected jobs lie on it, which is then pale.

import { endAt, validAt } from '../../core/columns/bars.js';
import { number, percent } from '../../util/format.js';
import { fullest } from '../../core/held-shares.js';
import { addInterval } from '../../util/interval-sums.js';
import { LEVEL, Layer } from './layer.js';

const GAP_PX = 6; // rows this high have a gap between them
const DUST = 1e-9; // sums below come from rounding
const PALE = 0.3; // opacity of the shades while a job is selected

export class Occupancy extends Layer {
  constructor(store) {
    super('occupancy', LEVEL.SHADE);
    this.store = store;
    this.raster = new Raster();
  }

  paint(ctx, frame) {
    const { area, views, rowPx, y0 } = frame;
    if (!views.some(({ how }) => how === 'shade')) return;
    const width = Math.max(1, Math.round(area.right - area.left));
    this.raster.begin(width, views.length);
    views.forEach((each, i) => each.how === 'shade' && this.#row(frame, each, i, width));
    ctx.globalAlpha = frame.selected === null ? 1 : PALE;
    this.raster.blit(ctx, area.left, y0, area.right - area.left, rowPx);
    ctx.globalAlpha = 1;
    if (frame.selected !== null) views.forEach((each) => each.how === 'shade' && this.#chosen(ctx, frame, each));
    if (frame.detail !== 'shade' || rowPx < GAP_PX) return;
    ctx.fillStyle = frame.c.panel;
    for (let i = 0; i <= views.length; i++)
      ctx.fillRect(area.left, Math.round(y0 + i * rowPx) - 1, area.right - area.left, 1);
  }

  #row(frame, { row, low, high }, i, width) {
    this.raster.line(i, {
      bars: this.store.bars,
      sorted: row.sorted,
      low,
      high,
      measures: frame.rows.measures(row, frame.p),
      p: frame.p,
      ramp: frame.c.shades,
      from: frame.from,
      msPerPx: (frame.view.to - frame.from) / width,
      only: frame.selected === null ? frame.marked : null,
    });
  }

  /** The bars of the selected jobs in a shaded row, each as high as the row. */
  #chosen(ctx, frame, { row, y, low, high }) {
    const { bars } = this.store;
    const { area, rowPx } = frame;
    for (let i = low; i < high; i++) {
      const bar = row.sorted[i];
      if (frame.dims(bars.job[bar]) || !validAt(bars, bar, frame.p)) continue;
      const span = frame.spanOf(bars.start_ms[bar], endAt(bars, bar, frame.p));
      if (!span) continue;
      [ctx.fillStyle] = frame.paint(bars.job[bar], frame.c);
      ctx.fillRect(span[0], y, Math.min(area.right - span[0], Math.max(1, span[1] - span[0])), rowPx);
    }
  }

  /** Utilization of the row's fullest resource at a time, or its workers. */
  hit(x, y, frame) {
    const point = frame.at(x, y);
    if (!point || point.how === 'owned' || point.how === 'none' || point.row.kind === 'job') return null;
    const { bars } = this.store;
    const now = frame
      .barsAt(point)
      .filter((bar) => bars.start_ms[bar] <= point.t && point.t < endAt(bars, bar, frame.p));
    return now.length ? { row: point.row, t: point.t, now } : null;
  }

  describe({ row, t, now }, frame) {
    const measures = frame.rows.measures(row, frame.p);
    if (!frame.rows.serversOf(row).length) {
      const [workers] = measures;
      const sum = now.reduce((total, bar) => total + workers.amountOf(bar), 0);
      return [[workers.name, `${number(sum, 0)}, at most ${number(workers.capacity[0][1], 0)} at a time`]];
    }
    const most = fullest(measures, now, t);
    return most?.share ? [[most.name, percent(most.share)]] : [];
  }
}

/** One ImageData of plot width x rows. */
export class Raster {
  constructor() {
    this.canvas = document.createElement('canvas');
    this.context = this.canvas.getContext('2d');
    this.diff = new Float64Array(0);
    this.most = new Float64Array(0);
  }

  /** Prepares an image of width x height cells. */
  begin(width, height) {
    if (this.canvas.width !== width || this.canvas.height !== height || !this.image) {
      this.canvas.width = width;
      this.canvas.height = height;
      this.image = this.context.createImageData(width, height);
      this.words = new Uint32Array(this.image.data.buffer);
    }
    this.words.fill(0);
    this.diff.fill(0);
    if (this.most.length === width) return;
    this.diff = new Float64Array(width + 2);
    this.most = new Float64Array(width);
  }

  /**
   * Paints line `y`: those of the bars [low, high) of `sorted` that are valid at p, all of a measure (held-shares.js)
   * in the darkest colour. only: [job] 1 where its bars are shown; null = all.
   */
  line(y, /** @type {any} */ { ramp, ...what }) {
    this.shade(y, perPixel(this.canvas.width, what, this), ramp);
  }

  /** Shades line `y`: each pixel by its own share. */
  shade(y, shares, ramp) {
    const width = this.canvas.width;
    const offset = y * width;
    for (let x = 0; x < width; x++) {
      if (shares[x] > 0) this.words[offset + x] = ramp[Math.min(255, Math.max(18, Math.round(shares[x] * 255)))];
    }
  }

  /** Lays the image over the plot, `rowHeight` px a line, first line at y. */
  blit(target, x, y, width, rowHeight) {
    this.context.putImageData(this.image, 0, 0);
    target.imageSmoothingEnabled = false;
    target.drawImage(this.canvas, x, y, width, this.canvas.height * rowHeight);
  }
}

/**
 * Allocated share of the fullest measure at each pixel. Each measure is summed separately, and only over the pixels
 * that have bars. diff must be all 0, and is all 0 again afterwards.
 */
export function perPixel(width, { bars, sorted, low, high, measures, p, from, msPerPx, only = null }, { diff, most }) {
  const { start_ms: start } = bars;
  const end = (/** @type {number} */ bar) => endAt(bars, bar, p);
  most.fill(0);
  const shown = [];
  let [first, last] = [width, 0];
  for (let i = low; i < high; i++) {
    const bar = sorted[i];
    if (only && !only[bars.job[bar]]) continue;
    if (!validAt(bars, bar, p)) continue;
    const [a, b] = [(start[bar] - from) / msPerPx, (end(bar) - from) / msPerPx];
    if (b <= Math.max(a, 0) || a >= width) continue;
    shown.push(bar);
    first = Math.min(first, Math.max(0, Math.floor(a)));
    last = Math.max(last, Math.min(width, Math.ceil(b)));
  }
  for (const { amountOf, capacity } of measures) {
    for (const bar of shown) addInterval(diff, width, from, msPerPx, start[bar], end(bar), amountOf(bar));
    let [sum, step] = [0, 0];
    let [until, amount] = capacity[0];
    for (let x = first; x < last; x++) {
      sum += diff[x];
      diff[x] = 0;
      if (sum < DUST) continue;
      while (from + x * msPerPx >= until) [until, amount] = capacity[++step];
      const share = amount > 0 ? sum / amount : 0;
      if (share > most[x]) most[x] = share;
    }
    diff.fill(0, last, last + 2);
  }
  return most;
}
