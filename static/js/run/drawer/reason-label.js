// Short labels of decision reasons, by their codes (the reasons.py of each execution model), for columns of tables.

/** Labels of the codes that are no label in words. */
const LABELS = {
  belief_used_up: 'ran longer than predicted',
  fits_nowhere: 'fits on no server',
  fits_nowhere_together: 'fits on no single server',
  gang_fits_nowhere: 'gang fits on no servers',
  gang_too_large: 'gang too large',
  'gavel.no_type': 'fits on no machine type',
  'gavel.runs': 'runs in this round',
  'gavel.waits': 'other jobs in this round',
  grouped: 'in a group',
  horizon: 'horizon ended',
  job_known: 'times known',
  lane_left: 'server unavailable',
  least_served: 'least attained service',
  left_out: 'lower utilization with this job',
  measured: 'profiling complete',
  memory_too_small: 'not enough memory',
  missing_part: 'missing field',
  no_machines: 'no machines',
  outbid: 'lower utility per slot',
  outranked: 'lower priority',
  payoff_not_positive: 'utility does not exceed cost',
  payoff_positive: 'utility exceeds cost',
  place_taken: 'plan withdrawn by an edit',
  'quota_queues.borrowing': 'borrows quota',
  ps_too_slow: 'parameter servers too slow',
  reward_exceeds_cost: 'utility exceeds loss of others',
  reward_too_low: 'utility too low',
  rewarding: 'high utility per slot',
  server_gone: 'server unavailable',
  server_left: 'server unavailable',
  shared_out: 'allocated by the solver',
  shared_out_nothing: 'no allocation',
  shortest_first: 'shortest first',
  stuck: 'no plan',
  'themis.left_over': 'left over by the auction',
  'themis.won': 'won in the auction',
};

/**
 * 'payoff_positive' -> 'utility exceeds cost', 'easy.in_turn' -> 'in turn'.
 *
 * @param {string} code
 */
export function reasonLabel(code) {
  const own = code.slice(code.indexOf('.') + 1);
  return /** @type {Record<string, string>} */ (LABELS)[code] ?? own.replaceAll('_', ' ');
}
