// The site rule of a live cluster: its fields, and the sites that it gives to nodes that are known.

import { get, post } from '../core/api.js';
import { logError } from '../core/client-errors.js';
import { $, debounce, fill, h } from '../ui/dom.js';
import { parameterField, readParameters } from '../ui/fields/parameter-field.js';
import { connectionForm, parameterLine } from './connection-form.js';
import { paintSites } from './trial-result.js';

/** @type {Record<string, (node: Record<string, any>) => object>} */
const COMPARED = { name: () => ({}), queue: ({ queues }) => ({ queues }), label: ({ labels }) => ({ labels }) };

/**
 * Fields of the rule, declared by GET /api/connectors/, with the values of a connection instead of the defaults.
 *
 * @param {{name: string, default: any}[]} declared
 * @param {Record<string, any>} [values]
 */
export const siteFields = (declared, values = {}) =>
  declared.map((one) => parameterField({ ...one, default: values[one.name] ?? one.default }));

/** The nodes with the sites that the rule in `fields` gives them; no cluster is asked. */
export async function withSites(fields, nodes) {
  const sites = { edge_by: $('#p-edge_by', fields).value, edge_pattern: $('#p-edge_pattern', fields).value };
  const sent = nodes.map((node) => ({ name: node.name, ...COMPARED[sites.edge_by](node) }));
  const found = await post('/api/connections/sites/', { sites, nodes: sent });
  return nodes.map((node, i) => ({ ...node, site: found.sites[i] }));
}

/**
 * The form that changes the rule of a stored connection, with a preview of the sites. done(connection or null) when it
 * is saved or closed.
 */
export async function siteForm({ name, sites }, done) {
  const [{ sites: declared }, known] = await Promise.all([
    get('/api/connectors/'),
    get(`/api/connections/${name}/nodes/`),
  ]);
  const fields = h('div', { class: 'form' }, siteFields(declared, sites));
  const preview = h('div', { class: 'preview' });
  const { form, say } = connectionForm({
    id: 'sites',
    label: 'Edge and cloud',
    name,
    fields,
    below: [
      known.nodes.length ? preview : h('p', { class: 'muted' }, 'No node of this cluster is known yet.'),
      h(
        'p',
        { class: 'muted small' },
        'The next poll of the nodes writes the change, and the run continues. Its charts then show the new sites for ',
        'the whole run; a cut at an earlier time has the sites of that time.',
      ),
    ],
    errorLine: (key) => parameterLine(fields, 'p', key),
    changes: () => ({ sites: readParameters(fields) }),
    done,
  });

  let asked = 0;
  async function show() {
    const own = ++asked;
    try {
      const nodes = await withSites(fields, known.nodes);
      if (own !== asked) return;
      say(null);
      paintSites(preview, { ...known, nodes });
    } catch (error) {
      logError(error);
      if (own === asked) say(error);
    }
  }

  fields.addEventListener('input', debounce(show, 300));
  fill(preview);
  if (known.nodes.length) paintSites(preview, known);
  return form;
}
