// Choice between two versions of the edits, after a conflict with another window or user.

import { fill, h } from '../../ui/dom.js';
import { capital, clock, lowered } from '../../util/format.js';
import { parameterTexts } from '../parameter-texts.js';
import { named } from '../sweep-axes.js';

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

/**
 * 'Fail servers at 10:00:00: servers edge-0, for 6h'.
 *
 * @param {Record<string, any>} edit
 * @param {any[]} verbs from /api/edits/
 * @param {any[]} schedulers from /api/schedulers/, for titles and units of their parameters
 */
export function editLine(edit, verbs, schedulers = []) {
  const verb = verbs.find(({ name }) => name === edit.verb);
  const title = verb?.title ?? capital(edit.verb.replaceAll('_', ' '));
  const declared = (key) => verb?.parameters?.find(({ name }) => name === key);
  const fields = Object.entries(edit)
    .filter(([key, value]) => !['verb', 'at_ms', 'off'].includes(key) && value !== null && value !== '')
    .flatMap(([key, value]) => {
      if (key === 'parameters')
        return parameterTexts(value, schedulers.find(({ name }) => name === edit.scheduler)?.parameters ?? []);
      const { title: label = key, titles = {} } = declared(key) ?? {};
      const { title: name, text } = named({ field: key }, declared(key) ? lowered(label) : key, titles);
      return `${name} ${text(value)}`;
    });
  const detail = fields.length ? `: ${fields.join(', ')}` : '';
  return `${edit.off ? '(off) ' : ''}${title} at ${clock(edit.at_ms ?? 0)}${detail}`;
}
