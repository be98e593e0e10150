// The wheel on a chart, and how far its range of time goes.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { gestures } from '../../../static/js/charts/parts/gestures.js';
import { View } from '../../../static/js/core/ranges/time-range.js';

const H = 3_600_000;

/** A chart of 1000 px, its plot from 100 to 900, over 100 h; rows: how far its rows can still be scrolled down, px. */
function chart({ rows = null, bottom = Infinity } = {}) {
  const element = new EventTarget();
  element.getBoundingClientRect = () => ({ left: 0, top: 0 });
  const view = new View();
  view.setExtent(100 * H);
  view.set(0, 50 * H);
  const seen = { view, rows };
  const scroll =
    rows === null
      ? undefined
      : (px) => {
          const before = seen.rows;
          seen.rows = Math.max(0, Math.min(rows, seen.rows - px));
          return seen.rows !== before;
        };
  const names = new Set();
  element.classList = { add: (name) => names.add(name), remove: (name) => names.delete(name), toggle: () => {} };
  element.setPointerCapture = () => {};
  Object.assign(seen, { names, clicks: [], hovers: [], frames: [], cursors: [] });
  view.addEventListener('cursor', () => seen.cursors.push(view.cursor));
  gestures(element, view, () => ({ left: 100, right: 900, bottom }), {
    scroll,
    click: (...at) => seen.clicks.push(at),
    hover: (...at) => seen.hovers.push(at),
    frame: (box, done) => seen.frames.push([box && { ...box }, done]),
  });
  /** Sends an event at x, y; true when the chart took it, so that the page does not. */
  seen.send = (type, x, y, given = {}) => {
    const at = { clientX: x, clientY: y, pointerId: 1, button: 0 };
    const event = Object.assign(new Event(type, { cancelable: true }), at, given);
    element.dispatchEvent(event);
    return event.defaultPrevented;
  };
  seen.press = (key, given = {}) => seen.send('keydown', 0, 0, { key, ...given });
  seen.turn = (given) => {
    const event = Object.assign(new Event('wheel', { cancelable: true }), {
      clientX: 500,
      clientY: 50,
      deltaX: 0,
      deltaY: 0,
      deltaMode: 0,
      ...given,
    });
    element.dispatchEvent(event);
    return event.defaultPrevented;
  };
  return seen;
}

test('a plain wheel scrolls the page', () => {
  const { turn, view } = chart();
  assert.equal(turn({ deltaY: 300 }), false);
  assert.deepEqual([view.from, view.to], [0, 50 * H]);
});

test('over rows that scroll, a plain wheel scrolls them, and the page at their end', () => {
  const seen = chart({ rows: 100 });
  assert.equal(seen.turn({ deltaY: 60 }), true);
  assert.equal(seen.turn({ deltaY: 60 }), true);
  assert.equal(seen.turn({ deltaY: 60 }), false);
  assert.deepEqual([seen.rows, seen.view.from, seen.view.to], [0, 0, 50 * H]);
});

test('with Ctrl or Meta, and so with a pinch, the wheel zooms at the pointer', () => {
  for (const key of ['ctrlKey', 'metaKey']) {
    const { turn, view } = chart({ rows: 100 });
    assert.equal(turn({ deltaY: -200, [key]: true }), true);
    assert.ok(view.to - view.from < 40 * H);
    assert.ok(Math.abs((view.from + view.to) / 2 - 25 * H) < H);
  }
});

test('sideways, or with Shift, the wheel pans', () => {
  for (const given of [{ deltaX: 80 }, { deltaY: 80, shiftKey: true }]) {
    const { turn, view } = chart({ rows: 100 });
    assert.equal(turn(given), true);
    assert.deepEqual([view.from, view.to], [5 * H, 55 * H]);
  }
});

test('no range begins before 0 or goes far beyond the end', () => {
  const { turn, view } = chart();
  const end = 100 * H * 1.04;
  view.pan(-30 * H);
  assert.deepEqual([view.from, view.to], [0, 50 * H]);
  view.pan(400 * H);
  assert.deepEqual([view.from, view.to], [end - 50 * H, end]);
  for (let i = 0; i < 20; i++) turn({ deltaY: 600, ctrlKey: true });
  assert.deepEqual([view.from, view.to], [0, end]);
  view.set(-5 * H, 700 * H); // as an old link has it
  assert.deepEqual([view.from, view.to], [0, end]);
  view.set(20 * H, 20 * H + 1);
  assert.deepEqual([view.from, view.to], [20 * H, 20 * H + 10]);
});

test('a drag moves the range with the pointer, and is no click', () => {
  const { send, view, clicks, names } = chart();
  view.set(20 * H, 60 * H); // 0.05 h a px
  send('pointerdown', 500, 50);
  send('pointermove', 400, 50);
  assert.deepEqual([view.from, view.to], [25 * H, 65 * H]);
  assert.ok(names.has('dragging'));
  send('pointerup', 400, 50);
  assert.deepEqual([clicks, names.size], [[], 0]);
});

test('a drag up and down scrolls the rows', () => {
  const seen = chart({ rows: 100 });
  seen.send('pointerdown', 500, 50);
  seen.send('pointermove', 500, 20);
  assert.deepEqual([seen.rows, seen.view.from], [70, 0]);
});

test('a press that hardly moved is a click; one that was taken away is none', () => {
  const { send, clicks, view } = chart();
  send('pointerdown', 500, 50);
  send('pointermove', 502, 51);
  send('pointerup', 502, 51);
  assert.deepEqual(clicks, [[502, 51, false]]);
  assert.equal(view.from, 0);
  send('pointerdown', 500, 50);
  send('pointercancel', 500, 50);
  send('pointerdown', 500, 50, { button: 2 });
  send('pointerup', 500, 50, { button: 2 });
  assert.equal(clicks.length, 1);
});

