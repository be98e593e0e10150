// Markers of what-if edits: a numbered line across the rows, with the changes in the tooltip.

import { clock } from '../../util/format.js';
import { LEVEL, Layer } from './layer.js';

const NEAR_PX = 5;
const HEAD_PX = 13;

export class EditMarkers extends Layer {
  constructor(store) {
    super('edit-markers', LEVEL.EVENTS);
    this.store = store;
  }

  /** Edits up to the time shown. */
  paint(ctx, frame) {
    this.store.edits.forEach(([atMs], i) => {
      const x = Math.round(frame.xOf(atMs)) + 0.5;
      if (atMs <= frame.p && x >= frame.area.left && x <= frame.area.right) marker(ctx, frame, x, String(i + 1));
    });
  }

  hit(x, y, frame) {
    const near = ([atMs]) => atMs <= frame.p && Math.abs(frame.xOf(atMs) - x) <= NEAR_PX;
    const place = frame.area ? this.store.edits.findIndex(near) : -1;
    return place < 0 ? null : { place, alone: true };
  }

  describe({ place }) {
    const [atMs, sentences] = this.store.edits[place];
    return [[`Edit ${place + 1}`, clock(atMs)], ...sentences.map((sentence) => [sentence, ''])];
  }
}

function marker(ctx, { area, c }, x, text) {
  ctx.strokeStyle = c.accent;
  ctx.lineWidth = 1;
  ctx.setLineDash([5, 3]);
  ctx.beginPath();
  ctx.moveTo(x, area.top);
  ctx.lineTo(x, area.bottom);
  ctx.stroke();
  ctx.setLineDash([]);
  ctx.font = '600 10px system-ui, sans-serif';
  ctx.fillStyle = c.accent;
  ctx.fillRect(x, area.top, ctx.measureText(text).width + 8, HEAD_PX);
  ctx.fillStyle = c.accentInk;
  ctx.textBaseline = 'middle';
  ctx.fillText(text, x + 4, area.top + HEAD_PX / 2);
}
