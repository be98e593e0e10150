// The schedule found for a job that was decided by payoff: its finish, and the cells that cost most.

import { clock, duration } from '../../util/format.js';

const MIN_OF_LARGEST = 0.001;

/** ms of its finish: the end of its last slot. */
export const finishOf = ({ finish_slot: slot }, { slot_ms: slotMs }) => (slot + 1) * slotMs;

/** Its finish, compared with the time at which the job's utility halves; worth: from the API's job story. */
export function finishSentence(values, worth) {
  const { slot_ms: slotMs, from_slot: fromSlot, sensitivity, target_slots: target } = worth;
  const begin = `It would finish at ${clock(finishOf(values, worth))}`;
  const lateMs = Math.round((values.finish_slot - fromSlot - target) * slotMs);
  if (!sensitivity) return `${begin}.`;
  if (!lateMs) return `${begin}, when its utility has halved.`;
  return lateMs > 0
    ? `${begin}, ${duration(lateMs)} after its utility has halved.`
    : `${begin}, ${duration(-lateMs)} before its utility halves.`;
}

/** Rows whose cost is at least a thousandth of the largest; costOf(row). All costs of a decision may be below 0.01. */
export function costly(rows, costOf) {
  const least = MIN_OF_LARGEST * Math.max(0, ...rows.map(costOf));
  return rows.filter((row) => costOf(row) > 0 && costOf(row) >= least);
}
