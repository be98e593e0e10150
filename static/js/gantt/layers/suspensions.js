// Segments of a chunk or gang: bars that end because it was suspended, and bars that begin because it resumes.

import { NEVER, PS, WORKER, chunkKey, validAt } from '../../core/columns/bars.js';
import { rejectionBy } from '../../core/job-state.js';
import { LEVEL, Layer } from './layer.js';

const NOTCH_PX = 5;
const MAX_LINES = 6; // bars listed in a tooltip

export class Segments {
  constructor(store) {
    this.store = store;
    this.#forget();
  }

  /**
   * [suspended, resumed] of a bar that is valid at p: whether more of the same comes later, or came earlier, after a
   * gap.
   */
  ends(bar, p) {
    this.#index();
    const { bars } = this.store;
    const start = bars.start_ms[bar];
    const end = bars.end_ms[bar];
    let next = Infinity;
    let before = -Infinity;
    for (let other = this.last.get(chunkKey(bars, bar)) ?? -1; other >= 0; other = this.earlier[other]) {
      if (other === bar || !validAt(bars, other, p)) continue;
      if (bars.start_ms[other] >= end) next = Math.min(next, bars.start_ms[other]);
      else if (bars.end_ms[other] <= start) before = Math.max(before, bars.end_ms[other]);
    }
    return [next < Infinity && next > end, before > -Infinity && before < start];
  }

  #forget() {
    this.generation = this.store.generation;
    this.seen = 0;
    this.last = new Map(); // chunk -> its newest bar
    this.earlier = new Int32Array(1024); // of each bar: the one before it of the same chunk, or -1
  }

  #index() {
    const { bars } = this.store;
    if (this.generation !== this.store.generation) this.#forget();
    if (this.earlier.length < bars.length) {
      const grown = new Int32Array(bars.capacity);
      grown.set(this.earlier);
      this.earlier = grown;
    }
    for (let bar = this.seen; bar < bars.length; bar++) {
      if (bars.role[bar] !== WORKER) continue;
      const chunk = chunkKey(bars, bar);
      this.earlier[bar] = this.last.get(chunk) ?? -1;
      this.last.set(chunk, bar);
    }
    this.seen = bars.length;
  }
}

/** Mark in rows of jobs: a thin line from start to finish or rejection, visible where no bar covers it. */
export class SuspensionLines extends Layer {
  constructor(store) {
    super('suspension-lines', LEVEL.MARKS);
    this.store = store;
  }

  paint(ctx, frame) {
    if (frame.detail !== 'bars') return;
    ctx.fillStyle = frame.c.muted;
    for (const { row, y, how } of frame.views)
      if (row.kind === 'job' && how !== 'owned') this.#row(ctx, frame, row.index, y);
  }

  #row(ctx, frame, job, y) {
    const { jobs } = this.store;
    const [arrived, start] = [jobs.arrived_ms[job], jobs.start_ms[job]];
    // the store has only the newest plan
    const finish = frame.p < this.store.simMs ? Math.min(frame.p, jobs.finish_ms[job]) : jobs.finish_ms[job];
    if (arrived === NEVER || arrived > frame.p || start === NEVER) return;
    const end = rejectionBy(jobs, job, frame.p) ?? (finish === NEVER ? frame.p : finish);
    const span = frame.spanOf(start, end);
    if (span) ctx.fillRect(span[0], y + frame.rowPx * 0.25, span[1] - span[0], 1);
  }
}

/** Mark in rows of servers: a notched corner of a bar, at its right edge if suspended, at its left edge if resumed. */
export class SuspensionMarks extends Layer {
  constructor(store) {
    super('suspension-marks', LEVEL.ON_BARS);
    this.store = store;
    this.segments = new Segments(store);
  }

  paint(ctx, frame) {
    ctx.fillStyle = frame.c.panel;
    ctx.beginPath();
    for (const each of frame.views)
      if (each.how === 'bars' && each.row.kind === 'server' && each.subRowPx >= 3) this.#row(ctx, frame, each);
    ctx.fill();
  }

  #row(ctx, frame, each) {
    const { role } = this.store.bars;
    frame.eachBar(each, (bar, subRow, x, right) => {
      const rect = frame.rectOf(each, subRow, x, right);
      if (role[bar] !== WORKER || rect[2] <= 3) return;
      const [suspended, resumed] = this.segments.ends(bar, frame.p);
      if (suspended) notch(ctx, rect[0] + rect[2], -1, rect);
      if (resumed) notch(ctx, rect[0], 1, rect);
    });
  }

  hit(x, y, frame) {
    const point = frame.at(x, y);
    if (!point || point.how === 'owned' || point.how === 'none') return null;
    const cut = [];
    for (const bar of frame.barsAt(point).slice(0, MAX_LINES)) {
      const [suspended, resumed] = this.store.bars.role[bar] === PS ? [] : this.segments.ends(bar, frame.p);
      if (suspended || resumed) cut.push([bar, resumed, suspended]);
    }
    return cut.length ? { cut } : null;
  }

  describe({ cut }, frame) {
    return cut.map(([bar, resumed, suspended]) => {
      const job = this.store.bars.job[bar];
      const what = [resumed && 'resumed after a suspension', suspended && 'suspended at the end'].filter(Boolean);
      return [frame.jobName(job), what.join(', '), job];
    });
  }
}

function notch(ctx, x, into, [, top, width, height]) {
  const size = Math.min(NOTCH_PX, width / 2, height);
  ctx.moveTo(x, top);
  ctx.lineTo(x + into * size, top);
  ctx.lineTo(x, top + height);
  ctx.closePath();
}
