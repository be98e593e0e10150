// The element that the address names after #: it stays at its place while the page above it grows.

const MAX_WAIT_MS = 10_000;
const TAKEN_OVER = ['wheel', 'touchstart', 'pointerdown', 'keydown'];

/**
 * Scrolls to an element, and again whenever the page grows, until the reader acts or some seconds have passed.
 *
 * @param {Element} target
 */
export function hold(target) {
  const show = () => target.scrollIntoView();
  const observer = new ResizeObserver(show);
  const end = () => {
    observer.disconnect();
    for (const name of TAKEN_OVER) removeEventListener(name, end);
  };
  for (const name of TAKEN_OVER) addEventListener(name, end, { passive: true });
  setTimeout(end, MAX_WAIT_MS);
  observer.observe(document.body);
  show();
}
