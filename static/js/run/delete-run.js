// Deletion of an ended run, after a dialog that lists what is deleted with it and what is kept.

import { confirmed } from '../ui/confirm.js';
import { get, remove } from '../core/api.js';
import { plural } from '../util/format.js';

/** Deletes {id, name, events} on confirmation; whether it was deleted. */
export async function deleteRun(run) {
  const family = await get(`/api/runs/${run.id}/forks/`);
  if (!(await confirmed(deletionQuestion(run, family), 'Delete run'))) return false;
  await remove(`/api/runs/${run.id}/`);
  return true;
}

/** family: the rows of GET /api/runs/N/forks/. */
export function deletionQuestion({ id, name, events }, family) {
  const forks = family.filter((row) => row.parent === id).map((row) => row.id);
  const also = forks.length ? ` and its ${forks.length === 1 ? 'fork, run' : 'forks, runs'} ${forks.join(', ')},` : '';
  return (
    `Delete run ${id}, “${name}”? Its log of ${plural(events, 'event')} will be deleted permanently, ` +
    'with its metrics, charts and comparisons. ' +
    `Its scenario${also} will be kept.`
  );
}
