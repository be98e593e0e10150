// Observation of a real cluster: bands over its reservations and the times in which it was not seen, and a line at the
// current time.

import { paintUnseen } from '../../core/ranges/unseen-times.js';
import { clock } from '../../util/format.js';
import { LEVEL, Layer } from './layer.js';

const HEAD_PX = 14;
const NEAR_PX = 4;
const LABEL_PX = 10; // rows this high have the label of a reservation
const PAD_PX = 4;

/** Times without a poll of the cluster: starts and ends in them are known only as intervals. */
export class Unseen extends Layer {
  /** @param {import('../../core/ranges/unseen-times.js').UnseenTimes} times */
  constructor(times) {
    super('unseen', LEVEL.GROUPS);
    this.times = times;
  }

  paint(ctx, frame) {
    for (const [from, until] of this.times.spans) {
      const span = from <= frame.p && frame.spanOf(from, until);
      if (span) paintUnseen(ctx, frame.area, span[0], Math.max(span[1], span[0] + 1), frame.c.muted);
    }
  }

  hit(x, y, frame) {
    const point = frame.at(x, y);
    const place = point ? this.times.spans.findIndex(([from, until]) => from <= point.t && point.t < until) : -1;
    return place < 0 ? null : { place };
  }

  describe({ place }) {
    const span = this.times.spans[place];
    const [from, until, reason] = span;
    const to = span === this.times.open ? 'now' : clock(until);
    return [['', `not observed from ${clock(from)} to ${to}${/^[A-Z]/.test(reason) ? '.' : ':'} ${reason}`]];
  }
}

/** Reservations and maintenance as they were known at the playhead. */
export class Reservations extends Layer {
  constructor(store) {
    super('reservations', LEVEL.GROUPS);
    this.store = store;
  }

  /** Reservations with an interval, as stated at a time. */
  at(ms) {
    return this.store.reservations
      .filter(([, stated, replaced, from, until]) => stated <= ms && (replaced < 0 || replaced > ms) && from < until)
      .map(([, , , from, until, name, servers, maintenance, holders]) => {
        const kind = maintenance ? 'maintenance' : 'reservation';
        return { from, until, name, kind, servers: new Set(servers), holders };
      });
  }

  paint(ctx, frame) {
    for (const reservation of this.at(frame.p)) {
      const span = frame.spanOf(reservation.from, reservation.until);
      if (!span) continue;
      const [x, right] = [span[0], Math.max(span[1], span[0] + 1)];
      let above = false;
      for (const { row, y } of frame.views) {
        const held = row.kind === 'server' && reservation.servers.has(row.index);
        if (held) {
          band(ctx, frame, x, right, y);
          if (!above) label(ctx, frame, x, right, y, `${reservation.kind} ${reservation.name}`);
        }
        above = held;
      }
    }
  }

  hit(x, y, frame) {
    const point = frame.at(x, y);
    if (point?.row?.kind !== 'server') return null;
    const { row, t } = point;
    return (
      this.at(frame.p).find(({ from, until, servers }) => from <= t && t < until && servers.has(row.index)) ?? null
    );
  }

  describe({ from, until, name, kind, holders }) {
    const text = `${kind} ${name} from ${clock(from)} to ${clock(until)}`;
    return holders
      ? [
          ['', text],
          ['for', holders],
        ]
      : [['', text]];
  }
}

/** The current time of a live cluster; its label stands beside the playhead, not below it. */
export class NowLine extends Layer {
  constructor() {
    super('now', LEVEL.EVENTS);
    this.ms = null;
    this.text = 'now';
  }

  /** paused: the time is that of the newest data. */
  update(ms, paused = false) {
    this.ms = ms;
    this.text = paused ? 'newest data' : 'now';
  }

  paint(ctx, frame) {
    if (this.ms === null) return;
    const { area, c } = frame;
    const x = Math.round(frame.xOf(this.ms)) + 0.5;
    if (x < area.left || x > area.right) return;
    ctx.strokeStyle = c.bad;
    ctx.lineWidth = 1.5;
    ctx.beginPath();
    ctx.moveTo(x, area.top);
    ctx.lineTo(x, area.bottom);
    ctx.stroke();
    ctx.font = '600 10px system-ui, sans-serif';
    const width = ctx.measureText(this.text).width + 8;
    const playhead = frame.xOf(frame.p);
    const left = x + width > area.right || (playhead > x && playhead < x + width) ? x - width : x;
    ctx.fillStyle = c.bad;
    ctx.fillRect(left, area.top, width, HEAD_PX);
    ctx.fillStyle = c.panel;
    ctx.textBaseline = 'middle';
    ctx.fillText(this.text, left + 4, area.top + HEAD_PX / 2);
  }

  hit(x, _y, frame) {
    return this.ms !== null && frame.area && Math.abs(frame.xOf(this.ms) - x) <= NEAR_PX ? { now: true } : null;
  }

  describe() {
    return [['', this.text === 'now' ? 'current time of the cluster' : 'time of the newest data of the cluster']];
  }
}

function band(ctx, { c, rowPx }, x, right, y) {
  ctx.save();
  ctx.globalAlpha = 0.16;
  ctx.fillStyle = c.accent;
  ctx.fillRect(x, y, right - x, rowPx);
  ctx.globalAlpha = 0.7;
  ctx.fillRect(x, y, 1, rowPx);
  ctx.fillRect(right - 1, y, 1, rowPx);
  ctx.restore();
}

function label(ctx, { c, rowPx, area }, x, right, y, text) {
  const left = Math.max(x, area.left) + PAD_PX;
  ctx.font = '600 10px system-ui, sans-serif';
  if (rowPx < LABEL_PX || left + ctx.measureText(text).width + PAD_PX > right) return;
  ctx.fillStyle = c.accent;
  ctx.textBaseline = 'middle';
  ctx.fillText(text, left, y + rowPx / 2);
}
