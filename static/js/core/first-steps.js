// First steps of an operator: which are done, and whether the card on the overview is skipped. Kept in the browser.

const KEY = 'first-steps';

/** Names of the steps, in order; templates/_first_steps.html has their texts. */
export const STEPS = ['rejected', 'ask', 'fork', 'fail', 'compare', 'upload'];

/** @returns {{ done: string[], skipped: boolean }} */
export function progress() {
  let kept = null;
  try {
    kept = JSON.parse(localStorage.getItem(KEY) ?? 'null');
  } catch {
    // not ours, or no storage: as at the beginning
  }
  const done = Array.isArray(kept?.done) ? STEPS.filter((step) => kept.done.includes(step)) : [];
  return { done, skipped: kept?.skipped === true };
}

/** @param {{ done: string[], skipped: boolean }} state */
function keep(state) {
  try {
    localStorage.setItem(KEY, JSON.stringify(state));
  } catch {
    // without storage the steps start again on each page
  }
}

/**
 * Marks a step as done.
 *
 * @param {string} step
 */
export function tick(step) {
  const state = progress();
  if (!state.done.includes(step)) keep({ ...state, done: [...state.done, step] });
}

/** @param {boolean} skipped */
export function skip(skipped) {
  keep({ ...progress(), skipped });
}

/** Forgets which steps are done. */
export function restart() {
  keep({ done: [], skipped: false });
}

/** True if the card is shown: the steps are neither skipped nor all done. */
export function wanted() {
  const { done, skipped } = progress();
  return !skipped && done.length < STEPS.length;
}
