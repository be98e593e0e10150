// A small schedule, its frame, and a canvas that writes down what is filled, for the tests of the Gantt's layers.

import { Store } from '../../../static/js/core/store.js';
import { Frame } from '../../../static/js/gantt/frame.js';
import { frame as fed, plan, rowsOf } from '../builders.js';

export const AREA = { left: 100, right: 300, top: 10, bottom: 70 }; // 200 px for 200 ms, three rows of 20 px
export const COLORS = {
  jobs: ['j0', 'j1'],
  onJob: ['i0', 'i1'],
  line: 'line',
  same: 'same',
  band: 'band',
  muted: 'muted',
  ink: 'ink',
  bad: 'bad',
  panel: 'panel',
  accent: 'accent',
  accentInk: 'accentInk',
  shades: new Uint32Array(256),
};
export const info = {
  phases: [{ from_ms: 0, model: 'slotted' }],
  ids: ['x', 'y', 'z'],
  names: ['GPU'],
  used: [true],
  worker: [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0],
  ps: new Array(15).fill(0),
  cluster: {
    cloud: false,
    servers: [
      { name: 'a', site: 'edge', capacity: [2, 0, 0, 0, 0], away: [[150, 180]] },
      { name: 'b', site: 'edge', capacity: [2, 0, 0, 0, 0] },
    ],
  },
};

/** x on a in [0, 100), y on a in [50, 100) and on b in [0, 40); z is rejected at 20. */
export function story() {
  const store = new Store();
  const bar = (job, server, start, end) => [job, 0, server, start, end, 1, -1, -1, -1];
  store.feed(
    fed([
      [1, 0, 'job_arrived', { job: 0 }],
      [2, 0, 'job_arrived', { job: 1 }],
      [3, 10, 'job_arrived', { job: 2 }],
      [4, 10, 'plan_changed', plan(0, 0, 100, bar(0, 0, 0, 100))],
      [5, 10, 'plan_changed', plan(1, 0, 100, bar(1, 0, 50, 100), bar(1, 1, 0, 40))],
      [6, 20, 'decided', { job: 2, kind: 'rejected', code: 'no_capacity' }],
    ]),
  );
  return store;
}

export function laid(
  store,
  { order = 'servers', p = 120, rowPx = 20, view = { from: 0, to: 200 }, owned = () => false, ...more } = {},
) {
  const frame = new Frame({ store, info, view, playhead: { ms: p }, rows: rowsOf(store, info, order) });
  Object.assign(frame, more);
  frame.lay({ area: AREA, top: 0, rowPx, c: COLORS, paint: (job, c) => [c.jobs[job % 2], c.onJob[job % 2]], owned });
  return frame;
}

/** A 2D context that writes down what is filled: [fill, x, y, width, height]. */
export function canvas() {
  const filled = [];
  const texts = [];
  const ctx = {
    fillRect: (...rect) => filled.push([ctx.fillStyle, ...rect]),
    fillText: (text) => texts.push(text),
    measureText: (text) => ({ width: text.length * 6 }),
    strokeRect: (...rect) => filled.push([ctx.strokeStyle, ...rect]),
    createPattern: () => 'pattern',
    beginPath() {},
    moveTo() {},
    lineTo() {},
    stroke() {},
    fill() {},
    closePath() {},
    setLineDash() {},
    save() {},
    restore() {},
    rect() {},
    clip() {},
  };
  return { ctx, filled, texts };
}
