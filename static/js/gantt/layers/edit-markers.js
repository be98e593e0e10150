// Markers of what-if edits: a line across the rows with a mark at its time, and the number beside it; the changes are
// in the tooltip.

import { clock } from '../../util/format.js';
import { LEVEL, Layer } from './layer.js';

const NEAR_PX = 5;
const HEAD_PX = 13;
const MARK_PX = 4; // half the width of the mark

export class EditMarkers extends Layer {
  constructor(store) {
    super('edit-markers', LEVEL.EVENTS);
    this.store = store;
    this.heads = []; // [place in store.edits, x, px right of it] of each mark with its number, as painted
  }

  /** Edits up to the time shown. */
  paint(ctx, frame) {
    this.heads = [];
    this.store.edits.forEach(([atMs], i) => {
      const x = Math.round(frame.xOf(atMs)) + 0.5;
      if (atMs <= frame.p && x >= frame.area.left && x <= frame.area.right)
        this.heads.push([i, x, marker(ctx, frame, x, String(i + 1))]);
    });
  }

  /** The edit whose mark or number is at the point, the one on top, or else whose line is near. */
  hit(x, y, frame) {
    const { area } = frame;
    if (!area) return null;
    const onHead = y >= area.top && y <= area.top + HEAD_PX;
    const [place] =
      (onHead && this.heads.findLast(([, at, width]) => x >= at - MARK_PX && x <= at + width)) ||
      (this.heads.find(([, line]) => Math.abs(line - x) <= NEAR_PX) ?? []);
    return place === undefined ? null : { place, alone: true };
  }

  describe({ place }) {
    const [atMs, sentences] = this.store.edits[place];
    return [[`Edit ${place + 1}`, clock(atMs)], ...sentences.map((sentence) => [sentence, ''])];
  }
}

/** Paints the line and the number of an edit; returns the width of the number's box. */
function marker(ctx, { area, c }, x, text) {
  ctx.strokeStyle = c.accent;
  ctx.lineWidth = 1;
  ctx.setLineDash([5, 3]);
  ctx.beginPath();
  ctx.moveTo(x, area.top);
  ctx.lineTo(x, area.bottom);
  ctx.stroke();
  ctx.setLineDash([]);
  ctx.fillStyle = c.accent;
  ctx.beginPath();
  ctx.moveTo(x - MARK_PX, area.top);
  ctx.lineTo(x + MARK_PX, area.top);
  ctx.lineTo(x, area.top + 2 * MARK_PX);
  ctx.closePath();
  ctx.fill();
  ctx.font = '600 10px system-ui, sans-serif';
  const width = ctx.measureText(text).width + 3;
  ctx.fillStyle = c.panel; // not a box in the colour of the mark, whose width would look like a duration
  ctx.fillRect(x + MARK_PX + 1, area.top, width, HEAD_PX);
  ctx.fillStyle = c.accent;
  ctx.textBaseline = 'middle';
  ctx.fillText(text, x + MARK_PX + 2, area.top + HEAD_PX / 2);
  return width + MARK_PX + 1;
}
