// The page's only animation loop: charts mark themselves dirty, and are drawn at most once per frame.

import { logError } from './client-errors.js';

/** @type {Set<(nowMs: number) => void>} */
const dirty = new Set();
/** @type {Set<(nowMs: number) => boolean>} */
const tickers = new Set();
let scheduled = false;

/**
 * Runs `draw` once in the next frame, however often it is requested.
 *
 * @param {(nowMs: number) => void} draw
 */
export function redraw(draw) {
  dirty.add(draw);
  schedule();
}

/**
 * Calls tick(nowMs) in each frame while it returns true, before drawing.
 *
 * @param {(nowMs: number) => boolean} tick
 */
export function animate(tick) {
  tickers.add(tick);
  schedule();
}

/** Draws at once what waits for the next frame: paper has no frames. */
export function drawNow() {
  if (dirty.size) run(performance.now());
}

function schedule() {
  if (scheduled || document.hidden) return;
  scheduled = true;
  requestAnimationFrame(run);
}

/** @param {number} nowMs */
function run(nowMs) {
  scheduled = false;
  for (const tick of [...tickers]) if (!wants(tick, nowMs)) tickers.delete(tick);
  const draws = [...dirty];
  dirty.clear();
  for (const draw of draws) {
    try {
      draw(nowMs);
    } catch (error) {
      logError(error); // the others are still drawn
    }
  }
  if (dirty.size || tickers.size) schedule();
}

/**
 * True if a ticker needs another frame; one that fails gets none.
 *
 * @param {(nowMs: number) => boolean} tick
 * @param {number} nowMs
 */
function wants(tick, nowMs) {
  try {
    return tick(nowMs);
  } catch (error) {
    logError(error);
    return false;
  }
}

if (typeof document !== 'undefined') document.addEventListener('visibilitychange', schedule);
