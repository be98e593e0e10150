// The fields of a job with their provenance.

import { table } from '../../ui/data-table.js';
import { h } from '../../ui/dom.js';
import { fieldText, fieldTitle, originText } from '../../util/job-fields.js';

/** story: from the API; title: the scheduler in charge; unused: names of fields that do not matter to it. */
export function fieldsTable(story, { title = '', unused = /** @type {string[]} */ ([]) } = {}) {
  const fields = (story.fields ?? []).filter((field) => field.value !== null);
  const from = ['trace', 'derived', 'drawn', 'measured', 'actual', 'limit', 'assumed', 'predicted']
    .map((origin) => [origin, fields.filter((field) => field.provenance === origin).length])
    .filter(([, count]) => count);
  const says = {
    trace: 'from the trace',
    derived: 'derived',
    drawn: 'sampled',
    measured: 'measured',
    actual: 'from the actual duration',
    limit: 'from the time limit',
    assumed: 'from an assumed duration',
    predicted: 'from a predicted duration',
  };
  const notUsed = h('span', { class: 'muted' }, ` (not used by ${title})`);
  return h(
    'section',
    {},
    h('h2', {}, from.length ? 'Fields and their provenance' : 'Fields'), // a live cluster states all of them
    from.length
      ? h('p', { class: 'muted small' }, `${from.map(([origin, count]) => `${count} ${says[origin]}`).join(', ')}.`)
      : null,
    table(
      [
        { title: 'Field', cell: (field) => h('span', { title: field.name }, fieldTitle(field.name)) },
        { title: 'Value', cell: ({ name, value }) => [fieldText(name, value), unused.includes(name) ? notUsed : null] },
        ...(from.length ? [{ title: 'Provenance', cell: originOf }] : []),
      ],
      fields,
    ),
  );
}

const originOf = ({ provenance }) =>
  provenance ? h('span', { class: 'mark', 'data-origin': provenance }, originText(provenance)) : '';
