// The window of time that the page of a large run shows, within the run.

const MIN_MS = 1000;
const STEP = 0.5; // of the window, for a step to the side
const ZOOM = 4;

/** [from, to] in ms, moved and cut so that it lies in the run. */
export function within([from, to], [first, last]) {
  const span = Math.min(last - first, Math.max(MIN_MS, Math.round(to - from)));
  const begin = Math.round(Math.max(first, Math.min(from, last - span)));
  return [begin, begin + span];
}

/** True for the window that is the whole run. */
export const isWhole = ([from, to], [first, last]) => from === first && to === last;

/** The window after 'earlier', 'later', 'closer', 'wider' or 'whole'; at: the time that stays where it is. */
export function moved(action, [from, to], [first, last], at = (from + to) / 2) {
  const span = to - from;
  const zoomed = (factor) => [at - (at - from) * factor, at + (to - at) * factor];
  const next = {
    earlier: () => [from - span * STEP, to - span * STEP],
    later: () => [from + span * STEP, to + span * STEP],
    closer: () => zoomed(1 / ZOOM),
    wider: () => zoomed(ZOOM),
    whole: () => [first, last],
  }[action]();
  return within(next, [first, last]);
}
