// Shade over the planned part, after the time shown.

import { LEVEL, Layer } from './layer.js';

export class Plan extends Layer {
  constructor() {
    super('plan', LEVEL.PLAN);
  }

  paint(ctx, frame) {
    const { area, c } = frame;
    const x = Math.max(area.left, frame.xOf(frame.p));
    if (x >= area.right) return;
    ctx.globalAlpha = 0.5;
    ctx.fillStyle = c.panel;
    ctx.fillRect(x, area.top, area.right - x, area.bottom - area.top);
    ctx.globalAlpha = 1;
  }
}
