// Decisions about a job in order; of many, the first and the last ones, with a button for those between.

import { h } from '../../ui/dom.js';
import { plural } from '../../util/format.js';

const [FIRST, LAST] = [2, 3]; // shown of many
const MAX_DECISIONS = 8;

/**
 * @param {any[]} decisions
 * @param {(decision: any) => Node} draw
 * @param {boolean} all
 * @param {() => void} onAll
 */
export function decisionList(decisions, draw, all, onAll) {
  if (all || decisions.length <= MAX_DECISIONS) return decisions.map(draw);
  const between = plural(decisions.length - FIRST - LAST, 'more decision');
  return [
    ...decisions.slice(0, FIRST).map(draw),
    h('button', { type: 'button', class: 'quiet', onclick: onAll }, `Show ${between}`),
    ...decisions.slice(-LAST).map(draw),
  ];
}
