// The Gantt's layers over a small schedule: what lies where, what is painted, and what a tooltip says of it.

import assert from 'node:assert/strict';
import test from 'node:test';

import { Store } from '../../../static/js/core/store.js';
import { Frame } from '../../../static/js/gantt/frame.js';
import { Bars } from '../../../static/js/gantt/layers/bars.js';
import { machineUse } from '../../../static/js/gantt/layers/colocation/group-density.js';
import { GroupBands } from '../../../static/js/gantt/layers/colocation/group-bands.js';
import { EditMarkers } from '../../../static/js/gantt/layers/edit-markers.js';
import { Life } from '../../../static/js/gantt/layers/life.js';
import { JobMarks } from '../../../static/js/gantt/layers/job-marks.js';
import { JobStates } from '../../../static/js/gantt/layers/colocation/job-states.js';
import { Plan } from '../../../static/js/gantt/layers/plan.js';
import { Regroupings } from '../../../static/js/gantt/layers/colocation/regroupings.js';
import { Occupancy } from '../../../static/js/gantt/layers/occupancy.js';
import { OPEN } from '../../../static/js/core/columns/bars.js';
import { outageText } from '../../../static/js/core/ranges/outage-text.js';
import { RowGrid } from '../../../static/js/gantt/layers/row-grid.js';
import { Selection } from '../../../static/js/gantt/layers/selection.js';
import { SuspensionLines } from '../../../static/js/gantt/layers/suspensions.js';
import { frame as fed, plan, rowsOf } from '../builders.js';
import { needsPage, open } from '../dom.js';

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
  shades: new Uint32Array(256),
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
  const frame = new Frame({ store, info, view, playhead: { ms: p }, rows: rowsOf(store, info, order) });
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

