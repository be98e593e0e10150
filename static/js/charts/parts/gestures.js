// Pan by drag, zoom by wheel with Ctrl or by pinch, a range by a drag along the axis, a crosshair at the pointer or by
// keys, double-click to reset: the same on every chart of the page.

const STILL_PX = 4; // a press that moved less is a click
const ZOOM_PER_PX = 0.003; // of the wheel

const STEPS = 60; // of the crosshair and of a range by keys, in the width of the plot

/**
 * element  takes the pointer and the keys
 * view     the page's View
 * plot     () -> {left, right, bottom}: the plot's edges in px of the element; its axis is below
 * options  scroll(px): rows up and down, false when they are at their end; click(x, y, whether Ctrl was held);
 *          hover(x, y | null);
 *          frame({x0, y0, x1, y1}, done): a drag with Alt
 */
export function gestures(element, view, plot, /** @type {any} */ { scroll, click, hover, frame } = {}) {
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
  const within = (x) => timeAt(Math.min(Math.max(x, plot().left), plot().right));
  const onAxis = (y) => y > plot().bottom;

  let box = null; // of a frame that is drawn
  let start = null; // px at which a range begins that is drawn
  let anchor = null; // {from, to} of a range that is made by keys
  element.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    if (frame && event.altKey) {
      const [x, y] = local(event);
      box = { x0: x, y0: y, x1: x, y1: y };
      element.setPointerCapture(event.pointerId);
      return;
    }
    const [x, y] = local(event);
    if (event.shiftKey || onAxis(y)) {
      start = x;
      element.setPointerCapture(event.pointerId);
      return;
    }
    pointers.set(event.pointerId, [x, y]);
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
    if (start !== null) {
      if (Math.abs(x - start) >= STILL_PX) view.select(within(start), within(x), false);
      return;
    }
    const before = pointers.get(event.pointerId);
    if (!before) {
      element.classList.toggle('axis', onAxis(y));
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
    if (start !== null) {
      const [begun, [x]] = [start, local(event)];
      start = null;
      if (event.type === 'pointercancel') view.unselect();
      else if (Math.abs(x - begun) >= STILL_PX) view.select(within(begun), within(x));
      return;
    }
    if (!pointers.delete(event.pointerId)) return;
    element.classList.remove('dragging');
    if (event.type !== 'pointerup' || moved >= STILL_PX) return;
    const [x, y] = local(event);
    if (event.pointerType === 'touch' && inPlot(x)) view.point(timeAt(x)); // it stays until the next touch
    click?.(x, y, Boolean(event.ctrlKey || event.metaKey));
  };
  element.addEventListener('pointerup', release);
  element.addEventListener('pointercancel', release);
  element.addEventListener('pointerleave', (event) => {
    if (event.pointerType !== 'touch') view.point(null);
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
      '[': () => view.point(shifted(view.cursor, -1)),
      ']': () => view.point(shifted(view.cursor, 1)),
    };
    const action = event.shiftKey && /^Arrow(Left|Right)$/.test(event.key) ? () => extend(event) : actions[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey || event.target !== element) return;
    action();
    event.preventDefault();
  });

  element.addEventListener('keyup', ({ key }) => {
    if (key !== 'Shift' || !anchor) return;
    anchor = null;
    if (view.selected) view.select(view.selected.from, view.selected.to);
  });
  element.addEventListener('blur', () => view.point(null));

  /** A time moved by a step, within the range shown; null begins in its middle. */
  function shifted(ms, by) {
    const width = view.to - view.from;
    return Math.min(Math.max((ms ?? view.from + width / 2) + (by * width) / STEPS, view.from), view.to);
  }

  /** Extends a range by Shift and an arrow key, from the crosshair. */
  function extend({ key }) {
    anchor ??= { from: view.cursor ?? shifted(null, 0), to: view.cursor ?? shifted(null, 0) };
    anchor.to = shifted(anchor.to, key === 'ArrowLeft' ? -1 : 1);
    view.point(anchor.to);
    view.select(anchor.from, anchor.to, false);
  }
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
