// Modes of runs with the rules that pages ask for, under the names of twin/models/run_modes.py. `title` and `anyEnd`
// are of pages only. Pages compare no modes by name.

/**
 * @typedef {object} RunMode
 * @property {string} title of the mode, in a list of properties
 * @property {boolean} simulated whether the twin computes the run; otherwise a connection records a real cluster
 * @property {boolean} paced whether a clock of its own paces it, so that a fork can replace it
 * @property {boolean} dated whether its clock states the moment of the real world from which its times count
 * @property {boolean} looksAhead whether its log states what is to come: planned bars, and outages before they begin
 * @property {boolean} anyEnd whether its completed jobs have ended in any way, also by a failure
 * @property {boolean} forkedByCut whether its forks and previews begin with a cut, under a scheduler of their own
 */

/** @type {Record<string, RunMode>} */
export const MODES = {
  batch: {
    title: 'batch',
    simulated: true,
    paced: false,
    dated: false,
    looksAhead: true,
    anyEnd: false,
    forkedByCut: false,
  },
  live: {
    title: 'live',
    simulated: true,
    paced: true,
    dated: false,
    looksAhead: true,
    anyEnd: false,
    forkedByCut: false,
  },
  mirror: {
    title: 'mirrored',
    simulated: false,
    paced: false,
    dated: true,
    looksAhead: false,
    anyEnd: true,
    forkedByCut: true,
  },
};

/**
 * Rules of the mode of a run, or of a run that is chosen in a form. Without a run yet, those of a batch run.
 *
 * @param {{mode: string} | null | undefined} run
 * @returns {RunMode}
 */
export function rulesOf(run) {
  const name = run?.mode ?? 'batch';
  const rules = MODES[name];
  if (rules) return rules;
  throw new Error(`Unknown mode “${name}”; known: ${Object.keys(MODES).join(', ')}. Reload the page.`);
}

/** @param {string} mode */
export const modeText = (mode) => MODES[mode]?.title ?? mode;

/**
 * The status of a run as shown: a queued run that a worker has held for long, or is to pause, is starting.
 *
 * @param {{status: string, activity?: {state: string} | null}} run
 */
export const statusText = ({ status, activity }) =>
  status === 'queued' && ['stalled', 'pausing'].includes(activity?.state ?? '') ? 'starting' : status;
