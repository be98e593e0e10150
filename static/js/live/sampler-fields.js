// The fields of the sampler: which one, and its settings.

import { fill, h } from '../ui/dom.js';
import { field } from '../ui/fields/form-field.js';
import { parameterField, readParameters } from '../ui/fields/parameter-field.js';

/**
 * {element, choice, parameters, settings()} of the samplers that GET /api/connectors/ declares; changed() is called
 * after each input.
 */
export function samplerFields(samplers, changed) {
  const select = h(
    'select',
    { id: 'c-sampler' },
    h('option', { value: '' }, 'none'),
    samplers.map((one) => h('option', { value: one.name }, one.title)),
  );
  const choice = field('Sampler', select);
  const summary = h('span', { class: 'help', id: 'c-sampler-help' });
  choice.element.append(summary);
  select.setAttribute('aria-describedby', 'c-sampler-help');
  const parameters = h('div', { class: 'form', id: 'c-sampler-parameters' });
  const show = () => {
    const chosen = samplers.find((one) => one.name === select.value);
    summary.textContent = chosen?.summary ?? 'Optional: reads what nodes really use, beside what jobs hold';
    fill(
      parameters,
      (chosen?.parameters ?? []).map((one) => parameterField({ ...one, id: `s-${one.name}`, placeholder: 'none' })),
    );
  };
  select.addEventListener('change', () => {
    show();
    changed();
  });
  parameters.addEventListener('input', changed);
  show();
  const element = h(
    'fieldset',
    {},
    h('legend', {}, 'Use of nodes'),
    h('div', { class: 'form' }, choice.element),
    parameters,
  );
  const settings = () =>
    select.value ? { sampler: select.value, sampler_parameters: readParameters(parameters) } : {};
  return { element, choice, parameters, settings };
}
