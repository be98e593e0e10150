// The form that chooses, changes or ends the sampler of a live cluster.

import { get } from '../core/api.js';
import { $ } from '../ui/dom.js';
import { connectionForm, parameterLine } from './connection-form.js';
import { samplerFields } from './sampler-fields.js';

/** The form of a stored connection. done(connection or null) when it is saved or closed. */
export async function samplerForm(connection, done) {
  const { samplers } = await get('/api/connectors/');
  const fields = samplerFields(samplers, () => say(null), connection);
  const { form, say } = connectionForm({
    id: 'sampler',
    label: 'Use of nodes',
    name: connection.name,
    fields: fields.element,
    errorLine: (key) =>
      key === 'sampler' ? $('#c-sampler-error', fields.element) : parameterLine(fields.element, 's', key),
    changes: fields.settings,
    done,
  });
  return form;
}
