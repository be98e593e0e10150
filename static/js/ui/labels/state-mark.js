// States as words with their marks.

import { statusText } from '../../util/run-modes.js';
import { h } from '../dom.js';

/** @param {string} word as the page writes the state */
export const stateMark = (word) => h('span', { class: 'state', 'data-state': word }, word);

/**
 * The status of a run, with its message as title.
 *
 * @param {{status: string, activity?: {state: string} | null, message?: string}} run
 */
export const statusMark = (run) =>
  h('span', { class: 'state', 'data-state': run.status, title: run.message || null }, statusText(run));
