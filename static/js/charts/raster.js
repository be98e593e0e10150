// Level of detail for many bars: one ImageData of plot width x rows, each pixel the share that is allocated there.

import { addInterval, settle } from '../lib/usage.js';
import { NEVER } from '../store.js';

export class Raster {
  constructor() {
    this.canvas = document.createElement('canvas');
    this.context = this.canvas.getContext('2d');
    this.diff = new Float64Array(0);
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
    if (this.diff.length !== width + 2) this.diff = new Float64Array(width + 2);
  }

  /** Paints line `y`: bars [low, high) of `sorted` as they were true at p; `full` is the weight of the darkest pixel. only: [job] 1 where its bars are shown; null = all. */
  line(y, { bars, sorted, low, high, weights, p, from, msPerPx, full, ramp, only = null }) {
    const { diff } = this;
    const width = this.canvas.width;
    const { start_ms: start, end_ms: end, born_ms: born, died_ms: died } = bars;
    diff.fill(0);
    for (let i = low; i < high; i++) {
      const bar = sorted[i];
      if (only && !only[bars.job[bar]]) continue;
      if (born[bar] > p || (died[bar] !== NEVER && died[bar] <= p)) continue;
      addInterval(diff, width, from, msPerPx, start[bar], end[bar], weights[bar]);
    }
    settle(diff, width);
    const scale = 255 / full;
    const offset = y * width;
    for (let x = 0; x < width; x++) {
      const share = diff[x];
      if (share > 0) this.words[offset + x] = ramp[Math.min(255, Math.max(18, Math.round(share * scale)))];
    }
  }

  /** Lays the image over the plot, `rowHeight` px a line, first line at y. */
  blit(target, x, y, width, rowHeight) {
    this.context.putImageData(this.image, 0, 0);
    target.imageSmoothingEnabled = false;
    target.drawImage(this.canvas, x, y, width, this.canvas.height * rowHeight);
  }
}
