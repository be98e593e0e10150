// The page's only animation loop: whoever has something to draw marks itself dirty, and is drawn at most once a frame.

const dirty = new Set();
const tickers = new Set();
let scheduled = false;

/** Runs `draw` in the next frame, once, however often it is asked for. */
export function redraw(draw) {
  dirty.add(draw);
  schedule();
}

/** Calls tick(nowMs) in each frame while it returns true, before drawing. */
export function animate(tick) {
  tickers.add(tick);
  schedule();
}

function schedule() {
  if (scheduled || document.hidden) return;
  scheduled = true;
  requestAnimationFrame(run);
}

function run(nowMs) {
  scheduled = false;
  for (const tick of [...tickers]) if (!tick(nowMs)) tickers.delete(tick);
  const draws = [...dirty];
  dirty.clear();
  for (const draw of draws) draw(nowMs);
  if (dirty.size || tickers.size) schedule();
}

if (typeof document !== 'undefined') document.addEventListener('visibilitychange', schedule);
