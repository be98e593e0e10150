// Background of the rows: headings, lines between rows, and outages of servers.

import { outagesAt } from '../../util/capacity.js';
import { drainText, drainsOf, outageText } from '../../core/ranges/outage-text.js';
import { rulesOf } from '../../util/run-modes.js';
import { LEVEL, Layer } from './layer.js';

const LINE_PX = 9; // rows this high are divided by lines
const DASH_PX = 4; // of a dash and of the space after it
const HATCH_PX = 6; // between two stripes of an outage

export class RowGrid extends Layer {
  constructor() {
    super('row-grid', LEVEL.GRID);
  }

  paint(ctx, frame) {
    const { area, rowPx, c } = frame;
    for (const { row, y } of frame.views) {
      if (row.kind === 'site') {
        ctx.fillStyle = c.band;
        ctx.fillRect(area.left, y, area.right - area.left, rowPx);
      } else if (rowPx >= LINE_PX) {
        ctx.fillStyle = c.line;
        ctx.fillRect(area.left, Math.round(y + rowPx) - 1, area.right - area.left, 1);
      }
      for (const [begin, end] of awayOf(row, frame)) {
        const span = frame.spanOf(begin, end);
        if (span) paintOutage(ctx, span, y, rowPx, c);
      }
      for (const { from, until } of drainsIn(row, frame)) {
        const span = frame.spanOf(from, Math.min(until, frame.p));
        if (span) paintDrain(ctx, span, y, rowPx, c.muted);
      }
    }
  }

  hit(x, y, frame) {
    const point = frame.at(x, y);
    const away = point && awayOf(point.row, frame).find(([begin, end]) => begin <= point.t && point.t < end);
    if (away) return { text: outageText(frame.info.cluster.servers[point.row.index], away, frame.p) };
    const drain =
      point &&
      drainsIn(point.row, frame).find(({ from, until }) => from <= point.t && point.t < Math.min(until, frame.p));
    return drain ? { text: drainText(drain) } : null;
  }

  describe({ text }) {
    return [['', text]];
  }
}

/**
 * An outlined, hatched box, which no bar is: the fill alone looks like a planned bar or like a shade of a share, or
 * hardly differs from the background.
 */
function paintOutage(ctx, [left, right], y, rowPx, c) {
  const top = Math.round(y + 1);
  const height = Math.max(1, Math.round(y + rowPx - 1) - top);
  ctx.fillStyle = c.muted;
  ctx.fillRect(left, top, right - left, height);
  if (height <= 2 || right - left <= 2) return; // no room inside
  ctx.fillStyle = c.same; // not c.line, which is the colour of dimmed bars
  ctx.fillRect(left + 1, top + 1, right - left - 2, height - 2);
  hatch(ctx, [left, right], top, height, c.muted);
}

/** Stripes that fall to the right, as the diagonal of such a server on the map; those of bars and of gaps rise. */
function hatch(ctx, [left, right], top, height, color) {
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, top, right - left, height);
  ctx.clip();
  ctx.strokeStyle = color;
  ctx.lineWidth = 1;
  ctx.beginPath();
  for (let x = left - height - ((left - height) % HATCH_PX); x < right; x += HATCH_PX) {
    ctx.moveTo(x, top);
    ctx.lineTo(x + height, top + height);
  }
  ctx.stroke();
  ctx.restore();
}

/** Dashes at the top and at the foot of a row, where they do not cover the bars of the jobs that still run. */
function paintDrain(ctx, [left, right], y, rowPx, color) {
  ctx.fillStyle = color;
  for (let x = left; x < right; x += 2 * DASH_PX)
    for (const edge of [y + 1, y + rowPx - 2]) ctx.fillRect(x, Math.round(edge), Math.min(DASH_PX, right - x), 1);
}

function drainsIn(row, { info, p }) {
  const server = row.kind === 'server' && info.cluster.servers[row.index];
  return server ? drainsOf(server, p) : [];
}

/**
 * [[from, until]] in which the row's server is unavailable, as known at the time shown: without outages that a later
 * edit announces or causes and, on a real cluster, without those that begin later.
 */
function awayOf(row, { info, p }) {
  const server = row.kind === 'server' && info.cluster.servers[row.index];
  return server ? outagesAt(server, p, rulesOf(info.run).looksAhead) : [];
}
