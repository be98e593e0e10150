// The Gantt's layers over a small schedule: what lies where, what is painted, and what a tooltip says of it.

import assert from 'node:assert/strict';
import test from 'node:test';

import { Bars } from '../../../static/js/gantt/layers/bars.js';
import { Life } from '../../../static/js/gantt/layers/life.js';
import { Occupancy } from '../../../static/js/gantt/layers/occupancy.js';
import { EditMarkers } from '../../../static/js/gantt/layers/edit-markers.js';
import { Plan } from '../../../static/js/gantt/layers/plan.js';
import { Pointer } from '../../../static/js/gantt/pointer.js';
import { OPEN } from '../../../static/js/core/columns/bars.js';
import { Selection } from '../../../static/js/gantt/layers/selection.js';
import { Store } from '../../../static/js/core/store.js';
import { frame as fed, plan } from '../builders.js';
import { needsPage, open } from '../dom.js';
import { AREA, canvas, laid, story } from './layers-scene.js';

test('a bar that has not ended is not below a pointer after the time shown', () => {
  const store = new Store();
  const bar = [0, 0, 0, 20, OPEN, 1, -1, -1, -1];
  store.feed(fed([[1, 20, 'plan_changed', plan(0, 20, -1, bar)]]));
  const frame = laid(store, { p: 120 });
  const shades = Object.assign(Object.create(Occupancy.prototype), { store }); // paints nothing
  const gantt = {
    frame,
    layers: [shades, new Bars(store)],
    tip: {},
    canvas: { classList: { toggle() {} } },
  };
  gantt.chart = { chartArea: AREA };
  gantt.tip.hide = () => (gantt.lines = []);
  gantt.tip.show = (lines) => (gantt.lines = lines);
  /** @param {number} t */
  const said = (t) => {
    new Pointer(gantt).hover(AREA.left + t, AREA.top + 22);
    return gantt.lines.flat().join(' ');
  };
  assert.match(said(100), /GPU allocation 50 %.* so far/);
  assert.match(said(140), /no job is planned/);
  assert.doesNotMatch(said(140), /allocation|so far/);
  assert.match(said(10), /idle/);
});

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
