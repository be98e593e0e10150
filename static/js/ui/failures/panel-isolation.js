// Isolation of panels: the error of one is shown in its place, in one sentence, and the rest of the page continues.

import { logError } from '../../core/client-errors.js';
import { h, setText } from '../dom.js';

const broken = new WeakMap(); // panel -> Map of the actions that failed last time -> their messages

/**
 * `action` of the panel that holds the element, as a function that never throws: it gives null where the action fails.
 * The panel is the next section or element with data-panel around the element, or the element itself.
 */
export function inPanel(element, action) {
  const panel = element.closest('[data-panel], section') ?? element;
  const failed = (error) => {
    logError(error);
    failuresOf(panel).set(action, error.message);
    show(panel);
    return null;
  };
  const worked = (result) => {
    if (broken.get(panel)?.delete(action)) show(panel);
    return result;
  };
  return (...given) => {
    try {
      const result = action(...given);
      return result instanceof Promise ? result.then(worked, failed) : worked(result);
    } catch (error) {
      return failed(error);
    }
  };
}

function failuresOf(panel) {
  if (!broken.has(panel)) broken.set(panel, new Map());
  return broken.get(panel);
}

/** The sentence in place of what the panel holds, while anything in it fails. */
function show(panel) {
  const [message] = failuresOf(panel).values();
  let note = panel.matches('section')
    ? panel.querySelector(':scope > .broken')
    : panel.nextElementSibling?.closest('.broken');
  panel.toggleAttribute('data-broken', message !== undefined);
  if (message === undefined) return note?.remove();
  panel.hidden = false; // it is hidden until its first data arrive
  if (!note) {
    note = h('p', { class: 'broken error', role: 'alert' });
    if (!panel.matches('section')) panel.after(note);
    else if (panel.querySelector(':scope > header')) panel.querySelector(':scope > header').after(note);
    else panel.prepend(note);
  }
  setText(note, `This panel failed (${message}). The other panels still work; reloading the page may help.`);
  return note;
}
