// Runs of which one is shown as the present: the newest ones, and each active one and the chosen one, however old.

import { get } from '../core/api.js';
import { BEGUN } from '../core/active-runs.js';
import { chosenRun } from './present.js';

export const MAX_RUNS = 500; // in one answer of the list

/**
 * The runs of an answer of the list without filters; then the active runs and the chosen run that it does not contain.
 *
 * @param {{ results: any[], by_status: Record<string, number> }} answer
 */
export async function presentRuns({ results, by_status: byStatus }) {
  const listed = (status) => results.filter((run) => run.status === status).length;
  const missing = BEGUN.filter((status) => (byStatus[status] ?? 0) > listed(status));
  const pages = await Promise.all(missing.map((status) => get(`/api/runs/?status=${status}&size=${MAX_RUNS}`)));
  const found = new Map([...results, ...pages.flatMap((page) => page.results)].map((run) => [run.id, run]));
  const chosen = chosenRun();
  if (chosen && !found.has(chosen)) {
    const run = await get(`/api/runs/${chosen}/`).catch((error) => {
      if (error.status !== 404) throw error; // it was deleted
    });
    if (run) found.set(run.id, run);
  }
  return [...found.values()];
}