test('two pointers that part zoom in around the middle between them', () => {
  const { send, view } = chart();
  send('pointerdown', 400, 50, { pointerId: 1 });
  send('pointerdown', 600, 50, { pointerId: 2 });
  send('pointermove', 300, 50, { pointerId: 1 }); // 200 px apart, then 300: the middle is at 450
  assert.ok(Math.abs(view.to - view.from - (50 * H * 2) / 3) < 1);
  assert.ok(Math.abs(view.from + ((450 - 100) / 800) * (view.to - view.from) - (350 / 800) * 50 * H) < 1);
});

test('the crosshair follows the pointer inside the plot, and goes with it', () => {
  const { send, cursors, hovers } = chart();
  send('pointermove', 500, 50);
  send('pointermove', 50, 50);
  send('pointermove', 300, 50);
  send('pointerleave', 300, 50);
  assert.deepEqual(cursors, [25 * H, null, 12.5 * H, null]);
  assert.deepEqual(hovers, [[500, 50], [50, 50], [300, 50], [null]]);
});

test('a drag with Alt draws a frame and moves nothing', () => {
  const { send, frames, view } = chart();
  send('pointerdown', 200, 10, { altKey: true });
  send('pointermove', 300, 40);
  send('pointerup', 300, 40);
  const box = { x0: 200, y0: 10, x1: 300, y1: 40 };
  assert.deepEqual(frames, [
    [box, false],
    [box, true],
  ]);
  assert.equal(view.from, 0);
});

test('a frame that was taken away is none', () => {
  const { send, frames } = chart();
  send('pointerdown', 200, 10, { altKey: true });
  send('pointercancel', 200, 10);
  assert.deepEqual(frames, [[null, true]]);
});

test('keys move by a tenth, zoom around the middle, show all, and scroll', () => {
  const seen = chart({ rows: 100 });
  const { press, view } = seen;
  assert.equal(press('ArrowRight'), true);
  assert.deepEqual([view.from, view.to], [5 * H, 55 * H]);
  press('ArrowLeft');
  assert.equal(view.from, 0);
  view.set(20 * H, 60 * H);
  press('+');
  assert.ok(Math.abs(view.from - 26 * H) < 1 && Math.abs(view.to - 54 * H) < 1);
  press('-');
  assert.ok(Math.abs(view.from - 20 * H) < 1 && Math.abs(view.to - 60 * H) < 1);
  press('0');
  assert.equal(view.fitted, true);
  press('ArrowDown');
  assert.equal(seen.rows, 60);
  press('End');
  assert.equal(seen.rows, 0);
  press('Home');
  assert.equal(seen.rows, 100);
});

test('keys of the browser and of other elements are left alone', () => {
  const { press, view } = chart();
  assert.equal(press('ArrowRight', { ctrlKey: true }), false);
  assert.equal(press('ArrowRight', { altKey: true }), false);
  assert.equal(press('x'), false);
  assert.equal(view.from, 0);
});

test('a double click shows all', () => {
  const { send, view } = chart();
  view.set(20 * H, 30 * H);
  send('dblclick', 500, 50);
  assert.deepEqual([view.fitted, view.from], [true, 0]);
});

test('a drag along the axis or with Shift selects a range, and every chart zooms to it', () => {
  const { send, view } = chart({ bottom: 200 });
  const seen = [];
  view.addEventListener('selection', () => seen.push(view.selected && [view.selected.from / H, view.selected.to / H]));
  send('pointerdown', 500, 210);
  send('pointermove', 300, 210);
  send('pointerup', 260, 210);
  assert.deepEqual(seen, [
    [12.5, 25],
    [10, 25],
  ]);
  assert.deepEqual([view.from, view.to, view.fitted], [10 * H, 25 * H, false]);
  send('pointerdown', 100, 50, { shiftKey: true });
  send('pointerup', 500, 50, { shiftKey: true });
  assert.deepEqual([view.from, view.to], [10 * H, 17.5 * H]);
  view.unselect();
  assert.deepEqual([view.from, view.to, view.selected], [0, 50 * H, null], 'as before the first selection');
  send('pointerdown', 500, 210);
  send('pointerup', 501, 210);
  assert.equal(view.selected, null, 'a click selects nothing');
});

test('Shift and an arrow key extend a range from the crosshair, which [ and ] move', () => {
  const { send, press, view } = chart();
  press(']');
  assert.ok(Math.abs(view.cursor - (25 + 50 / 60) * H) < 1);
  press('[');
  press('ArrowRight', { shiftKey: true });
  press('ArrowRight', { shiftKey: true });
  assert.ok(Math.abs(view.selected.to - (25 + 100 / 60) * H) < 1);
  assert.deepEqual([view.from, view.to], [0, 50 * H], 'no zoom before Shift is released');
  send('keyup', 0, 0, { key: 'Shift' });
  assert.ok(Math.abs(view.from - 25 * H) < 1 && Math.abs(view.to - (25 + 100 / 60) * H) < 1);
  send('blur', 0, 0);
  assert.equal(view.cursor, null);
});

test('a touch leaves the crosshair where it was', () => {
  const { send, view } = chart();
  const touch = { pointerType: 'touch' };
  send('pointerdown', 300, 50, touch);
  send('pointerup', 300, 50, touch);
  send('pointerleave', 300, 50, touch);
  assert.equal(view.cursor, 12.5 * H);
});
