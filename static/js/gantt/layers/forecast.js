// Forecasts in the Gantt: hatched outlines on the servers on which waiting jobs are expected, or on the rows of their
// sites, users or queues; never filled like bars.

import { duration } from '../../util/format.js';
import { LEVEL, Layer } from './layer.js';

const STRIPE_PX = 5;
const MIN_PX = 2; // height of a sub-row
const MAX_BOXES = 4000; // that are drawn

export class ForecastLayer extends Layer {
  constructor() {
    super('forecast', LEVEL.EVENTS);
    this.rows = [];
    this.live = () => true; // false while a past moment is shown: nothing was forecast in it
    this.byServer = new Map(); // as returned by laid()
    this.byGroup = null; // {order, of: the same by the rows of that order}
    this.byJob = new Map();
    this.boxes = []; // [x, y, width, height, row] as painted last
  }

  /** rows: as the API gives them; live(): whether the newest moment is shown. */
  update(rows, live) {
    this.rows = rows.filter(({ start_ms: start }) => start !== null);
    this.live = live;
    this.byJob = new Map(this.rows.map((row) => [row.job, row]));
    this.byServer = laid(this.rows, ({ servers }) => servers);
    this.byGroup = null;
  }

  paint(ctx, frame) {
    this.boxes = [];
    if (!this.live() || !this.rows.length) return;
    for (const each of frame.views) {
      const { kind, index } = each.row;
      if (kind === 'server') this.#subRows(frame, each, this.byServer.get(index));
      else if (kind === 'many') this.#subRows(frame, each, this.#subRowsByGroup(frame.rows).get(index));
      else if (kind === 'job' && this.byJob.has(index))
        this.#box(frame, each.y, frame.rowPx - 1, this.byJob.get(index));
    }
    ctx.save();
    ctx.beginPath();
    ctx.rect(frame.area.left, frame.area.top, frame.area.right - frame.area.left, frame.area.bottom - frame.area.top);
    ctx.clip();
    for (const box of this.boxes) hatched(ctx, frame, box);
    ctx.restore();
  }

  /** The sub-rows of each row of a site, user or queue. */
  #subRowsByGroup({ order, groupsOf }) {
    if (this.byGroup?.order !== order) this.byGroup = { order, of: laid(this.rows, groupsOf) };
    return this.byGroup.of;
  }

  #subRows(frame, { y }, held) {
    if (!held) return;
    const height = Math.max(MIN_PX, (frame.rowPx - 2) / held.ends.length);
    for (const box of held.boxes) {
      const top = y + 1 + box.subRow * height;
      if (top + height <= y + frame.rowPx) this.#box(frame, top, height, box.row);
    }
  }

  #box(frame, y, height, row) {
    const span = frame.spanOf(row.start_ms, row.finish_ms);
    if (span && this.boxes.length < MAX_BOXES) this.boxes.push([span[0], y, span[1] - span[0], height, row]);
  }

  hit(x, y) {
    const found = this.boxes.find(
      ([left, top, width, height]) => x >= left && x <= left + width && y >= top && y <= top + height,
    );
    return found ? { row: found[4], job: found[4].job } : null;
  }

  describe({ row }, frame) {
    const wait = duration(Math.max(0, row.start_ms - frame.p));
    const run = duration(row.finish_ms - row.start_ms);
    return [[frame.jobName(row.job), `forecast: starts in ${wait}, runs ${run}`, row.job]];
  }
}

/** Map of key -> {boxes: [{row, subRow}], ends}: each forecast has the first sub-row that is free from its start on. */
function laid(rows, keysOf) {
  const found = new Map();
  for (const row of rows)
    for (const key of keysOf(row)) {
      const held = found.get(key) ?? { boxes: [], ends: [] };
      let subRow = held.ends.findIndex((end) => end <= row.start_ms);
      if (subRow < 0) subRow = held.ends.length;
      held.ends[subRow] = row.finish_ms;
      held.boxes.push({ row, subRow });
      found.set(key, held);
    }
  return found;
}

function hatched(ctx, frame, [x, y, width, height, { job }]) {
  const [color] = frame.paint(job, frame.c);
  ctx.save();
  ctx.beginPath();
  ctx.rect(x, y, width, height);
  ctx.clip();
  ctx.globalAlpha = frame.dims(job) ? 0.2 : 0.75;
  ctx.strokeStyle = color;
  ctx.lineWidth = 1;
  ctx.beginPath();
  for (let at = x - height - ((x - height) % STRIPE_PX); at < x + width; at += STRIPE_PX) {
    ctx.moveTo(at, y + height);
    ctx.lineTo(at + height, y);
  }
  ctx.stroke();
  ctx.setLineDash([3, 2]);
  ctx.strokeRect(x + 0.5, y + 0.5, Math.max(0, width - 1), Math.max(0, height - 1));
  ctx.restore();
}
