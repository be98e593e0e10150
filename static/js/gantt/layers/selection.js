// Selection of servers and a time range by a drag with Alt.

import { LEVEL, Layer } from './layer.js';

const CLICK_PX = 4;
const EMPTY = 'No servers selected: drag over rows of servers.';
const OTHER_ROWS = 'Servers are selected in rows of servers: set the rows of the schedule to Servers first.';

export class Selection extends Layer {
  constructor() {
    super('selection', LEVEL.SELECTION);
    this.box = null; // {x0, y0, x1, y1}
  }

  paint(ctx, { c }) {
    if (!this.box) return;
    const { x0, y0, x1, y1 } = this.box;
    ctx.strokeStyle = c.accent;
    ctx.setLineDash([4, 3]);
    ctx.strokeRect(Math.min(x0, x1) + 0.5, Math.min(y0, y1) + 0.5, Math.abs(x1 - x0), Math.abs(y1 - y0));
    ctx.setLineDash([]);
  }

  /**
   * Selected servers and time range: {servers, from, to}; {why} if it has no servers or no duration; null for a click.
   */
  chosen(frame) {
    const { area, view } = frame;
    const [left, right] = [Math.min(this.box.x0, this.box.x1), Math.max(this.box.x0, this.box.x1)];
    const rowAt = (y) => (y - area.top + frame.top) / frame.rowPx;
    const first = Math.max(0, Math.floor(rowAt(Math.min(this.box.y0, this.box.y1))));
    const rows = frame.rows.list.slice(first, Math.ceil(rowAt(Math.max(this.box.y0, this.box.y1))));
    const servers = rows.filter((row) => row.kind === 'server' && row.index >= 0).map((row) => row.index);
    const within = (x) => (Math.max(area.left, Math.min(area.right, x)) - area.left) / (area.right - area.left);
    const at = (x) => Math.round(view.from + within(x) * (view.to - view.from));
    if (right - left <= CLICK_PX) {
      const high = Math.abs(this.box.y1 - this.box.y0) > CLICK_PX;
      return high ? { why: 'The selection has no duration: also drag along the time axis.' } : null;
    }
    if (!servers.length) return { why: frame.rows.order === 'servers' ? EMPTY : OTHER_ROWS };
    return { servers, from: Math.max(0, at(left)), to: at(right) };
  }
}
