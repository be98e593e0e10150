// Labelled form field with its help and its error message.

import { h } from '../dom.js';

/**
 * {element, input, value(), say(sentence or '')}. The value of a number field that holds other text, such as 1e, is
 * NaN.
 */
export function field(title, input, help = '') {
  const problem = h('span', { class: 'error', role: 'alert', id: `${input.id}-error`, hidden: true });
  const element = h(
    'div',
    { class: 'field' },
    h('label', { for: input.id }, title),
    input,
    help ? h('span', { class: 'help', id: `${input.id}-help` }, help) : null,
    problem,
  );
  if (help) input.setAttribute('aria-describedby', `${input.id}-help ${input.id}-error`);
  const say = (sentence) => {
    problem.textContent = sentence;
    problem.hidden = !sentence;
    markInvalid(input, Boolean(sentence));
  };
  return {
    element,
    input,
    say,
    value: () => read(input),
  };
}

/** Tells assistive technology that the value of a control is wrong: an empty attribute would mean false. */
export function markInvalid(control, invalid) {
  if (invalid) control.setAttribute('aria-invalid', 'true');
  else control.removeAttribute('aria-invalid');
}

/** Browsers give text that is no number as an empty value: it must not count as an empty field. */
function read(input) {
  if (input.validity?.badInput) return NaN;
  if (input.value === '') return undefined;
  return input.type === 'number' ? Number(input.value) : input.value;
}

export const MAX_SLOT_MIN = 365 * 24 * 60; // longest slot, in minutes: a year

/** The whole number in an input, undefined if it is empty; an Error with one sentence if it is none or is too large. */
export function wholeNumber(input, title, least = 0) {
  if (input.value === '' && !input.validity?.badInput) return undefined;
  const value = Number(input.value || NaN);
  if (Number.isSafeInteger(value) && value >= least) return value;
  const most = Number.MAX_SAFE_INTEGER.toLocaleString('en-US');
  throw new Error(`${title}: a whole number from ${least} to ${most} is needed.`);
}

/** A field for a number; step 'any' unless it is whole. */
export function numberField(id, title, /** @type {any} */ { help, whole, min, value = '', placeholder } = {}) {
  return field(
    title,
    h('input', {
      id,
      type: 'number',
      min,
      step: whole ? 1 : 'any',
      value: String(value),
      placeholder,
      inputmode: whole ? 'numeric' : 'decimal',
    }),
    help,
  );
}
