// Rectangles that are filled colour by colour, and thin hatched strips at the foot of a sub-row.

import { stripes } from '../../util/colors.js';

/** rects: Map of fill -> [x, y, width, height, ...]. */
export function fillAll(ctx, rects) {
  for (const [fill, list] of rects) {
    ctx.fillStyle = fill;
    for (let i = 0; i < list.length; i += 4) ctx.fillRect(list[i], list[i + 1], list[i + 2], list[i + 3]);
  }
}

/** Adds a strip whose foot is at `foot`. */
export function addStrip(ctx, rects, { x, width, foot, subRowPx, color }) {
  const height = Math.min(4, Math.max(1.5, subRowPx / 3));
  const fill = stripes(ctx, color);
  if (!rects.has(fill)) rects.set(fill, []);
  rects.get(fill).push(x, foot - height, Math.max(1, width), height);
}
