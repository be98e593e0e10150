// Deletes a run that has ended, after a question that names what goes with it and what stays.

import { confirmed } from '../ui/confirm.js';
import { get, remove } from '../core/api.js';
import { plural } from '../util/format.js';

/** Whether it was deleted; the run is {id, name, events}. */
export async function deleteRun(run) {
  const family = await get(`/api/runs/${run.id}/forks/`);
  if (!(await confirmed(deletionQuestion(run, family), 'Delete run'))) return false;
  await remove(`/api/runs/${run.id}/`);
  return true;
}

/** family: the rows of GET /api/runs/N/forks/. */
export function deletionQuestion({ id, name, events }, family) {
  const forks = family.filter((row) => row.parent === id).map((row) => row.id);
  const also = forks.length ? ` and its ${forks.length === 1 ? 'fork, run' : 'forks, runs'} ${forks.join(', ')}` : '';
  return (
    `Delete run ${id}, “${name}”? Its log of ${plural(events, 'event')} will be deleted permanently, ` +
    'with its metrics, charts and comparisons. ' +
    `Its scenario${also} will be kept.`
  );
}
