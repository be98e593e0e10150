// Pan by drag, zoom by wheel with Ctrl or by pinch, keys, double-click to reset: the same on every chart of the page.

const STILL_PX = 4; // a press that moved less is a click
const ZOOM_PER_PX = 0.003; // of the wheel

/**
 * element  takes the pointer and the keys
 * view     the page's View
 * plot     () -> {left, right}: the plot's edges in px of the element
 * options  scroll(px): rows up and down, false when they are at their end; click(x, y); hover(x, y | null);
 *          frame({x0, y0, x1, y1}, done): a drag with Alt
 */
export function gestures(element, view, plot, { scroll, click, hover, frame } = {}) {
  const pointers = new Map();
  let moved = 0;
  let pinch = 0;
  const msPerPx = () => (view.to - view.from) / Math.max(1, plot().right - plot().left);
  const timeAt = (x) => view.from + (x - plot().left) * msPerPx();
  const local = (event) => {
    const box = element.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const inPlot = (x) => x >= plot().left && x <= plot().right;

  let box = null; // of a frame that is drawn
  element.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    if (frame && event.altKey) {
      const [x, y] = local(event);
      box = { x0: x, y0: y, x1: x, y1: y };
      element.setPointerCapture(event.pointerId);
      return;
    }
    pointers.set(event.pointerId, local(event));
    element.setPointerCapture(event.pointerId);
    moved = 0;
    pinch = spread();
  });
  element.addEventListener('pointermove', (event) => {
    const [x, y] = local(event);
    if (box) {
      Object.assign(box, { x1: x, y1: y });
      frame(box, false);
      return;
    }
    const before = pointers.get(event.pointerId);
    if (!before) {
      view.point(inPlot(x) ? timeAt(x) : null);
      hover?.(x, y);
      return;
    }
    pointers.set(event.pointerId, [x, y]);
    moved += Math.abs(x - before[0]) + Math.abs(y - before[1]);
    if (pointers.size === 2) {
      const now = spread();
      if (pinch > 0 && now > 0) view.zoom(pinch / now, timeAt(middle()));
      pinch = now;
    } else if (moved >= STILL_PX) {
      element.classList.add('dragging');
      if (x !== before[0]) view.pan((before[0] - x) * msPerPx());
      if (y !== before[1]) scroll?.(before[1] - y);
      hover?.(null);
    }
  });
  const release = (event) => {
    if (box) {
      const done = box;
      box = null;
      frame(event.type === 'pointerup' ? done : null, true);
      return;
    }
    if (!pointers.delete(event.pointerId)) return;
    element.classList.remove('dragging');
    if (event.type === 'pointerup' && moved < STILL_PX) click?.(...local(event));
  };
  element.addEventListener('pointerup', release);
  element.addEventListener('pointercancel', release);
  element.addEventListener('pointerleave', () => {
    view.point(null);
    hover?.(null);
  });
  element.addEventListener(
    'wheel',
    (event) => {
      const [x] = local(event);
      const lines = event.deltaMode === 1 ? 16 : 1;
      const sideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
      if (event.ctrlKey || event.metaKey) {
        // browsers report the pinch of a trackpad as a wheel with Ctrl
        if (inPlot(x)) view.zoom(Math.exp(event.deltaY * lines * ZOOM_PER_PX), timeAt(x));
      } else if (sideways) view.pan((event.deltaX || event.deltaY) * lines * msPerPx());
      else if (!scroll || scroll(event.deltaY * lines) === false) return; // the page scrolls
      event.preventDefault();
    },
    { passive: false },
  );
  element.addEventListener('dblclick', () => view.fit());
  element.addEventListener('keydown', (event) => {
    const width = view.to - view.from;
    const actions = {
      ArrowLeft: () => view.pan(-width / 10),
      ArrowRight: () => view.pan(width / 10),
      '+': () => view.zoom(0.7, view.from + width / 2),
      '=': () => view.zoom(0.7, view.from + width / 2),
      '-': () => view.zoom(1 / 0.7, view.from + width / 2),
      0: () => view.fit(),
      ArrowUp: () => scroll?.(-40),
      ArrowDown: () => scroll?.(40),
      PageUp: () => scroll?.(-400),
      PageDown: () => scroll?.(400),
      Home: () => scroll?.(-1e9),
      End: () => scroll?.(1e9),
    };
    const action = actions[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey || event.target !== element) return;
    action();
    event.preventDefault();
  });

  function spread() {
    if (pointers.size !== 2) return 0;
    const [a, b] = [...pointers.values()];
    return Math.abs(a[0] - b[0]);
  }
  function middle() {
    const [a, b] = [...pointers.values()];
    return (a[0] + b[0]) / 2;
  }
}
