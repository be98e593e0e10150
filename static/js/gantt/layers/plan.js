// Shade over the planned part, after the time shown.

import { paintPlanned } from '../../charts/parts/time-chart.js';
import { LEVEL, Layer } from './layer.js';

export class Plan extends Layer {
  constructor() {
    super('plan', LEVEL.PLAN);
  }

  paint(ctx, frame) {
    paintPlanned(ctx, frame.area, frame.xOf(frame.p), frame.c.panel);
  }
}
