// Choice between two versions of the edits, after a conflict with another window or user.

import { fill, h } from '../../ui/dom.js';
import { editLine } from '../edit-line.js';

/**
 * Shows both lists in `box`. verbs: from /api/edits/; schedulers: from /api/schedulers/; theirs, mine: {version,
 * edits}; onCopy() saves the own list as another scenario, onTheirs() drops it, onMine() saves it over theirs.
 */
export function showConflict(box, { verbs, schedulers, theirs, mine, onCopy, onTheirs, onMine }) {
  const list = (edits) =>
    h(
      'ol',
      {},
      edits.map((edit) => h('li', {}, editLine(edit, verbs, schedulers))),
    );
  const button = (title, action) => [h('button', { type: 'button', onclick: action }, title), ' '];
  fill(
    box,
    h('header', {}, h('h2', {}, 'This scenario has been changed elsewhere')),
    h(
      'p',
      {},
      `Version ${theirs.version} was saved in another window or by another user; your edits are based on version ` +
        `${mine.version}. They are still below, and nothing is lost until you choose.`,
    ),
    h(
      'div',
      { class: 'two' },
      h('div', {}, h('h3', {}, 'Their edits'), list(theirs.edits)),
      h('div', {}, h('h3', {}, 'Your edits'), list(mine.edits)),
    ),
    h(
      'p',
      { class: 'actions' },
      button('Save mine as a copy', onCopy),
      button('Use theirs', onTheirs),
      button('Replace theirs with mine', onMine),
    ),
  );
  box.hidden = false;
  box.scrollIntoView({ block: 'nearest' });
}
