// The fields of the sampler: which one, and its settings.

import { offeredOption } from '../ui/fields/offered.js';
import { fill, h } from '../ui/dom.js';
import { field } from '../ui/fields/form-field.js';
import { parameterField, readParameters } from '../ui/fields/parameter-field.js';

/**
 * {element, choice, parameters, settings()} of the samplers that GET /api/connectors/ declares; changed() is called
 * after each input. now: a stored connection, whose values stand in the fields; settings() has what differs from them.
 */
export function samplerFields(samplers, changed, now = { sampler: '', sampler_parameters: {} }) {
  const select = h(
    'select',
    { id: 'c-sampler' },
    h('option', { value: '' }, 'none'),
    samplers.map((one) => offeredOption(one, one.name, one.name === now.sampler)),
  );
  const choice = field('Sampler', select);
  const summary = h('span', { class: 'help', id: 'c-sampler-help' });
  choice.element.append(summary);
  select.setAttribute('aria-describedby', 'c-sampler-help');
  const parameters = h('div', { class: 'form', id: 'c-sampler-parameters' });
  const show = () => {
    const chosen = samplers.find((one) => one.name === select.value);
    summary.textContent = chosen?.summary ?? 'Optional: reads the real use of nodes, in addition to the allocation';
    const stored = select.value === now.sampler ? now.sampler_parameters : {};
    const shown = (one) => ({ ...one, default: stored[one.name] ?? one.default });
    fill(
      parameters,
      (chosen?.parameters ?? []).map((one) =>
        parameterField({ ...shown(one), id: `s-${one.name}`, placeholder: 'none' }),
      ),
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
  const settings = () => {
    if (select.value) return { sampler: select.value, sampler_parameters: readParameters(parameters) };
    return now.sampler ? { sampler: '' } : {};
  };
  return { element, choice, parameters, settings };
}
