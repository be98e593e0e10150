// Pointer on a Gantt: it describes what lies below it, picks jobs, folds rows, and selects servers and a range of time
// with a box.

import { clock } from '../util/format.js';

export class Pointer {
  /** gantt: a Gantt (gantt.js), which hands over what the pointer does. */
  constructor(gantt) {
    this.gantt = gantt;
    this.row = null; // index of the row below the pointer
  }

  /** Selection box over rows of servers, during the drag and at its end. */
  select(box, done) {
    const { gantt } = this;
    const selection = gantt.layer('selection');
    if (box) selection.box = box;
    const chosen = done && box ? selection.chosen(gantt.frame) : null;
    if (done || !box) selection.box = null;
    gantt.tip.hide(); // it would cover the box
    gantt.update();
    if (chosen) gantt.onFrame(chosen);
  }

  click(x, y, more) {
    const { gantt } = this;
    const named = this.#named(x, y);
    if (named && gantt.rows.toggle(named)) {
      gantt.scrollTo(gantt.top);
      gantt.onFold?.(gantt.rows.folded);
      return;
    }
    if (named?.kind === 'server' && named.index >= 0) gantt.onServer?.(named.index);
    else if (named?.kind === 'job') gantt.onPick?.(named.index, more);
    const picked = this.#hits(x, y).findLast(([, { job }]) => job !== undefined);
    if (picked) gantt.onPick?.(picked[1].job, more);
  }

  hover(x, y) {
    const { canvas, frame, tip, onServer } = this.gantt;
    const outside = x === null || x === undefined;
    const hits = outside ? [] : this.#hits(x, y);
    const named = outside ? null : this.#named(x, y);
    const point = outside ? null : frame.at(x, y);
    this.row = point?.row.index ?? null;
    const opens = named?.fold !== undefined || named?.kind === 'job' || (named?.kind === 'server' && onServer);
    canvas.classList.toggle('hit', Boolean(opens || hits.some(([, { job }]) => (job ?? null) !== null)));
    const lines = this.#describe(point, hits);
    if (lines.length) tip.show(lines, x, y, canvas);
    else tip.hide();
  }

  /** Hits of the layers at a point of the canvas, from the lowest up: [[layer, hit], ...]. */
  #hits(x, y) {
    const { layers, frame } = this.gantt;
    const found = layers.map((layer) => [layer, layer.hit(x, y, frame)]).filter(([, hit]) => hit);
    return found.some(([, { alone }]) => alone) ? [found.findLast(([, { alone }]) => alone)] : found;
  }

  /** The row whose name is at a point left of the plot. */
  #named(x, y) {
    const { chart, rows, top: scrolled } = this.gantt;
    const { left, top, bottom } = chart.chartArea;
    return x < left && y >= top && y < bottom
      ? rows.list[Math.floor((y - top + scrolled) / this.gantt.rowHeight())]
      : null;
  }

  #describe(point, hits) {
    const lines = hits.flatMap(([layer, hit]) => layer.describe(hit, this.gantt.frame));
    if (hits.some(([, { alone }]) => alone)) return lines;
    if (!point || point.row.kind === 'site') return [];
    const none = point.t > this.gantt.frame.p ? 'no job is planned' : 'idle';
    const idle = !lines.length && point.row.kind === 'server' ? [['', none]] : [];
    return [[point.row.label, clock(point.t)], ...lines, ...idle];
  }
}
