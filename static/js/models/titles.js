// Titles of what the API names by keys: types of events, actions of the audit list.

import { capital } from '../util/format.js';

/** @type {Record<string, string>} */
const EVENTS = {
  run_started: 'Start of the run',
  job_arrived: 'Arrival',
  decided: 'Decision',
  plan_changed: 'Plan',
  job_completed: 'Completion',
  priced: 'Prices',
  job_added: 'New job',
  job_set: 'Changed request',
  gap: 'Gap',
  reserved: 'Reservation',
  suspensions_set: 'Suspensions reported by the cluster',
  sampled: 'Samples',
  server_added: 'New server',
  server_set: 'Changed server',
  server_changed: 'Availability',
  grouped: 'Group',
  regrouped: 'Regrouping',
  edited: 'Edits',
  run_finished: 'End of the run',
};

/** @type {Record<string, string>} */
const NOUNS = { acting: 'permissions of plans', alert_rule: 'alert rule', drift: 'drift audit' };

/** @type {Record<string, string>} Actions whose title is not their verb and noun. */
const ACTIONS = {
  'account.password': 'Set own password',
  'account.reset': 'Reset password of account',
  'account.role': 'Change role of account',
  'acting.release': 'Allow plans again',
  'acting.stop': 'Stop all plans',
  'connection.follow': 'Resume following',
  'connection.pause': 'Pause following',
  'plan.applied': 'Apply plan',
  'plan.propose': 'Make plan',
  'plan.refused': 'Refuse plan',
  'plan.undo': 'Request undo of plan',
  'plan.undone': 'Undo plan',
  'retention.request': 'Request clean-up',
  'retention.run': 'Run clean-up',
  'run.held': 'Hold run',
  'run.promote': 'Promote fork',
  'run.discard': 'Discard fork',
  'run.speed': 'Change speed of run',
  'scenario.race': 'Race schedulers',
  'scenario.template': 'Start from template',
  'team.join': 'Add member to team',
  'team.leave': 'Remove member from team',
  'team.move': 'Move object to team',
  'trace.announce': 'Begin upload of trace',
};

/** @param {string} kind */
export const eventTitle = (kind) => EVENTS[kind] ?? capital(words(kind));

/**
 * 'run.start' -> 'Start run'.
 *
 * @param {string} action
 */
export function actionTitle(action) {
  const [noun, verb = ''] = action.split('.');
  return ACTIONS[action] ?? capital(`${words(verb)} ${NOUNS[noun] ?? words(noun)}`.trim());
}

/**
 * 'run' -> 'All actions: run', of the first part of actions.
 *
 * @param {string} noun
 */
export const actionsTitle = (noun) => `All actions: ${NOUNS[noun] ?? words(noun)}`;

/** @param {string} key */
const words = (key) => key.replaceAll('_', ' ');
