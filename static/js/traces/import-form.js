// Form that selects what is imported from a scanned trace.

import { confirmed } from '../ui/confirm.js';
import { post } from '../core/api.js';
import { span } from '../charts/traces/arrival-histogram.js';
import { HOUR_MS, about, importBody, roundHours } from './import-choice.js';
import { fill, h } from '../ui/dom.js';
import { duration, number, plural } from '../util/format.js';
import { MAX_SLOT_MIN, numberField, field } from '../ui/fields/form-field.js';
import { groupsField } from './group-picker.js';

const MINUTE_MS = 60_000;
const MAX_JOBS = 10_000_000;

/**
 * onWindow(from, to) in ms updates the chart from the fields; {element, bar: what is selected and the buttons,
 * setWindow(from, to)}. onDone(trace) after Import.
 */
export function chooseForm(trace, { onWindow, onDone }) {
  const { scan } = trace;
  const [first, last] = span(scan.arrivals);
  const options = trace.options ?? {};
  const hours = (ms) => (ms === undefined || ms === null ? '' : ms / HOUR_MS);
  const f = {
    from_ms: numberField('c-from', 'From, hours', {
      min: 0,
      value: hours(options.from_ms),
      placeholder: '0',
      help: 'After the start of the trace',
    }),
    to_ms: numberField('c-to', 'To, hours', {
      min: 0,
      value: hours(options.to_ms),
      placeholder: `${number(last / HOUR_MS, 2)}, the end`,
      help: 'After the start of the trace',
    }),
    sample: numberField('c-sample', 'Sample size, jobs', {
      whole: true,
      min: 1,
      value: options.sample ?? '',
      placeholder: 'all',
      help: 'Random sample, determined by the seed',
    }),
    limit: numberField('c-limit', 'Maximum number of jobs', {
      whole: true,
      min: 1,
      value: options.limit ?? '',
      placeholder: 'all',
      help: 'The first jobs by arrival',
    }),
    rate: numberField('c-rate', 'Arrival rate', {
      min: 0.000001,
      value: options.rate ?? '',
      placeholder: '1',
      help: '2 means twice as many arrivals per hour',
    }),
    seed: numberField('c-seed', 'Seed', {
      whole: true,
      min: 0,
      value: trace.seed,
      help: 'Random seed for fields that the trace does not have',
    }),
    slot_ms: numberField('c-slot', 'Slot length, min', {
      min: 0,
      value: options.slot_ms ? options.slot_ms / MINUTE_MS : '',
      placeholder: number(scan.report.slot_ms / MINUTE_MS, 3),
      help: 'Duration of a slot of slotted schedulers',
    }),
    name: field('Name', h('input', { id: 'c-name', maxlength: 200, value: trace.name })),
  };
  const groups = scan.groups?.some(([name]) => name) ? groupsField(scan.groups, () => sync()) : null;
  const line = h('p', { class: 'chosen', id: 'chosen-line', role: 'status' });
  const errorLine = h('p', { class: 'error', role: 'alert', hidden: true });
  const go = h('button', { class: 'primary', id: 'import', form: 'choose' }, 'Import');
  const stop = h('button', { type: 'button', id: 'cancel-import' }, 'Discard upload');
  const jobs = scan.jobs > 0;
  const order = jobs ? ['from_ms', 'to_ms', 'sample', 'limit', 'rate', 'seed', 'slot_ms', 'name'] : ['slot_ms', 'name'];
  const element = h(
    'form',
    { class: 'form', id: 'choose', novalidate: true },
    order.map((key) => f[key].element),
    groups?.element ?? null,
  );
  const bar = [line, go, stop, errorLine]; // outside the form, which is long: it stays in view

  const ms = (key) => (f[key].value() === undefined ? undefined : Math.round(f[key].value() * HOUR_MS));
  const slot = () => (f.slot_ms.value() === undefined ? undefined : Math.round(f.slot_ms.value() * MINUTE_MS));
  const choice = () => ({
    from_ms: ms('from_ms'),
    to_ms: ms('to_ms'),
    groups: groups ? groups.chosen() : null,
    sample: f.sample.value(),
    limit: f.limit.value(),
    rate: f.rate.value(),
  });

  function sync() {
    const now = choice();
    const wrong = problems(now);
    for (const key of order) f[key].say(wrong[key] ?? '');
    if (jobs) onWindow(now.from_ms ?? null, now.to_ms ?? null);
    const noGroup = now.groups?.length === 0;
    const found = about(scan, now);
    go.disabled = Object.keys(wrong).length > 0 || noGroup || (jobs && found.exact && found.jobs === 0);
    fill(
      line,
      Object.keys(wrong).length
        ? 'Correct the marked fields.'
        : noGroup
          ? 'Select at least one queue.'
          : sentence(scan, found),
    );
  }

  function problems({ from_ms: from, to_ms: to, sample, limit, rate }) {
    const wrong = {};
    if (from !== undefined && !(from >= 0)) wrong.from_ms = 'Enter a number of at least 0 h.';
    if (to !== undefined && !(to > (from || 0)))
      wrong.to_ms = `Enter a number greater than ${from ? '“From”' : '0 h'}.`;
    if (from !== undefined && from >= last)
      wrong.from_ms = `The last job arrives before ${number(last / HOUR_MS, 2)} h.`;
    for (const [key, jobs] of Object.entries({ sample, limit }))
      if (jobs !== undefined && !(Number.isInteger(jobs) && jobs >= 1 && jobs <= MAX_JOBS))
        wrong[key] = `Enter a whole number from 1 to ${number(MAX_JOBS, 0)}.`;
    if (rate !== undefined && !(rate >= 1e-6 && rate <= 1e6)) wrong.rate = 'Enter a number from 0.000001 to 1,000,000.';
    if (f.slot_ms.value() !== undefined && !(slot() >= 1 && slot() <= MAX_SLOT_MIN * MINUTE_MS))
      wrong.slot_ms = `Enter a number greater than 0, at most ${number(MAX_SLOT_MIN, 0)} min (a year).`;
    const seed = f.seed.value();
    if (seed !== undefined && !(Number.isSafeInteger(seed) && seed >= 0))
      wrong.seed = `Enter a whole number from 0 to ${number(Number.MAX_SAFE_INTEGER, 0)}.`;
    return wrong;
  }

  element.addEventListener('input', sync);
  element.addEventListener('submit', async (event) => {
    event.preventDefault();
    errorLine.hidden = true;
    go.disabled = stop.disabled = true;
    const body = importBody(trace, { ...choice(), seed: f.seed.value(), slot_ms: slot(), name: f.name.value() });
    try {
      onDone(await post(`/api/traces/${trace.id}/import/`, body));
    } catch (error) {
      go.disabled = stop.disabled = false;
      refused(error, f, errorLine);
    }
  });
  stop.addEventListener('click', async () => {
    if (!(await confirmed(`Discard upload ${trace.name}? Its files will be deleted.`, 'Discard upload'))) return;
    const gone = await post(`/api/traces/${trace.id}/cancel/`).catch((error) => refused(error, f, errorLine));
    if (gone) onDone(gone);
  });
  sync();
  return {
    element,
    bar,
    setWindow(from, to) {
      const text = (value) => (value === null ? '' : String(roundHours(value, last - first)));
      f.from_ms.input.value = text(from);
      f.to_ms.input.value = text(to);
      sync();
    },
  };
}

