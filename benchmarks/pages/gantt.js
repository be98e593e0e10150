// Bench page: the twin's Gantt over synthetic bars, panned and zoomed for a number of frames. `measure` is called by
// benchmarks/browser_gantt.py.

import { Gantt } from '../../static/js/gantt/gantt.js';
import { Tip } from '../../static/js/ui/tooltip.js';
import { View } from '../../static/js/core/ranges/time-range.js';
import { modelsOf } from '../../static/js/models/index.js';
import { Playhead } from '../../static/js/core/playhead.js';
import { Store } from '../../static/js/core/store.js';
import { alternating, batchOf, frame, pannedAndZoomed } from './frames.js';

const SERVERS = 100;
const BAR_MS = 600_000;

/** A store with `count` bars, one after the other on each server, one plan for those of a server. */
function filled(count) {
  const each = Math.ceil(count / SERVERS);
  /** @type {import('../../static/js/core/columns/frames.js').Line[]} */
  const events = Array.from({ length: SERVERS }, () => [0, 'plan_changed', ['job', 1, each, 0]]);
  const servers = Array.from({ length: SERVERS }, (_, i) => i);
  const of = (value) => Float64Array.from({ length: SERVERS * each }, (_, i) => value(Math.floor(i / each), i % each));
  const [none, server] = [of(() => -1), of((s) => s)];
  const columns = {
    jobs_job: servers,
    jobs_start_ms: servers.map(() => 0),
    jobs_finish_ms: servers.map(() => each * BAR_MS),
    bars_job: server,
    bars_role: of(() => 0),
    bars_server: server,
    bars_start_ms: of((_, i) => i * BAR_MS),
    bars_end_ms: of((_, i) => (i + 1) * BAR_MS - (i % 7) * 60_000),
    bars_count: of((_, i) => 1 + (i % 3)),
    bars_lane: none,
    bars_chunk: none,
    bars_group: none,
  };
  const store = new Store();
  store.feed(batchOf(events, columns));
  return store;
}

function info() {
  const demand = new Array(SERVERS * 5).fill(1000);
  const servers = alternating(SERVERS);
  return {
    phases: [{ from_ms: 0, model: 'slotted' }],
    cluster: { slot_ms: BAR_MS, horizon_slots: null, servers },
    ids: servers.map((s) => s.name),
    worker: demand,
    ps: demand,
  };
}

/**
 * order: of the rows. {pan, zoom}: ms between the frames while every frame moves the picture;
 * {paint}: ms of the page's own drawing in each.
 */
async function measure(count, frames, order) {
  const store = filled(count);
  const about = info();
  const view = new View();
  const playhead = new Playhead();
  const gantt = new Gantt(document.getElementById('gantt'), {
    store,
    info: about,
    models: modelsOf(about),
    view,
    playhead,
    order,
    scroller: document.getElementById('scroller'),
    tip: new Tip(document.getElementById('tip')),
  });
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
  const { pan, zoom } = await pannedAndZoomed(frames, view, extent);
  return { pan, zoom, paint, bars: store.bars.length };
}

Object.assign(globalThis, { measure, ready: true });
