// The form that connects a cluster: connector, its parameters, the site rule, sampler; test, then connect.

import { offeredOption } from '../ui/fields/offered.js';
import { post } from '../core/api.js';
import { logError } from '../core/client-errors.js';
import { $, $$, debounce, fill, h } from '../ui/dom.js';
import { field, markInvalid, numberField } from '../ui/fields/form-field.js';
import { parameterField, readParameters } from '../ui/fields/parameter-field.js';
import { SCOPES } from '../ui/labels/token-scopes.js';
import { curlExample } from './condition.js';
import { siteFields, withSites } from './site-rule.js';
import { samplerFields } from './sampler-fields.js';
import { copyable, paintSites, paintTrial } from './trial-result.js';

/** Renders `form` from the declarations of GET /api/connectors/; onMade(connection) is called after it is stored. */
export function connectForm(form, { connectors, sites, samplers = [] }, onMade) {
  const name = field(
    'Name',
    h('input', { id: 'c-name', maxlength: 60, placeholder: 'lab', autocomplete: 'off' }),
    'Part of the address of its page: letters, digits, hyphens, underscores',
  );
  const choice = h(
    'select',
    { id: 'c-connector' },
    connectors.map((one) => offeredOption(one, one.name, one.name === 'slurm')),
  );
  const summary = h('span', { class: 'help', id: 'c-connector-help' });
  const connector = field('Connector', choice);
  connector.element.append(summary);
  choice.setAttribute('aria-describedby', 'c-connector-help');
  const interval = numberField('c-interval', 'Poll interval, ms', {
    whole: true,
    min: 200,
    value: 1000,
    help: 'Time between two polls of the cluster',
  });
  const parameters = h('div', { class: 'form', id: 'c-parameters' });
  const rule = h('div', { class: 'form', id: 'c-sites' }, siteFields(sites));
  const sampling = samplerFields(samplers, () => forget());
  const guide = h('div', { id: 'c-guide' });
  const result = h('div', { class: 'trial', id: 'c-result', 'aria-live': 'polite' });
  const problem = h('p', { class: 'error', role: 'alert', hidden: true });
  const test = h('button', { type: 'button', id: 'c-test', onclick: () => tryOut() }, 'Test connection');
  const connect = h('button', { class: 'primary', id: 'c-connect' }, 'Connect');
  let trial = null; // the newest result

  const chosen = () => connectors.find((one) => one.name === choice.value);
  const settings = () => ({
    connector: choice.value,
    parameters: readParameters(parameters),
    sites: readParameters(rule),
    ...sampling.settings(),
  });

  function show() {
    const { summary: text, parameters: declared, polled } = chosen();
    summary.textContent = text;
    interval.element.hidden = !polled;
    fill(
      parameters,
      declared.map((one) => parameterField({ ...one, placeholder: 'none' })),
    );
    forget();
    nameSource();
    showGuide();
  }

  /** The default name of a push source is the name of the connection. */
  function nameSource() {
    const source = $('#p-source', parameters);
    if (source && !source.dataset.entered) source.value = name.input.value.trim().toLowerCase();
  }

  /** For a cluster that posts its events: its token, and a command for a first event. */
  function showGuide() {
    if (choice.value !== 'push') return fill(guide);
    const source = $('#p-source', parameters)?.value.trim() || 'lab';
    fill(
      guide,
      h(
        'ol',
        { class: 'steps-list' },
        h(
          'li',
          {},
          `Create a token with the scope “${SCOPES.ingest}” for the source `,
          h('code', {}, source),
          ': ',
          h('a', { href: '/settings/tokens/' }, 'Tokens'),
          '.',
        ),
        h(
          'li',
          {},
          'Post events to this address: ',
          copyable(`${location.origin}/api/ingest/${source}/events`),
          h('div', {}, 'A first event, with the value of the token in $TWIN_TOKEN:'),
          h('pre', { class: 'code', tabindex: 0 }, curlExample(location.origin, source, new Date().toISOString())),
        ),
        h('li', {}, 'Test the connection, then connect.'),
      ),
    );
  }

  function forget() {
    trial = null;
    paintTrial(result, null);
    showError(null);
  }

  /** Shows each message at its field; those without a field below the form. */
  function showError(error) {
    for (const one of [name, connector, interval, sampling.choice]) one.say('');
    for (const control of $$('[data-parameter]', form)) sayAt(control, '');
    problem.hidden = true;
    if (!error) return;
    const fields = { name, connector, interval_ms: interval, sampler: sampling.choice };
    const groups = { sites: rule, parameters, sampler_parameters: sampling.parameters };
    const rest = [];
    for (const [key, sentence] of Object.entries(error.fields ?? { '': error.message })) {
      const [group, own] = key.split('.');
      const control = own && $(`[data-parameter="${own}"]`, groups[group]);
      if (fields[key]) fields[key].say(sentence);
      else if (control) sayAt(control, sentence);
      else rest.push(sentence);
    }
    problem.textContent = rest.join(' ');
    problem.hidden = !rest.length;
    $('[aria-invalid]', form)?.focus();
  }

  async function busy(button, text, action) {
    const before = button.textContent;
    Object.assign(button, { disabled: true, textContent: text });
    showError(null);
    try {
      await action();
    } catch (error) {
      logError(error);
      showError(error);
    } finally {
      Object.assign(button, { disabled: false, textContent: before });
    }
  }

  const tryOut = () =>
    busy(test, 'Testing …', async () => {
      paintTrial(result, null);
      trial = await post('/api/connections/test/', settings());
      paintTrial(result, trial);
      result.scrollIntoView({ block: 'nearest' });
    });

  /** Applies another rule to the nodes of the test, without a new request to the cluster. */
  const remap = debounce(async () => {
    if (!trial?.nodes.length) return;
    const asked = trial;
    try {
      const nodes = await withSites(rule, trial.nodes);
      if (trial !== asked) return;
      showError(null);
      trial.nodes = nodes;
      paintSites($('.preview', result), trial);
    } catch (error) {
      logError(error);
      showError(error);
    }
  }, 300);

  choice.addEventListener('change', show);
  name.input.addEventListener('input', () => {
    nameSource();
    showGuide();
  });
  parameters.addEventListener('input', ({ target }) => {
    target.dataset.entered = 'true';
    forget();
    showGuide();
  });
  rule.addEventListener('input', remap);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    busy(connect, 'Connecting …', async () => {
      /** @type {Record<string, any>} */
      const body = { ...settings(), name: name.input.value.trim() };
      if (chosen().polled) body.interval_ms = interval.value();
      onMade(await post('/api/connections/', body));
    });
  });
  fill(
    form,
    h('div', { class: 'form' }, name.element, connector.element, interval.element),
    h('fieldset', {}, h('legend', {}, 'Settings of the connector'), parameters, guide),
    h('fieldset', {}, h('legend', {}, 'Edge and cloud'), rule),
    samplers.length ? sampling.element : null,
    h('div', { class: 'bar' }, test, connect),
    problem,
    result,
  );
  show();
}

function sayAt(control, sentence) {
  const line = $('.error', control.closest('.field'));
  line.textContent = sentence;
  line.hidden = !sentence;
  markInvalid(control, Boolean(sentence));
}
