// Form of how the files of an upload are read: format, unit and time zone of times, jobs without GPUs, column mapping.

import { confirmed } from '../ui/confirm.js';
import { post } from '../core/api.js';
import { fill, h } from '../ui/dom.js';
import { UNITS } from './column-mapping.js';
import { mappingForm } from './mapping-form.js';

const MAPPED = 'mapped_csv';
const CPU_JOBS = [
  ['', 'keep if most jobs have none'],
  ['keep', 'keep'],
  ['skip', 'skip'],
];

/**
 * The form; formats: [[name, title], ...] of all; onDone(trace) after a new scan or Cancel. Of an upload that is not
 * recognized it is all there is, so that it can be discarded here.
 */
export function readingForm(trace, formats, onDone) {
  const { scan, options = {} } = trace;
  const files = scan.files ?? [];
  const unclear = Boolean(scan.unclear);
  const fits = [...new Map(files.flatMap((file) => file.fits ?? []).map((fit) => [fit.format, fit])).values()];
  const place = Math.max(
    0,
    files.findIndex(({ columns }) => columns.length > 1),
  );
  const source = files[place];
  const start = startFormat(trace, fits, source, formats);

  const option = ([name, title]) => h('option', { value: name, selected: name === start }, title);
  const rest = formats.filter(([name]) => name !== MAPPED && !fits.some((fit) => fit.format === name));
  const group = (label, items) => (items.length ? h('optgroup', { label }, items.map(option)) : null);
  const format = h(
    'select',
    { id: 'u-format' },
    unclear ? null : option(['auto', `Recognized: ${titlesOf(scan.format, formats)}`]),
    group(
      'Matching formats',
      fits.map((fit) => [fit.format, fit.title]),
    ),
    group('Other CSV file', [[MAPPED, 'Map columns']]),
    group('Other formats', rest),
  );
  const choice = (id, choices, chosen) =>
    h(
      'select',
      { id },
      choices.map(([value, text]) => h('option', { value, selected: value === (chosen ?? '') }, text)),
    );
  const own = UNITS.find(([name]) => name === scan.time_unit)?.[1];
  const unit = choice(
    'u-unit',
    [['', own ? `unit of the format: ${own}` : 'unit of the format'], ...UNITS],
    options.time_unit,
  );
  const zones = Intl.supportedValuesOf('timeZone');
  const zone = choice('u-zone', [['', 'times unchanged'], ...zones.map((name) => [name, name])], options.time_zone);
  const cpu = choice('u-cpu', CPU_JOBS, options.cpu_jobs);
  const known = options.mapping ?? source?.remembered?.mapping ?? source?.guess ?? {};
  const columns = mappingForm(
    trace.id,
    source,
    place,
    known,
    () => zone.value,
    () => sync(),
  );
  const errorLine = h('p', { class: 'error', role: 'alert', hidden: true });
  const go = h('button', { class: 'primary' }, 'Scan again');
  const stop = unclear ? h('button', { type: 'button' }, 'Discard upload') : null;
  const field = (label, control, help) =>
    h('div', { class: 'field' }, h('label', { for: control.id }, label), control, h('span', { class: 'help' }, help));
  const unitField = field('Time unit', unit, 'Unit of numbers that are times');
  const element = h(
    'form',
    { id: 'reading-form', class: 'stack', novalidate: true },
    h(
      'div',
      { class: 'form' },
      field('Format', format, 'Format of the files of this upload'),
      unitField,
      field('Time zone', zone, 'Time zone of dates without one'),
      field('Jobs without GPUs', cpu, 'For accounting records in which only some jobs have GPUs'),
    ),
    columns.element,
    errorLine,
    h('div', { class: 'bar' }, go, stop),
  );
  let shown = false;
  const sync = () => {
    const mapped = format.value === MAPPED;
    columns.element.hidden = !mapped;
    unitField.hidden = mapped;
    if (mapped && !shown) {
      shown = true;
      columns.refresh();
    }
    go.disabled = mapped && columns.problem();
  };
  format.addEventListener('change', sync);
  zone.addEventListener('change', () => shown && columns.refresh());
  const send = async (path, body) => {
    errorLine.hidden = true;
    go.disabled = true;
    try {
      onDone(await post(path, body));
    } catch (error) {
      errorLine.hidden = false;
      fill(errorLine, error.message);
      sync();
    }
  };
  element.addEventListener('submit', (event) => {
    event.preventDefault();
    send(`/api/traces/${trace.id}/scan/`, readingBody(trace, { format, unit, zone, cpu }, columns.mapping()));
  });
  stop?.addEventListener('click', async () => {
    if (await confirmed(`Discard upload ${trace.name}? Its files will be deleted.`, 'Discard upload'))
      send(`/api/traces/${trace.id}/cancel/`);
  });
  sync();
  return element;
}

/** The format that the form begins with: the one that was used, one that fits, or a mapping of the columns. */
export function startFormat(trace, fits, source, formats) {
  if (trace.options?.mapping) return MAPPED;
  if (!trace.scan.unclear) return trace.format;
  if (fits.length) return fits[0].format;
  return source?.columns.length > 1 ? MAPPED : (source?.nearest?.[0]?.format ?? formats[0][0]);
}

/**
 * 'a + b' of recognized formats as their titles; formats: [[name, title], ...].
 *
 * @param {string} names
 * @param {[string, string][]} formats
 */
export function titlesOf(names, formats) {
  const titles = new Map(formats);
  return names
    .split(' + ')
    .map((name) => titles.get(name) ?? name)
    .join(' + ');
}

/** Body of a new scan: the options of reading that are set. The unit belongs to recognized formats only. */
export function readingBody(trace, { format, unit, zone, cpu }, mapping) {
  const mapped = format.value === MAPPED;
  const body = {
    format: format.value,
    seed: trace.seed,
    mapping: mapped ? mapping : undefined,
    time_unit: mapped ? undefined : unit.value,
    time_zone: zone.value,
    cpu_jobs: cpu.value,
  };
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined && value !== ''));
}
