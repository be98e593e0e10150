// Bench page: sixteen synthetic price curves in the twin's panel, panned and zoomed for a number of frames.
// `measure` is called by benchmarks/browser_prices.py.

import { Curves } from '../../static/js/charts/parts/line-panel.js';
import { LongCurve } from '../../static/js/util/step-series.js';
import { View } from '../../static/js/core/ranges/time-range.js';
import { Playhead } from '../../static/js/core/playhead.js';
import { frame, pannedAndZoomed } from './frames.js';

const CURVES = 16;
const SLOT_MS = 60_000;
const COLORS = ['#0072b2', '#d55e00', '#009e73', '#a0568a'];

/** Prices that rise and fall by steps over the slots `x`, each curve its own. */
function series(x, which) {
  const y = x.map(
    (_, slot) => 1 + Math.abs(Math.sin(slot / (300 + 40 * which))) + 0.3 * Math.abs(Math.sin(slot * (which + 1))),
  );
  return new LongCurve({ x, y, low: y.map((v) => v * 0.8), high: y.map((v) => v * 1.3) });
}

/**
 * {pan, zoom}: ms between the frames while every frame moves the picture;
 * {paint}: ms of the page's own drawing in each.
 */
async function measure(count, frames) {
  const x = Float64Array.from({ length: count }, (_, slot) => slot * SLOT_MS);
  const all = Array.from({ length: CURVES }, (_, i) => series(x, i));
  const view = new View();
  const playhead = new Playhead();
  const extent = count * SLOT_MS;
  const compute = () =>
    all.map((long, i) => ({
      key: String(i),
      group: i,
      name: `curve ${i}`,
      unit: 'per unit',
      color: COLORS[i % COLORS.length],
      dash: i % 2 ? [5, 3] : [],
      long,
    }));
  const curves = new Curves(document.getElementById('prices'), {
    view,
    playhead,
    legend: document.getElementById('legend'),
    compute,
    format: (v) => v.toFixed(2),
    y: { type: 'linear' },
  });
  view.setExtent(extent);
  playhead.setLive(extent);
  const paint = [];
  const { draw } = curves;
  curves.draw = () => {
    const began = performance.now();
    draw();
    paint.push(performance.now() - began);
  };
  await frame();
  await frame();
  const { pan, zoom } = await pannedAndZoomed(frames, view, extent);
  return { pan, zoom, paint };
}

Object.assign(globalThis, { measure, ready: true });