/** Shows a refusal beside its field or below the form; an earlier trace of the same files is linked. */
function refused(error, f, errorLine) {
  const fields = Object.entries(error.fields ?? {}).filter(([key]) => f[key]);
  for (const [key, sentence] of fields) f[key].say(sentence);
  if (fields.length) return;
  const earlier = error.body?.duplicate_of;
  fill(
    errorLine,
    error.message,
    earlier ? [' ', h('a', { href: `/traces/${earlier}/` }, `Open trace ${earlier}`)] : null,
  );
  errorLine.hidden = false;
}

function sentence(scan, { jobs, exact, over }) {
  if (!scan.jobs)
    return `A cluster is created from ${plural(scan.servers, 'server')} with ${number(scan.gpus_of_servers)} GPUs.`;
  const servers = scan.servers
    ? ` A cluster is created from ${plural(scan.servers, 'server')} with ${number(scan.gpus_of_servers)} GPUs.`
    : '';
  const all = exact && jobs === scan.jobs;
  const count = all
    ? `${jobs === 1 ? '' : 'All '}${plural(jobs, 'job')} selected`
    : `${exact ? '' : 'About '}${number(jobs, 0)} of ${plural(scan.jobs, 'job')} selected`;
  const [least, most] = (over ?? []).map(duration);
  const length = over ? `; arrivals span ${least === most ? '' : `${least} to `}${most}` : '';
  return `${count}${length}.${servers}`;
}
