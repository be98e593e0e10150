// A form that changes one part of a stored connection: its fields, sentences of the server beside them, Save, Cancel.

import { patch } from '../core/api.js';
import { logError } from '../core/client-errors.js';
import { $, h } from '../ui/dom.js';
import { markInvalid } from '../ui/fields/form-field.js';

/**
 * {form, say}: the form with the parts `content` around its line of problems, and what shows the error of an answer.
 *
 * @param {{id: string, label: string, name: string, fields: HTMLElement, below?: (HTMLElement | string)[],
 *   errorLine: (key: string) => HTMLElement | null, changes: () => object,
 *   done: (connection: object | null) => void}} options errorLine: the line below the field that an error names;
 *   changes: what is sent; done: called with the connection when it is saved, with null when the form is closed
 */
export function connectionForm({ id, label, name, fields, below = [], errorLine, changes, done }) {
  const save = h('button', { class: 'primary', id: `${id}-save` }, 'Save');
  const problem = h('p', { class: 'error', role: 'alert', hidden: true });

  /** Each sentence below its field, the others below the form. */
  function say(error) {
    const rest = [];
    for (const line of fields.querySelectorAll('.field .error')) show(line, '');
    for (const [key, sentence] of Object.entries(error?.fields ?? (error ? { '': error.message } : {}))) {
      const line = errorLine(key);
      if (line) show(line, sentence);
      else rest.push(sentence);
    }
    problem.textContent = rest.join(' ');
    problem.hidden = !rest.length;
  }

  async function store() {
    save.disabled = true;
    try {
      done(await patch(`/api/connections/${name}/`, changes()));
    } catch (error) {
      logError(error);
      say(error);
      save.disabled = false;
    }
  }

  const cancel = h('button', { type: 'button', class: 'quiet', onclick: () => done(null) }, 'Cancel');
  const form = h(
    'form',
    { class: 'connect', id, 'aria-label': label, novalidate: true },
    fields,
    problem,
    below,
    h('div', { class: 'bar' }, save, cancel),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    store();
  });
  return { form, say };
}

/** Writes a sentence below a field, which it marks as wrong; none takes both back. */
function show(line, sentence) {
  Object.assign(line, { textContent: sentence, hidden: !sentence });
  const control = line.closest('.field').querySelector('input, select');
  if (control) markInvalid(control, Boolean(sentence));
}

/** The line below the parameter that `key` names ("sites.edge_by" with the prefix "p"); null where there is none. */
export const parameterLine = (fields, prefix, key) =>
  key.includes('.') ? $(`#${prefix}-${key.split('.')[1]}-error`, fields) : null;
