// The Gantt's layers over a small schedule: what lies where, what is painted, and what a tooltip says of it.

import assert from 'node:assert/strict';
import test from 'node:test';

import { Store } from '../../static/js/core/store.js';
import { Frame } from '../../static/js/gantt/frame.js';
import { Bars } from '../../static/js/gantt/layers/bars.js';
import { GroupBands } from '../../static/js/gantt/layers/colocation.js';
import { EditMarkers } from '../../static/js/gantt/layers/edit-markers.js';
import { JobMarks } from '../../static/js/gantt/layers/job-marks.js';
import { JobPhases } from '../../static/js/gantt/layers/job-phases.js';
import { Plan } from '../../static/js/gantt/layers/plan.js';
import { Regroupings } from '../../static/js/gantt/layers/regroupings.js';
import { RowGrid } from '../../static/js/gantt/layers/row-grid.js';
import { Selection } from '../../static/js/gantt/layers/selection.js';
import { Rows } from '../../static/js/gantt/rows.js';
import { frame as fed, plan } from './builders.js';

const AREA = { left: 100, right: 300, top: 10, bottom: 70 }; // 200 px for 200 ms, three rows of 20 px
const COLORS = {
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
};
const info = {
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
function story() {
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

function laid(
  store,
  { order = 'servers', p = 120, rowPx = 20, view = { from: 0, to: 200 }, owned = () => false, ...more } = {},
) {
  const frame = new Frame({ store, info, view, playhead: { ms: p }, rows: new Rows(store, info, order) });
  Object.assign(frame, more);
  frame.lay({ area: AREA, top: 0, rowPx, c: COLORS, paint: (job, c) => [c.jobs[job % 2], c.onJob[job % 2]], owned });
  return frame;
}

/** A 2D context that writes down what is filled: [fill, x, y, width, height]. */
function canvas() {
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
  };
  return { ctx, filled, texts };
}

test('rows are laid out below each other, with sub-lanes where bars overlap', () => {
  const frame = laid(story());
  assert.deepEqual(
    frame.views.map(({ row, y, how, lanes }) => [row.label, y, how, lanes]),
    [
      ['edge · 2 servers', 10, 'none', 0],
      ['a', 30, 'bars', 2],
      ['b', 50, 'bars', 1],
    ],
  );
  assert.deepEqual([frame.detail, frame.visible, frame.low], ['bars', 3, 0]);
});

test('bars of former plans are not counted in view', () => {
  const store = story();
  store.bars.died_ms[0] = 20; // a later plan replaced it before the time shown
  const frame = laid(store);
  assert.deepEqual([frame.visible, frame.inView], [3, 2]);
});

test('rows too low for their sub-lanes are shaded, and many of them shade all', () => {
  const frame = laid(story(), { rowPx: 4 });
  assert.deepEqual(
    frame.views.map(({ how }) => how),
    ['none', 'shade', 'shade'],
  );
  assert.equal(frame.detail, 'shade');
});

test('a row that a layer owns shows none of its bars', () => {
  const frame = laid(story(), { owned: (row) => row.label === 'a' });
  assert.deepEqual(
    frame.views.map(({ how }) => how),
    ['none', 'owned', 'bars'],
  );
  assert.equal(new Bars(frame.store).hit(150, 40, frame), null);
});

test('a point has its row and moment; outside the plot there is nothing', () => {
  const frame = laid(story());
  assert.deepEqual(((point) => [point.row.label, point.t, point.lane])(frame.at(160, 45)), ['a', 60, 1]);
  for (const [x, y] of [
    [99, 40],
    [301, 40],
    [150, 9],
    [150, 71],
  ])
    assert.equal(frame.at(x, y), null, `${x}, ${y}`);
});

test('bars are filled on their sub-lanes in the colours of their jobs, behind the selected one', () => {
  const { ctx, filled } = canvas();
  new Bars(story()).paint(ctx, laid(story()));
  assert.deepEqual(
    filled.map(([fill, x, , width]) => [fill, x, width]),
    [
      ['j0', 100, 99],
      ['j1', 150, 49],
      ['j1', 100, 39],
    ],
  );
  const other = canvas();
  new Bars(story()).paint(other.ctx, laid(story(), { selected: 0 }));
  assert.deepEqual(
    other.filled.map(([fill]) => fill),
    ['j0', 'line', 'line'],
  );
});

test('what is hit is on the sub-lane pointed at, and is described with its length', () => {
  const store = story();
  const frame = laid(store);
  const bars = new Bars(store);
  const hit = bars.hit(160, 45, frame);
  assert.equal(hit.job, 1);
  assert.deepEqual(
    bars.describe(hit, frame).map(([who, , job]) => [who, job]),
    [
      ['y', 1],
      ['x', 0],
    ],
  );
  assert.equal(bars.hit(280, 40, frame), null);
});

test('the table has the bars of the range of time shown', () => {
  const store = story();
  const frame = laid(store, { view: { from: 45, to: 200 } });
  const [, a, b] = frame.rows.list;
  assert.deepEqual(
    new Bars(store).table(a, frame).map(([job, role, server]) => [job, role, server]),
    [
      ['x', 'worker', 'a'],
      ['y', 'worker', 'a'],
    ],
  );
  assert.deepEqual(new Bars(store).table(b, frame), []);
});

test('the table has the jobs of groups, whose work has no bars', () => {
  const store = story();
  const group = { group: 3, servers: [0], machines: 1, jobs: [0, 1], ready_ms: [0, 60], profiling: [false, false] };
  store.groups = [[0, 100, group], [100, 150, { ...group, jobs: [1], ready_ms: [60] }]]; // prettier-ignore
  const frame = laid(store, { view: { from: 50, to: 200 }, p: 120 });
  const [, a, b] = frame.rows.list;
  const bands = new GroupBands(store, info, () => {}, () => true); // prettier-ignore
  const short = (rows) => rows.map(([job, role, server, count, , end]) => [job, role, server, count, end !== '']);
  assert.deepEqual(short(bands.table(a, frame)), [
    ['x', 'worker in group 3', 'a', 1, true],
    ['y', 'worker in group 3', 'a', 1, true],
    ['y', 'worker in group 3', 'a', 1, false], // its end is later than the time shown
  ]);
  assert.deepEqual(bands.table(b, frame), []);
  const jobs = laid(store, { order: 'jobs', view: { from: 50, to: 200 }, p: 120 });
  const phases = new JobPhases(store, info);
  assert.deepEqual(short(phases.table(jobs.rows.list[1], jobs)), [
    ['y', 'moving in group 3', '–', 1, true],
    ['y', 'running in group 3', '–', 1, false],
  ]);
  assert.deepEqual(phases.table(a, frame), [], 'a row of a server');
});

test('a row of a job has its wait, and a cross where it was rejected; all of it picks the job', () => {
  const store = story();
  const frame = laid(store, { order: 'jobs' });
  const { ctx, filled } = canvas();
  const marks = new JobMarks(store);
  marks.paint(ctx, frame);
  assert.deepEqual(
    filled.filter(([fill]) => fill === 'bad').map(([, x, , width]) => [x, width]),
    [
      [110, 10],
      [110, 1],
    ],
  );
  assert.deepEqual(marks.hit(290, 60, frame), { job: 2 });
  assert.equal(marks.hit(290, 60, laid(store)), null);
});

test('a server that is unavailable is painted so, and the tooltip says until when', () => {
  const frame = laid(story());
  const grid = new RowGrid();
  const { ctx, filled } = canvas();
  grid.paint(ctx, frame);
  assert.ok(filled.some(([fill, x, , width]) => fill === 'same' && x === 250 && width === 30));
  const hit = grid.hit(260, 40, frame);
  assert.match(grid.describe(hit)[0][1], /unavailable until/);
  assert.equal(grid.hit(260, 60, frame), null);
});

test('what lies after the time shown is paler; nothing is when all has happened', () => {
  const { ctx, filled } = canvas();
  new Plan().paint(ctx, laid(story(), { p: 150 }));
  assert.deepEqual(filled, [['panel', 250, 10, 50, 60]]);
  const later = canvas();
  new Plan().paint(later.ctx, laid(story(), { p: 500 }));
  assert.deepEqual(later.filled, []);
});

test('an edit stands alone in the tooltip where it was made, and only once it was', () => {
  const store = Object.assign(story(), {
    edits: [
      [60, ['drains a']],
      [500, ['later']],
    ],
  });
  const frame = laid(store);
  const layer = new EditMarkers(store);
  const { ctx, texts } = canvas();
  layer.paint(ctx, frame);
  assert.deepEqual(texts, ['1']);
  const hit = layer.hit(162, 40, frame);
  assert.equal(hit.alone, true);
  assert.deepEqual(
    layer.describe(hit).map(([text]) => text),
    ['Edit 1', 'drains a'],
  );
  assert.equal(layer.hit(200, 40, frame), null);
});

test('regroupings are ticks, described with what they changed', () => {
  const store = Object.assign(story(), {
    regroupings: [
      [50, 0, 'arrival', [0.5, 0.5], [0.75, 0.5]],
      [51, 0, 'machines', [0.5, 0.5], [1, 1]],
    ],
  });
  const frame = laid(store);
  const layer = new Regroupings(store);
  const { ctx, filled } = canvas();
  layer.paintAbove(ctx, frame);
  assert.deepEqual(
    filled.map(([, x]) => x),
    [150],
    'two ticks at neighbouring pixels would be one bar',
  );
  const lines = layer.describe(layer.hit(151, frame.area.top, frame));
  assert.equal(lines[0][0], 'Regrouped after a change of machines');
  assert.deepEqual(lines.at(-1), ['', 'and 1 more at this position']);
  assert.equal(layer.hit(151, 40, frame), null);
});

test('a box over rows chooses their servers and its range of time, or says why it does not', () => {
  const frame = laid(story());
  const selection = new Selection();
  selection.box = { x0: 200, y0: 35, x1: 150, y1: 65 };
  assert.deepEqual(selection.chosen(frame), { servers: [0, 1], from: 50, to: 100 });
  const chosen = (box) => {
    selection.box = box;
    return selection.chosen(frame);
  };
  assert.match(chosen({ x0: 150, y0: 35, x1: 153, y1: 65 }).why, /^The selection has no duration/);
  assert.equal(chosen({ x0: 150, y0: 35, x1: 153, y1: 36 }), null, 'a click');
  assert.match(chosen({ x0: 150, y0: 900, x1: 200, y1: 950 }).why, /^No servers selected/);
  frame.rows.order = 'jobs';
  frame.rows.rebuild();
  assert.match(chosen({ x0: 150, y0: 35, x1: 200, y1: 65 }).why, /set the rows of the schedule to Servers/);
});
