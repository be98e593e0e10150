// Phases of a run: the scheduler and the execution model from a given time on.

import { clock } from '../util/format.js';

/** The phase at a time. */
export function phaseAt(phases, ms) {
  return phases.findLast(({ from_ms: from }) => from <= ms) ?? phases[0];
}

/** 'FIFO → SRTF at 1d 02:00:00': the titles of [{from_ms, title}]. */
export function inCharge(phases) {
  return phases.map(({ title, from_ms: from }, i) => (i ? `${title} at ${clock(from)}` : title)).join(' → ');
}

/** values[bin] if the middle of the bin is in a phase of the model with that name, else NaN. */
export function whileIn(name, phases, values, from, width) {
  return values.map((value, bin) => (phaseAt(phases, from + (bin + 0.5) * width).model === name ? value : NaN));
}
