// Resolution of canvases: that of the screen, or a finer one while the page is drawn for paper or for a picture.

/** @type {number | null} */
let fixed = null;
/** @type {Set<() => void>} */
const listeners = new Set();

/** Pixels of a canvas per px of the page. */
export const canvasRatio = () => fixed ?? (globalThis.devicePixelRatio || 1);

/**
 * Calls the listener when canvases have to take the size that the page has now, without waiting for an event.
 *
 * @param {() => void} listener
 */
export function onCanvasSize(listener) {
  listeners.add(listener);
}

/**
 * Brings all canvases to the present size of their places.
 *
 * @param {number | null} ratio pixels per px; that of the screen if null
 */
export function sizeCanvases(ratio) {
  fixed = ratio;
  for (const listener of listeners) listener();
}
