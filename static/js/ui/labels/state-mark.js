// The state of a job: its word with the mark of that word.

import { h } from '../dom.js';

/** @param {string} word as the page writes the state */
export const stateMark = (word) => h('span', { class: 'state', 'data-state': word }, word);
