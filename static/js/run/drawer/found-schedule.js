// The schedule that was found for a job when it was decided by payoff: when it would finish, and where it costs most.

import { clock, duration, fixed } from '../../util/format.js';

const NOTHING = fixed(0);

/** ms of its finish: the end of its last slot. */
export const finishOf = ({ finish_slot: slot }, { slot_ms: slotMs }) => (slot + 1) * slotMs;

/** When it would finish, against the moment at which the job's value halves; worth: of the API's story. */
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

/** Those of rows whose cost is not written as nothing; costOf(row). */
export const costly = (rows, costOf) => rows.filter((row) => fixed(costOf(row)) !== NOTHING);
