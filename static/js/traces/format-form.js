// Upload of an unknown format: its first lines, what the nearest formats miss, and a form to state the format or map
// the columns.

import { confirmed } from '../ui/confirm.js';
import { post } from '../core/api.js';
import { $$, fill, h } from '../ui/dom.js';
import { table } from '../ui/data-table.js';
import { DATETIME, FIELDS, UNITS, cells, guess, lacking, separator } from './column-mapping.js';

const MAPPED = 'mapped_csv';

/** One card for each file: its lines, and beside them what fits or nearly fits. */
export function firstLines(files) {
  return files.map(({ file, lines, fits, nearest }) =>
    h(
      'section',
      { class: 'card' },
      h('header', {}, h('h2', {}, file)),
      h(
        'div',
        { class: 'columns' },
        h(
          'div',
          {},
          h('p', { class: 'muted small' }, 'First lines'),
          h(
            'ol',
            { class: 'lines scroll', tabindex: 0, 'aria-label': `First lines of ${file}` },
            lines.map((line) => h('li', {}, h('code', {}, line))),
          ),
        ),
        h(
          'div',
          {},
          fits.length
            ? [h('p', { class: 'muted small' }, 'Matching formats'), list(fits, ({ title }) => title)]
            : [
                h('p', { class: 'muted small' }, 'Most similar formats, with what is missing'),
                nearest.length
                  ? list(nearest, ({ title, why }) => [h('strong', {}, title), h('span', { class: 'why' }, why)])
                  : h('p', {}, 'The file resembles no known format.'),
              ],
        ),
      ),
    ),
  );
}

function list(items, say) {
  return h(
    'ul',
    { class: 'plain' },
    items.map((item) => h('li', {}, say(item))),
  );
}

/** formats: [[name, title], ...] of all; onDone(trace) after a new scan or Cancel. */
export function unclearForm(trace, formats, onDone) {
  const { files } = trace.scan;
  const fits = [...new Map(files.flatMap((file) => file.fits).map((fit) => [fit.format, fit])).values()];
  const source = files.find(({ columns }) => columns.length > 1) ?? files[0];
  const mark = separator(source?.lines[0] ?? '');
  const sample = cells(source?.lines[1] ?? '', mark);
  const mapping = trace.options?.mapping ?? guess(source?.columns ?? [], sample);
  const nearest = files[0]?.nearest[0]?.format;
  const start = trace.options?.mapping
    ? MAPPED
    : (fits[0]?.format ?? (source?.columns.length > 1 ? MAPPED : (nearest ?? formats[0][0])));

  const rest = formats.filter(([name]) => name !== MAPPED && !fits.some((fit) => fit.format === name));
  const option = ([name, title]) => h('option', { value: name, selected: name === start }, title);
  const select = h(
    'select',
    { id: 'u-format' },
    fits.length
      ? h(
          'optgroup',
          { label: 'Matching formats' },
          fits.map(({ format, title }) => option([format, title])),
        )
      : null,
    h('optgroup', { label: 'Other CSV file' }, option([MAPPED, 'Map columns'])),
    h('optgroup', { label: 'Other formats' }, rest.map(option)),
  );
  const columns = mappingFields(source, sample, mapping);
  const errorLine = h('p', { class: 'error', role: 'alert', hidden: true });
  const go = h('button', { class: 'primary' }, 'Scan again');
  const stop = h('button', { type: 'button' }, 'Cancel');
  const element = h(
    'form',
    { id: 'unclear-form', novalidate: true },
    h('div', { class: 'field narrow-field' }, h('label', { for: 'u-format' }, 'Format'), select),
    columns.element,
    errorLine,
    h('div', { class: 'bar' }, go, stop),
  );
  const sync = () => {
    columns.element.hidden = select.value !== MAPPED;
    const missing = select.value === MAPPED ? lacking(columns.mapping()) : {};
    columns.say(missing);
    go.disabled = Object.keys(missing).length > 0;
  };
  element.addEventListener('change', sync);
  const send = async (path, body) => {
    errorLine.hidden = true;
    go.disabled = stop.disabled = true;
    try {
      onDone(await post(path, body));
    } catch (error) {
      errorLine.hidden = false;
      fill(errorLine, error.message);
      stop.disabled = false;
      sync();
    }
  };
  element.addEventListener('submit', (event) => {
    event.preventDefault();
    send(`/api/traces/${trace.id}/scan/`, {
      format: select.value,
      seed: trace.seed,
      ...(select.value === MAPPED ? { mapping: columns.mapping() } : {}),
    });
  });
  stop.addEventListener('click', async () => {
    if (await confirmed(`Discard upload ${trace.name}? Its files will be deleted.`, 'Discard upload'))
      send(`/api/traces/${trace.id}/cancel/`);
  });
  sync();
  return element;
}

/** A row for each field: its column, its unit, and its value in the first row. */
function mappingFields(source, sample, mapping) {
  const names = source?.columns ?? [];
  const problem = {};
  const unit = (name, units) =>
    h(
      'select',
      {
        id: `m-${name}`,
        'aria-label': `Unit of the ${name === 'arrival_unit' ? 'arrival' : 'run time'}`,
        'data-field': name,
      },
      units.map(([value, text]) => h('option', { value, selected: value === mapping[name] }, text)),
    );
  const units = { arrival: () => unit('arrival_unit', [...UNITS, DATETIME]), run: () => unit('run_unit', UNITS) };
  const choice = (field) => {
    const chosen = h('span', { class: 'muted nowrap' });
    const select = h(
      'select',
      { id: `m-${field.name}`, 'data-field': field.name },
      h('option', { value: '' }, '–'),
      names.map((name) => h('option', { value: name, selected: mapping[field.name] === name }, name)),
    );
    const show = () => fill(chosen, select.value ? h('code', {}, sample[names.indexOf(select.value)] ?? '') : '');
    select.addEventListener('change', show);
    show();
    return { select, chosen };
  };
  const rows = FIELDS.map((field) => ({ field, ...choice(field) }));
  const element = h(
    'div',
    { class: 'scroll' },
    table(
      [
        {
          title: 'Field',
          cell: ({ field }) => [
            h('label', { for: `m-${field.name}` }, h('b', {}, field.title), field.needed ? ' (required)' : ''),
            h('span', { class: 'help' }, field.help),
          ],
        },
        {
          title: 'Column',
          cell: ({ field, select }) => [
            select,
            (problem[field.name] = h('span', { class: 'error small', role: 'alert', hidden: true })),
          ],
        },
        { title: 'Unit', cell: ({ field }) => units[field.name]?.() ?? '' },
        { title: 'First row', cell: ({ chosen }) => chosen },
      ],
      rows,
    ),
  );
  element.classList.add('mapping');
  return {
    element,
    mapping: () =>
      Object.fromEntries(
        $$('[data-field]', element)
          .map((select) => [select.dataset.field, select.value])
          .filter(([, value]) => value),
      ),
    say(missing) {
      for (const [name, line] of Object.entries(problem)) {
        line.textContent = missing[name] ?? '';
        line.hidden = !missing[name];
      }
    },
  };
}
