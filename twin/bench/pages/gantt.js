// Bench page: the product's Gantt over synthetic bars, panned and zoomed for a number of frames. `measure` is called by
// twin/bench/browser_gantt.py.

import { Gantt } from '/static/js/charts/gantt.js';
import { Tip } from '/static/js/controls/tip.js';
import { View } from '/static/js/lib/view.js';
import { Playhead } from '/static/js/playhead.js';
import { Store } from '/static/js/store.js';
import { frame, moved } from './frames.js';

const SERVERS = 100;
const BAR_MS = 600_000;

/** A store with `count` bars, one after the other on each server, ten jobs at a time. */
function filled(count) {
  const store = new Store();
  const each = Math.ceil(count / SERVERS);
  const events = [];
  for (let server = 0, seq = 1; server < SERVERS; server++) {
    const bars = [];
    for (let i = 0; i < each; i++) bars.push(server, 0, server, i * BAR_MS, (i + 1) * BAR_MS - (i % 7) * 60_000, 1 + (i % 3), -1, -1, -1);
    events.push([seq++, 0, 'planned', { job: server, finish_ms: each * BAR_MS, bars }]);
  }
  store.feed(events);
  return store;
}

function info() {
  const demand = new Array(SERVERS * 5).fill(1000);
  const servers = Array.from({ length: SERVERS }, (_, i) => ({ name: `s${i}`, site: i % 2 ? 'cloud' : 'edge', roles: ['worker', 'ps'], capacity: [4000, 4000, 4000, 4000, 4000] }));
  return { scheduler: { lanes: false }, cluster: { slot_ms: BAR_MS, horizon_slots: null, servers }, ids: servers.map((s) => s.name), worker: demand, ps: demand };
}

/** {pan, zoom}: ms between the frames while every frame moves the picture; {paint}: ms of the page's own drawing in each. */
globalThis.measure = async (count, frames) => {
  const store = filled(count);
  const view = new View();
  const playhead = new Playhead();
  const gantt = new Gantt(document.getElementById('gantt'), { store, info: info(), view, playhead, scroller: document.getElementById('scroller'), tip: new Tip(document.getElementById('tip')) });
  view.setExtent(store.horizonMs);
  playhead.setLive(store.horizonMs);
  const paint = [];
  const draw = gantt.draw;
  gantt.draw = () => {
    const began = performance.now();
    draw();
    paint.push(performance.now() - began);
  };
  await frame();
  await frame();
  const extent = store.horizonMs;
  const pan = await moved(frames, (i) => view.set(extent * 0.02 * Math.sin(i / 9), extent * (0.98 + 0.02 * Math.sin(i / 9))));
  const zoom = await moved(frames, (i) => {
    const half = (extent / 2) * (0.5 + 0.49 * Math.cos(i / 12));
    view.set(extent / 2 - half, extent / 2 + half);
  });
  return { pan, zoom, paint, bars: store.bars.length };
};

globalThis.ready = true;
