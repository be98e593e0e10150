// Tile of a server on a canvas, as the map of the overview and the picture of a scenario draw it.

/** Outline of a server without load: its colour is close to that of the panel. */
export function outline(ctx, x, y, size, color) {
  ctx.strokeStyle = color;
  ctx.lineWidth = 1;
  ctx.strokeRect(x + 0.5, y + 0.5, size - 1, size - 1);
}

/** Mark of a server that is removed: a dashed frame, without what the server had. */
export function dashedFrame(ctx, x, y, size, color) {
  ctx.setLineDash([3, 2]);
  outline(ctx, x, y, size, color);
  ctx.setLineDash([]);
}

/** Mark of a server that holds more than its capacity: a thick frame, as .beyond in a legend. */
export function thickFrame(ctx, x, y, size, color) {
  const px = size > 10 ? 3 : 1;
  ctx.strokeStyle = color;
  ctx.lineWidth = px;
  ctx.strokeRect(x + px / 2, y + px / 2, size - px, size - px);
}

/** Mark of a server that is unavailable: a frame with a diagonal, as .struck in a legend. */
export function strike(ctx, x, y, size, color) {
  ctx.strokeStyle = color;
  ctx.lineWidth = 1.5;
  ctx.strokeRect(x + 0.75, y + 0.75, size - 1.5, size - 1.5);
  ctx.beginPath();
  ctx.moveTo(x + 1, y + 1);
  ctx.lineTo(x + size - 1, y + size - 1);
  ctx.stroke();
}
