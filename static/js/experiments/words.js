// Words of experiments: values, bands, verdicts and progress.

import { h } from '../ui/dom.js';
import { number, plural, significant, unitText } from '../util/format.js';

const STATES = { holds: 'completed', 'does not hold': 'failed', 'not run': 'not-run' };

/** A cell of a table: numbers with three digits, 'not run' for none. */
export function cellText(cell) {
  if (cell === null) return 'not run';
  if (cell === 'infinite') return '∞';
  if (typeof cell !== 'number') return cell;
  return Number.isInteger(cell) ? number(cell, 0) : significant(cell);
}

/** '1.3 ×', and a share in per cent. */
export function quantityText(value, unit) {
  const [shown, word] = unit === 'share' && typeof value === 'number' ? [value * 100, '%'] : [value, unitText(unit)];
  return [cellText(shown), word].filter(Boolean).join(' ');
}

/** '≥ 1.3 ×' of a check, '' without a band. */
export function bandText({ bound, at_least: atLeast, unit }) {
  return bound === null ? '' : `${atLeast ? '≥' : '≤'} ${quantityText(bound, unit)}`;
}

/** The verdict with its mark. */
export const verdictMark = (verdict) => h('span', { class: 'state', 'data-state': STATES[verdict] }, verdict);

/** '5 of 6 checks hold' */
export const checksText = ({ held, judged }) =>
  judged ? `${number(held, 0)} of ${plural(judged, 'check')} ${judged === 1 ? 'holds' : 'hold'}` : 'no checks';

/** Sentence of an experiment that cannot run here, '' for any other. */
export const unavailableText = ({ unavailable }) => (unavailable ? `This experiment cannot run: ${unavailable}.` : '');

/** Progress of a reproduction that is not finished, in words. */
export function progressText({ status, done, total }) {
  const parts = `${number(done, 0)} of ${plural(total, 'part')}`;
  return (
    { queued: `waiting for a worker, ${parts}`, computing: `computing, ${parts}` }[status] ?? `${status}, ${parts}`
  );
}