test('rows are laid out below each other, with sub-rows where bars overlap', () => {
  const frame = laid(story());
  assert.deepEqual(
    frame.views.map(({ row, y, how, subRows }) => [row.label, y, how, subRows]),
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

test('rows too low for their sub-rows are shaded, and many of them shade all', () => {
  const frame = laid(story(), { rowPx: 4 });
  assert.deepEqual(
    frame.views.map(({ how }) => how),
    ['none', 'shade', 'shade'],
  );
  assert.equal(frame.detail, 'shade');
});

test('shaded rows are pale while a job is selected, and its bars lie on them', needsPage, () => {
  open();
  const drawn = (more) => {
    const { ctx, filled } = canvas();
    ctx.drawImage = () => filled.push(['image', ctx.globalAlpha]);
    new Occupancy(story()).paint(ctx, laid(story(), { rowPx: 4, ...more }));
    return filled;
  };
  assert.deepEqual(drawn(), [['image', 1]]);
  assert.deepEqual(drawn({ selected: 1 }), [
    ['image', 0.3],
    ['j1', 150, 14, 50, 4],
    ['j1', 100, 18, 40, 4],
  ]);
  assert.deepEqual(drawn({ selected: 2 }), [['image', 0.3]], 'a rejected job has no bars');
  assert.equal(drawn({ selected: 0, also: new Set([1]) }).length, 4);
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
  assert.deepEqual(((point) => [point.row.label, point.t, point.subRow])(frame.at(160, 45)), ['a', 60, 1]);
  for (const [x, y] of [
    [99, 40],
    [301, 40],
    [150, 9],
    [150, 71],
  ])
    assert.equal(frame.at(x, y), null, `${x}, ${y}`);
});

test('bars are filled on their sub-rows in the colours of their jobs, behind the selected one', () => {
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

test('what is hit is on the sub-row pointed at, and is described with its length', () => {
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

test('a bar is hit where its time is; one narrower than a pixel also beside it', () => {
  const store = story();
  const bars = new Bars(store);
  const wide = { from: 0, to: 2000 }; // 10 ms a pixel
  const jobs = (x, more) => {
    const frame = laid(store, more);
    return bars.hit(x, 40, frame)?.found.map((bar) => store.bars.job[bar]) ?? [];
  };
  assert.deepEqual(jobs(149.5), [0], 'y begins half a pixel later, at 50');
  assert.deepEqual(jobs(150).sort(), [0, 1]);
  assert.deepEqual(jobs(104.5, { view: wide }), [0], 'at 45, before y');
  assert.deepEqual(jobs(100.4, { view: { from: 0, to: 60_000 } }).sort(), [0, 1], 'both are narrower than a pixel');
});

test('the name of a selected job stands below the names of groups, not on them', needsPage, () => {
  open();
  const boxOf = (texts) => {
    const frame = laid(story(), { selected: 0 });
    frame.texts = texts;
    const { ctx, filled } = canvas();
    new Life(frame.store).paint(ctx, frame);
    const [, , y, , height] = filled.find(([fill, , , width, px]) => fill === 'panel' && width > 20 && px > 10);
    return [y, height];
  };
  assert.deepEqual(boxOf([]), [24, 15]);
  assert.deepEqual(boxOf([[100, 30, 90, 13]]), [43, 15]);
  assert.deepEqual(boxOf([[500, 30, 90, 13]]), [24, 15], 'a name elsewhere');
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

test('the table has the jobs of groups, whose work has no bars', needsPage, () => {
  open();
  const store = story();
  const group = { group: 3, servers: [0], machines: 1, jobs: [0, 1], ready_ms: [0, 60], profiling: [false, false] };
  store.groups = [[0, 100, group], [100, 150, { ...group, jobs: [1], ready_ms: [60] }]]; // prettier-ignore
  const frame = laid(store, { view: { from: 50, to: 200 }, p: 120 });
  const [, a, b] = frame.rows.list;
  const bands = new GroupBands(store, info, () => {}, () => true); // prettier-ignore
  const short = (rows) => rows.map(([job, role, server, count, , end]) => [job, role, server, count, end !== '']);
  assert.deepEqual(short(bands.table(a, frame)), [
    ['x', 'worker in group 3', 'a', 1, true],
    ['y', 'worker in group 3', 'a', 1, false], // it goes on without x; its end is later than the time shown
  ]);
  assert.deepEqual(bands.table(b, frame), []);
  const jobs = laid(store, { order: 'jobs', view: { from: 50, to: 200 }, p: 120 });
  const states = new JobStates(store, info);
  assert.deepEqual(short(states.table(jobs.rows.list[1], jobs)), [
    ['y', 'moving in group 3', '–', 1, true],
    ['y', 'running in group 3', '–', 1, false],
  ]);
  assert.deepEqual(states.table(a, frame), [], 'a row of a server');
});

/** A store whose groups follow each other on server a, each `ms` long. */
function grouped(ms) {
  const data = { servers: [0], machines: 1, profiling: [false], ready_ms: [0], iteration_ms: null };
  const groups = Array.from({ length: 100 / ms }, (_, i) => {
    return [i * ms, (i + 1) * ms, { ...data, group: i, jobs: [i % 2], cpu_utilization: 0.5, net_utilization: 0.25 }];
  });
  return Object.assign(story(), { groups });
}

test('groups narrower than 4 px are shaded by the use of their machine, wider ones are bands', needsPage, () => {
  open();
  const bands = (ms, more) => {
    const store = grouped(ms);
    const layer = new GroupBands(store, info, () => {}, () => true); // prettier-ignore
    const { ctx, filled } = canvas();
    ctx.drawImage = () => filled.push(['image']);
    layer.paint(ctx, laid(store, more));
    return { layer, filled };
  };
  const wide = bands(5);
  assert.equal(wide.layer.shaded, 0);
  assert.equal(wide.filled.length, 40, 'a band and its line for each group');
  const narrow = bands(2);
  assert.equal(narrow.layer.shaded, 50);
  assert.deepEqual(narrow.filled, [['image']]);
  assert.notEqual(narrow.layer.signature, wide.layer.signature, 'the note below the schedule is written again');
  assert.equal(bands(2, { order: 'jobs' }).layer.shaded, 0, 'rows of jobs show no groups');
});

test('the shade of a machine is the mean of each pixel, up to the time shown', () => {
  const { groups } = grouped(2);
  const [, , data] = groups[0];
  groups[3] = [6, 8, { ...data, cpu_utilization: 0, net_utilization: 1 }];
  const use = machineUse(groups, { p: 50, from: 0, msPerPx: 4 }, 25);
  assert.deepEqual([...use.subarray(0, 3)], [0.5, 0.625, 0.5]);
  assert.deepEqual([...use.subarray(11, 14)], [0.5, 0.25, 0]);
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

test('a job that was postponed and then rejected waits until its rejection, which has the cross', () => {
  const store = new Store();
  store.feed(
    fed([
      [1, 0, 'job_arrived', { job: 0 }],
      [2, 10, 'decided', { job: 0, kind: 'postponed', code: 'no_capacity' }],
      [3, 60, 'decided', { job: 0, kind: 'rejected', code: 'no_capacity' }],
    ]),
  );
  const line = (p) => {
    const { ctx, filled } = canvas();
    const crossed = [];
    ctx.moveTo = (x) => crossed.push(x);
    new JobMarks(store).paint(ctx, laid(store, { order: 'jobs', p }));
    return [filled.map(([fill, x, , width]) => [fill, x, width]), crossed];
  };
  const waiting = [
    ['muted', 100, 40],
    ['muted', 100, 1],
  ];
  assert.deepEqual(line(40), [waiting, []], 'its rejection is not known yet');
  const rejected = [
    ['bad', 100, 60],
    ['bad', 100, 1],
  ];
  assert.deepEqual(line(120), [rejected, [156, 156]], 'the strokes of a cross begin 4 px before its time');
});

test('a job that ran and was rejected has its line up to the rejection, and the cross there', () => {
  const store = new Store();
  store.feed(
    fed([
      [1, 0, 'job_arrived', { job: 0 }],
      [2, 10, 'decided', { job: 0, kind: 'started', code: 'in_order' }],
      [3, 10, 'plan_changed', plan(0, 10, 90, [0, 0, 0, 10, 90, 1, -1, -1, -1])],
      [4, 40, 'decided', { job: 0, kind: 'preempted', code: 'server_gone' }],
      [5, 40, 'plan_changed', plan(0, 10, -1)],
      [6, 60, 'decided', { job: 0, kind: 'rejected', code: 'no_capacity' }],
      [7, 150, 'run_finished', {}],
    ]),
  );
  const frame = laid(store, { order: 'jobs' });
  const marks = canvas();
  const crossed = [];
  marks.ctx.moveTo = (x) => crossed.push(x);
  new JobMarks(store).paint(marks.ctx, frame);
  assert.deepEqual(
    marks.filled.map(([fill, x, , width]) => [fill, x, width]),
    [
      ['bad', 100, 10],
      ['bad', 100, 1],
    ],
  );
  assert.deepEqual(crossed, [156, 156]);
  const lines = canvas();
  new SuspensionLines(store).paint(lines.ctx, frame);
  assert.deepEqual(
    lines.filled.map(([fill, x, , width]) => [fill, x, width]),
    [['muted', 110, 50]],
  );
});

test('a server that is unavailable is painted so, and the tooltip says until when', () => {
  const frame = laid(story());
  const grid = new RowGrid();
  const { ctx, filled } = canvas();
  grid.paint(ctx, frame);
  const boxes = (of) => of.filter(([fill]) => ['muted', 'same'].includes(fill));
  const outlined = [
    ['muted', 250, 31, 30, 18],
    ['same', 251, 32, 28, 16],
  ];
  assert.deepEqual(boxes(filled), outlined);
  const low = canvas();
  grid.paint(low.ctx, laid(story(), { rowPx: 6 }));
  assert.deepEqual(
    boxes(low.filled).map(([fill, , , , height]) => [fill, height]),
    [
      ['muted', 4],
      ['same', 2],
    ],
    'it is outlined in low rows, too',
  );
  const hit = grid.hit(260, 40, frame);
  assert.match(grid.describe(hit)[0][1], /unavailable until/);
  assert.equal(grid.hit(260, 60, frame), null);
});

test('the time before a server was added is no outage', () => {
  assert.equal(
    outageText({ added_ms: 3_600_000 }, [0, 3_600_000], 0),
    'not in the cluster until it was added at 01:00:00',
  );
  assert.equal(outageText({ added_ms: 3_600_000 }, [5_000_000, 7_200_000], 0), 'unavailable until 02:00:00');
  assert.equal(outageText({}, [0, OPEN], 0), 'unavailable');
  const grid = new RowGrid();
  const server = { added_ms: 20, away: [[0, 20]] };
  const frame = {
    p: 50,
    info: { cluster: { servers: [server] } },
    at: (t) => ({ row: { kind: 'server', index: 0 }, t }),
  };
  assert.equal(grid.describe(grid.hit(10, 0, frame))[0][1], outageText(server, [0, 20], 50));
});

test('a node of a live cluster shows that it drains, and the reason of the cluster, as known at the time shown', () => {
  const server = {
    away: [[30, 50]],
    states: [
      [10, 'draining', 'fan 3'],
      [31, 'drained', 'fan 3'],
      [35, 'drained', 'fan 3 and 4'],
      [50, 'up', ''],
      [70, 'draining', ''],
    ],
  };
  const info = { run: { mode: 'mirror' }, cluster: { servers: [server] } };
  const frame = (p) => ({ ...laid(story(), { p }), info, at: (t) => ({ row: { kind: 'server', index: 0 }, t }) });
  const grid = new RowGrid();
  const text = (t, p = 90) => {
    const hit = grid.hit(t, 0, frame(p));
    return hit && grid.describe(hit)[0][1];
  };
  assert.equal(text(5), null);
  assert.equal(text(20), 'draining, takes no new jobs: fan 3');
  assert.match(text(40), /^unavailable until .*: fan 3 and 4$/);
  assert.match(text(40, 33), /: fan 3$/, 'the later reason was not known then');
  assert.equal(text(60), null);
  assert.equal(text(80), 'draining, takes no new jobs');
  assert.equal(text(80, 75), null, 'what comes after the time shown is not known');
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
  const { ctx, filled, texts } = canvas();
  layer.paint(ctx, frame);
  assert.deepEqual(texts, ['1']);
  assert.deepEqual(
    filled.map(([fill]) => fill),
    ['panel'],
    'the number has no box in the colour of its mark, which would look like a duration',
  );
  const hit = layer.hit(162, 40, frame);
  assert.equal(hit.alone, true);
  assert.deepEqual(
    layer.describe(hit).map(([text]) => text),
    ['Edit 1', 'drains a'],
  );
  assert.equal(layer.hit(200, 40, frame), null);
  const number = frame.area.top + 5;
  assert.equal(layer.hit(172, number, frame)?.place, 0, 'its number is 14 px wide');
  assert.equal(layer.hit(176, number, frame), null);
  assert.equal(layer.hit(172, 40, frame), null, 'below the number, only what is near the line');
});

test('of numbers of edits that overlap, the one on top is described', () => {
  const store = Object.assign(story(), {
    edits: [
      [60, ['first']],
      [66, ['second']],
    ],
  });
  const layer = new EditMarkers(store);
  layer.paint(canvas().ctx, laid(store));
  assert.equal(layer.hit(171, AREA.top + 5, laid(store)).place, 1);
  assert.equal(layer.hit(162, AREA.top + 5, laid(store)).place, 0);
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
