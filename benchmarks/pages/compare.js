// Bench page: two of the twin's Gantts on one view, as the compare page links them, panned and zoomed for a number
// of frames. `measure` is called by benchmarks/browser_compare.py.

import { Gantt } from '../../static/js/gantt/gantt.js';
import { Tip } from '../../static/js/ui/tooltip.js';
import { h } from '../../static/js/ui/dom.js';
import { View } from '../../static/js/core/ranges/time-range.js';
import { modelsOf } from '../../static/js/models/index.js';
import { Playhead } from '../../static/js/core/playhead.js';
import { Store } from '../../static/js/core/store.js';
import { alternating, batchOf, frame, pannedAndZoomed } from './frames.js';

const SERVERS = 100;
const BAR_MS = 600_000;

/** A store with `count` jobs of one bar each, one after the other on each server; `late` ms later in the second run. */
function filled(count, late) {
  const jobs = Array.from({ length: count }, (_, job) => job);
  const starts = jobs.map((job) => Math.floor(job / SERVERS) * BAR_MS + (job % 3 ? late : 0));
  const columns = {
    jobs_job: jobs,
    jobs_start_ms: starts,
    jobs_finish_ms: starts.map((ms) => ms + BAR_MS),
    bars_job: jobs,
    bars_role: jobs.map(() => 0),
    bars_server: jobs.map((job) => job % SERVERS),
    bars_start_ms: starts,
    bars_end_ms: starts.map((ms) => ms + BAR_MS - 60_000),
    bars_count: jobs.map(() => 1),
    bars_lane: jobs.map(() => -1),
    bars_chunk: jobs.map(() => -1),
    bars_group: jobs.map(() => -1),
  };
  const store = new Store();
  /** @type {(job: number) => import('../../static/js/core/columns/frames.js').Line[]} */
  const events = (job) => [
    [0, 'job_arrived', { job }],
    [0, 'plan_changed', ['job', 1, 1, 0]],
  ];
  store.feed(batchOf(jobs.flatMap(events), columns));
  return store;
}

function info(count) {
  const demand = new Array(count * 5).fill(1000);
  const servers = alternating(SERVERS);
  return {
    phases: [{ from_ms: 0, model: 'slotted' }],
    cluster: { slot_ms: BAR_MS, horizon_slots: null, servers },
    ids: Array.from({ length: count }, (_, i) => `j${i}`),
    worker: demand,
    ps: demand,
  };
}

/** {pan, zoom}: ms between the frames while every frame moves the picture. */
async function measure(count, frames, order) {
  const view = new View();
  const playhead = new Playhead();
  const about = info(count);
  const stores = [0, 60_000].map((late) => filled(count, late));
  for (const store of stores) {
    const [canvas, scroller, tip] = [
      h('canvas', { tabindex: 0 }),
      h('div', { class: 'scroller' }, h('div')),
      h('div', { class: 'tip', popover: 'manual' }),
    ];
    document.getElementById('gantts').append(h('div', { class: 'plot gantt half' }, canvas, scroller, tip));
    new Gantt(canvas, {
      store,
      info: about,
      models: modelsOf(about),
      view,
      playhead,
      scroller,
      tip: new Tip(tip),
      order,
      paint: (job, c) => (job % 3 ? [c.jobs[1], c.ink] : [c.same, c.ink]),
    });
  }
  const extent = stores[1].horizonMs;
  view.setExtent(extent);
  playhead.setLive(extent);
  await frame();
  await frame();
  return pannedAndZoomed(frames, view, extent);
}

Object.assign(globalThis, { measure, ready: true });
