// One form field per declared parameter of a scheduler (scheduling/kernel/registry.py `describe`), and their values
// back.

import { number } from '../../util/format.js';
import { $$, h } from '../dom.js';

const UNREADABLE = 'not a number'; // browsers give such text as empty, which would count as the default

/**
 * declared: {name, title, default, type, low, high, choices, titles: {choice: text}, unit, help, optional}, and an id
 * if another field of the page has the name
 */
export function parameterField(declared) {
  const { name, type, choices, unit, help } = declared;
  const id = declared.id ?? `p-${name}`;
  const start = declared.default === null || declared.default === undefined ? '' : String(declared.default);
  let control;
  if (choices)
    control = h(
      'select',
      { id },
      declared.optional ? h('option', { value: '' }, 'default') : null,
      choices.map((c) => h('option', { value: c, selected: c === start }, declared.titles?.[c] ?? c)),
    );
  else if (type === 'bool')
    control = h(
      'select',
      { id },
      ['true', 'false'].map((c) =>
        h('option', { value: c, selected: c === start.toLowerCase() }, c === 'true' ? 'yes' : 'no'),
      ),
    );
  else if (type === 'int' || type === 'float') {
    control = h('input', {
      id,
      type: 'number',
      value: start,
      min: declared.low,
      max: declared.high,
      step: type === 'int' ? 1 : 'any',
      placeholder: declared.optional ? (declared.placeholder ?? 'automatic') : null,
    });
  } else
    control = h('input', {
      id,
      type: 'text',
      value: start,
      placeholder: declared.optional ? (declared.placeholder ?? 'automatic') : null,
    });
  control.dataset.parameter = name;
  control.setAttribute('aria-describedby', `${id}-help ${id}-error`);
  control.dataset.start = control.value;
  const title = `${declared.title ?? name}${unit ? `, ${unit}` : ''}`;
  return h(
    'div',
    { class: 'field' },
    h('label', { for: id }, title),
    control,
    h('span', { class: 'help', id: `${id}-help` }, [help, range(declared)].filter(Boolean).join(' ')),
    h('span', { class: 'error', role: 'alert', id: `${id}-error`, hidden: true }),
  );
}

/** {name: text} of the fields that differ from their default. */
export function readParameters(form) {
  const given = {};
  for (const control of $$('[data-parameter]', form)) {
    const text = control.validity?.badInput ? UNREADABLE : control.value;
    if (text !== control.dataset.start) given[control.dataset.parameter] = text;
  }
  return given;
}

/** 1,024; 1e-12 stays as it is. */
const bound = (value) => (Math.abs(value) >= 1e3 ? number(value) : String(value));

function range({ low, high, choices }) {
  if (choices || ((low ?? null) === null && (high ?? null) === null)) return '';
  if ((high ?? null) === null) return `(at least ${bound(low)})`;
  if ((low ?? null) === null) return `(at most ${bound(high)})`;
  return `(${bound(low)} to ${bound(high)})`;
}
