// Background of the rows: headings, lines between rows, and outages of servers.

import { outagesAt } from '../../util/capacity.js';
import { clock } from '../../util/format.js';
import { OPEN } from '../../core/bars.js';
import { LEVEL, Layer } from './layer.js';

const LINE_PX = 9; // rows this high are divided by lines

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
        if (!span) continue;
        ctx.fillStyle = c.same; // not c.line, which is the colour of dimmed bars
        ctx.fillRect(span[0], y + 1, span[1] - span[0], Math.max(1, rowPx - 2));
        if (rowPx < LINE_PX) continue;
        ctx.fillStyle = c.muted; // the fill alone hardly differs from the background
        for (const edge of [y + 1, y + rowPx - 2]) ctx.fillRect(span[0], Math.round(edge), span[1] - span[0], 1);
      }
    }
  }

  hit(x, y, frame) {
    const point = frame.at(x, y);
    const away = point && awayOf(point.row, frame).find(([begin, end]) => begin <= point.t && point.t < end);
    return away ? { until: away[1] } : null;
  }

  describe({ until }) {
    return [['', until < OPEN ? `unavailable until ${clock(until)}` : 'unavailable']];
  }
}

/**
 * [[from, until]] in which the row's server is unavailable, as known at the time shown: without outages that a later
 * edit announces or causes and, on a real cluster, without those that begin later.
 */
function awayOf(row, { info, p }) {
  const server = row.kind === 'server' && info.cluster.servers[row.index];
  return server ? outagesAt(server, p, info.run?.mode === 'mirror') : [];
}
