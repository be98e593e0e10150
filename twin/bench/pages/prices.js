// Bench page: sixteen synthetic price curves in the product's panel, panned and zoomed for a number of frames. `measure` is
// called by twin/bench/browser_prices.py.

import { Curves } from '/static/js/charts/curves.js';
import { thin } from '/static/js/lib/thin.js';
import { View } from '/static/js/lib/view.js';
import { Playhead } from '/static/js/playhead.js';

const CURVES = 16;
const SLOT_MS = 60_000;
const COLORS = ['#0072b2', '#d55e00', '#009e73', '#a0568a'];

/** Prices that rise and fall by steps, each curve its own. */
function series(count, which) {
  const x = Float64Array.from({ length: count }, (_, slot) => slot * SLOT_MS);
  const y = Float64Array.from({ length: count }, (_, slot) => 1 + Math.abs(Math.sin(slot / (300 + 40 * which))) + 0.3 * Math.abs(Math.sin(slot * (which + 1))));
  return { x, y, low: y.map((v) => v * 0.8), high: y.map((v) => v * 1.3) };
}

/** {pan, zoom}: ms between the frames while every frame moves the picture; {paint}: ms of the page's own drawing in each. */
globalThis.measure = async (count, frames) => {
  const all = Array.from({ length: CURVES }, (_, i) => series(count, i));
  const view = new View();
  const playhead = new Playhead();
  const extent = count * SLOT_MS;
  const compute = (range, p, bins) => all.map((one, i) => ({ key: String(i), group: i, name: `curve ${i}`, unit: 'per unit', color: COLORS[i % COLORS.length], stepped: true, ...thin(one, range.from, range.to, bins) }));
  const curves = new Curves(document.getElementById('prices'), { view, playhead, legend: document.getElementById('legend'), compute, format: (v) => v.toFixed(2), y: { type: 'linear' } });
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
  const pan = await moved(frames, (i) => view.set(extent * 0.02 * Math.sin(i / 9), extent * (0.98 + 0.02 * Math.sin(i / 9))));
  const zoom = await moved(frames, (i) => {
    const half = (extent / 2) * (0.5 + 0.49 * Math.cos(i / 12));
    view.set(extent / 2 - half, extent / 2 + half);
  });
  return { pan, zoom, paint };
};

async function moved(frames, move) {
  const gaps = [];
  let last = await frame();
  for (let i = 0; i < frames; i++) {
    move(i);
    const now = await frame();
    gaps.push(now - last);
    last = now;
  }
  return gaps;
}

function frame() {
  return new Promise((done) => requestAnimationFrame(done));
}

globalThis.ready = true;
