// The end of a run, as a page knows it: how it ended, by its status, or that it is gone, by the server's answer.

export const ENDED = ['finished', 'cancelled', 'failed'];

/**
 * For the badge of the connection: {ended, outcome, endMs}.
 *
 * @param {{status: string, end_ms?: number | null, sim_ms?: number}} status
 */
export function endOf({ status, end_ms: endMs, sim_ms: simMs }) {
  const ended = ENDED.includes(status);
  return {
    ended, // so that its data do not age
    outcome: status === 'finished' ? 'complete' : status, // 'complete', or the status itself
    endMs: ended ? (endMs ?? simMs ?? null) : null, // in its own time
  };
}

/**
 * State of a run that the server no longer gives; perhaps it went to another team.
 *
 * @param {string} sentence of the server
 * @returns {'deleted' | 'unavailable'}
 */
export const goneAs = (sentence) => (/ was deleted/.test(sentence) ? 'deleted' : 'unavailable');
