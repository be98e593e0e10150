// A small line without axes below a metric: how it changed.

import { pixelRatio } from '../ui/dom.js';
import { colors, onTheme } from '../util/colors.js';

const MIN_PX = 8; // a shorter line is a stray dot
const DOT_PX = 2; // radius of the mark at the end of a line: the time shown

/** @type {Map<HTMLCanvasElement, [ArrayLike<number | null>, number, number]>} */
const drawn = new Map(); // lines that are drawn again in another theme
onTheme(() => drawn.forEach((given, canvas) => sparkline(canvas, ...given)));

/**
 * Draws a line through values[0 .. count), scaled from 0 to their maximum, on a canvas with room for `total` values.
 * Unknown values (NaN) are left out; of too short a time nothing is drawn.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {ArrayLike<number | null>} values
 * @param {number} [count]
 * @param {number} [total]
 */
export function sparkline(canvas, values, count = values.length, total = values.length) {
  for (const other of drawn.keys()) if (!other.isConnected) drawn.delete(other);
  drawn.set(canvas, [values, count, total]);
  const ratio = pixelRatio(canvas);
  const width = Math.max(1, canvas.clientWidth);
  const height = Math.max(1, canvas.clientHeight);
  if (canvas.width !== Math.round(width * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const ctx = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.clearRect(0, 0, width, height);
  let top = 0;
  for (let i = 0; i < count; i++) top = Math.max(top, values[i] || 0);
  if (!(top > 0)) return;
  const known = Array.from({ length: count }, (_, i) => i).filter((i) => !Number.isNaN(values[i] ?? 0));
  if (((known[known.length - 1] - known[0]) / total) * width < MIN_PX) return;
  /** @type {(i: number) => [number, number]} */
  const placeOf = (i) => [((i + 0.5) / total) * width, height - 1.5 - ((values[i] ?? 0) / top) * (height - 3)];
  ctx.strokeStyle = colors().accent;
  ctx.lineWidth = 1;
  ctx.beginPath();
  for (const i of known) ctx.lineTo(...placeOf(i));
  ctx.stroke();
  const [x, y] = placeOf(known[known.length - 1]);
  ctx.fillStyle = colors().accent;
  ctx.beginPath();
  ctx.arc(Math.min(x, width - DOT_PX), Math.min(Math.max(y, DOT_PX), height - DOT_PX), DOT_PX, 0, 2 * Math.PI);
  ctx.fill();
}
