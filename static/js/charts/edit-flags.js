// Where what-if edits changed the world of a run: a line across the rows with a number, and what was changed in the tooltip.

import { clock } from '../lib/format.js';

const NEAR_PX = 5;
const HEAD_PX = 13;

/** edits: the store's [[atMs, [sentence]]]. Paints those that had happened by p. */
export function paintEditFlags(ctx, edits, { area, xOf, p, c }) {
  edits.forEach(([atMs], i) => {
    const x = Math.round(xOf(atMs)) + 0.5;
    if (atMs > p || x < area.left || x > area.right) return;
    ctx.strokeStyle = c.accent;
    ctx.lineWidth = 1;
    ctx.setLineDash([5, 3]);
    ctx.beginPath();
    ctx.moveTo(x, area.top);
    ctx.lineTo(x, area.bottom);
    ctx.stroke();
    ctx.setLineDash([]);
    const text = String(i + 1);
    ctx.font = '600 10px system-ui, sans-serif';
    const width = ctx.measureText(text).width + 8;
    ctx.fillStyle = c.accent;
    ctx.fillRect(x, area.top, width, HEAD_PX);
    ctx.fillStyle = c.accentInk;
    ctx.textBaseline = 'middle';
    ctx.fillText(text, x + 4, area.top + HEAD_PX / 2);
  });
}

/** Lines of a tooltip at x, or none where no flag is near. */
export function describeEditFlag(edits, x, { xOf, p }) {
  const found = edits.findIndex(([atMs]) => atMs <= p && Math.abs(xOf(atMs) - x) <= NEAR_PX);
  if (found < 0) return [];
  const [atMs, said] = edits[found];
  return [[`Edit ${found + 1}`, clock(atMs)], ...said.map((sentence) => [sentence, ''])];
}
