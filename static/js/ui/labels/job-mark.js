// State of a job with its mark. A job of a live cluster that has ended shows how it did, as twin/connectors/facts.py
// names it.

import { h } from '../dom.js';
import { stateMark } from './state-mark.js';

/** @type {Record<string, string>} */
const OUTCOMES = {
  completed: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
  timeout: 'timeout',
  node_fail: 'node failure',
  out_of_memory: 'out of memory',
  preempted: 'preempted',
};
const LAST = ['completed', 'rejected']; // states of jobs that have ended, with or without having run
const LAST_CODES = ['ended', 'withdrawn']; // of decisions that state the outcome, as in twin/analysis/job_reasons.py

/**
 * word: for the state where the outcome is not known.
 *
 * @param {string} state
 * @param {string} word
 * @param {string | null} [outcome]
 */
export function jobMark(state, word, outcome = null) {
  const ended = LAST.includes(state) && OUTCOMES[outcome ?? ''];
  return ended ? h('span', { class: 'state', 'data-state': outcome }, ended) : stateMark(word);
}

/**
 * Outcome that the decisions about a job state; null if it has not ended.
 *
 * @param {{code: string, values?: Record<string, any>}[]} [decisions]
 * @returns {string | null}
 */
export function outcomeOf(decisions = []) {
  const last = decisions.at(-1);
  return last && LAST_CODES.includes(last.code) ? (last.values?.outcome ?? null) : null;
}
