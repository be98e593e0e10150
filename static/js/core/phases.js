// Phases of a run: the scheduler and the execution model from a given time on.

import { runTime } from '../util/wall-clock.js';

/** @typedef {{from_ms: number, title: string, model: string, unused?: string[], training?: string}} Phase */

/**
 * The phase at a time.
 *
 * @param {Phase[]} phases
 * @param {number} ms
 */
export function phaseAt(phases, ms) {
  return phases.findLast(({ from_ms: from }) => from <= ms) ?? phases[0];
}

/**
 * 'FIFO → SRTF at 1d 02:00:00'.
 *
 * @param {Phase[]} phases
 * @param {string | null} [beganAt] of a run, as for runTime()
 */
export function inCharge(phases, beganAt = null) {
  return phases.map(({ title, from_ms: ms }, i) => (i ? `${title} at ${runTime(ms, beganAt)}` : title)).join(' → ');
}

/**
 * 'training model PD-ORS' of a scheduler that can use several, of each phase; '' where no phase has one of its own.
 *
 * @param {Phase[]} phases
 */
export function trainingText(phases) {
  const chosen = phases.filter(({ title, training }) => training && training !== title);
  return chosen.length ? `training model ${[...new Set(chosen.map(({ training }) => training))].join(' → ')}` : '';
}

/**
 * values[bin] if the middle of the bin is in a phase of the model with that name, else NaN.
 *
 * @param {string} name
 * @param {Phase[]} phases
 * @param {Float64Array} values
 * @param {number} from ms at which the first bin begins
 * @param {number} width ms of a bin
 */
export function whileIn(name, phases, values, from, width) {
  return values.map((value, bin) => (phaseAt(phases, from + (bin + 0.5) * width).model === name ? value : NaN));
}
