// Bars as rectangles filled colour by colour, with names if they are wide enough.

import { OPEN, PS, SUSPENDED, TRANSFER, endAt, roleName } from '../../core/columns/bars.js';
import { stripes } from '../../util/colors.js';
import { clock, duration, number, plural } from '../../util/format.js';
import { LEVEL, Layer } from './layer.js';
import { addStrip, fillAll } from './strips.js';

const LABEL_PX = 11;
const MAX_LABELS = 400;
const MAX_LINES = 6; // bars that a tooltip names
const ALIKE = ['job', 'role', 'server', 'chunk', 'start_ms', 'end_ms']; // columns in which bars of one line are equal

export class Bars extends Layer {
  constructor(store) {
    super('bars', LEVEL.BARS);
    this.store = store;
    this.labels = new Labels();
  }

  paint(ctx, frame) {
    const rects = new Map(); // fill -> [x, y, width, height, ...]
    const strips = new Map();
    this.labels.list = [];
    for (const each of frame.views) if (each.how === 'bars') this.#row(ctx, frame, each, rects, strips);
    fillAll(ctx, rects);
    fillAll(ctx, strips);
  }

  #row(ctx, frame, each, rects, strips) {
    const { bars } = this.store;
    const { c } = frame;
    const { subRowPx } = each;
    frame.eachBar(each, (bar, subRow, x, right) => {
      const job = bars.job[bar];
      const dim = frame.dims(job);
      const [own, ink] = frame.paint(job, c);
      const color = dim ? c.line : own;
      const rect = frame.rectOf(each, subRow, x, right);
      if (bars.role[bar] === TRANSFER) {
        addStrip(ctx, strips, { x: rect[0], width: rect[2], foot: each.y + (subRow + 1) * subRowPx, subRowPx, color });
        return;
      }
      const isStriped = bars.role[bar] === PS || bars.role[bar] === SUSPENDED;
      const fill = isStriped && subRowPx >= 4 ? stripes(ctx, color) : color;
      const list = rects.get(fill);
      if (list) list.push(rect[0], rect[1], rect[2], rect[3]);
      else rects.set(fill, rect);
      if (subRowPx >= LABEL_PX && rect[2] > 34 && !isStriped)
        this.#label(frame, each, bar, rect, right, dim ? c.muted : ink);
    });
  }

  /** Names the bar; not one of many that a job's row has beside each other on typed workers. */
  #label(frame, { row }, bar, rect, right, fill) {
    const { bars } = this.store;
    const { list } = this.labels;
    if (list.length >= MAX_LABELS || (row.kind === 'job' && (bars.worker_slot[bar] >= 0 || bars.chunk[bar] >= 0)))
      return;
    const count = bars.count[bar] * frame.rows.subRows.copiesOf(bar);
    const name = frame.jobName(bars.job[bar]);
    const x = Math.max(rect[0], frame.area.left);
    list.push([count > 1 ? `${name} ×${number(count, 0)}` : name, x, rect[1] + rect[3] / 2 + 0.5, right - x, fill]);
  }

  hit(x, y, frame) {
    const point = frame.at(x, y);
    if (!point || point.how === 'owned' || point.how === 'none') return null;
    const found = frame.barsAt(point);
    return found.length ? { row: point.row, found, job: this.store.bars.job[found[0]] } : null;
  }

  describe({ row, found }, frame) {
    const { bars } = this.store;
    const shown = this.#alike(found.filter((bar) => frame.rows.subRows.copiesOf(bar) !== 0));
    const lines = shown.slice(0, MAX_LINES).map(({ bar, count }) => {
      const who = row.kind === 'job' ? frame.serverName(bars.server[bar]) : frame.jobName(bars.job[bar]);
      return [who, `${this.#what(bar, count, frame)}, ${spanOf(bars, bar, frame)}`, bars.job[bar]];
    });
    const others = shown.slice(MAX_LINES).reduce((sum, { all }) => sum + all, 0);
    if (others) lines.push(['', `and ${plural(others, 'more bar')}`]);
    return lines;
  }

  /** [{bar, count, all}]: bars with the same job, role, server, chunk and times are one entry; all: their number. */
  #alike(found) {
    const { bars } = this.store;
    const alike = new Map();
    for (const bar of found) {
      const key = ALIKE.map((name) => bars[name][bar]).join();
      const one = alike.get(key) ?? { bar, count: 0, all: 0 };
      alike.set(key, one);
      one.count += bars.count[bar];
      one.all += 1;
    }
    return [...alike.values()];
  }

  #what(bar, count, frame) {
    const { chunk, role } = this.store.bars;
    const copies = frame.rows.subRows.copiesOf(bar);
    if (copies > 1) return `${number(copies, 0)} chunks`;
    if (chunk[bar] >= 0) return `chunk ${number(chunk[bar] + 1, 0)}`;
    return `${number(count, 0)} ${roleName(role[bar], count)}`;
  }

  table(row, frame) {
    const { bars } = this.store;
    return frame.rows
      .within(row, frame.view, frame.playhead.ms)
      .map((bar) => [
        frame.jobName(bars.job[bar]),
        roleName(bars.role[bar]),
        frame.serverName(bars.server[bar]),
        bars.count[bar],
        clock(bars.start_ms[bar]),
        bars.end_ms[bar] < OPEN ? clock(bars.end_ms[bar]) : '',
      ]);
  }
}

/** Duration of a bar; of one that has not ended, so far. */
function spanOf(bars, bar, { p }) {
  const span = duration(endAt(bars, bar, p) - bars.start_ms[bar]);
  return bars.end_ms[bar] < OPEN ? span : `for ${span} so far`;
}

/** Names of bars, above all other layers on bars. */
class Labels extends Layer {
  constructor() {
    super('labels', LEVEL.LABELS);
    this.list = []; // [text, x, y, room, fill]
  }

  paint(ctx) {
    if (!this.list.length) return;
    ctx.font = `${LABEL_PX}px ${getComputedStyle(document.body).fontFamily}`;
    ctx.textBaseline = 'middle';
    for (const [text, x, y, room, fill] of this.list) {
      ctx.fillStyle = fill;
      if (ctx.measureText(text).width < room - 6) ctx.fillText(text, x + 4, y);
    }
  }
}
