// Form of a column mapping: a column for each field, the settings of its values, and what they make of ten rows.

import { get } from '../core/api.js';
import { $$, fill, h } from '../ui/dom.js';
import { table } from '../ui/data-table.js';
import { duration, number } from '../util/format.js';
import { FIELDS, SETTINGS, countsWaiting, effective, lacking, loaded } from './column-mapping.js';
import { reasonText } from './import-report.js';

const TITLES = Object.fromEntries(FIELDS.map(({ name, title }) => [name, title]));
const UNMAPPED = 'The first rows are shown once the columns of the arrival and of the run time or end are selected.';

/**
 * {element, mapping(), problem(), refresh()}: file is one of the scan, `number` its place there, start the mapping to
 * begin with, zone() the time zone that is selected. onChange is called after every change.
 */
export function mappingForm(traceId, file, number, start, zone, onChange) {
  const names = file?.columns ?? [];
  const problems = {};
  const rowsBox = h('div', {
    class: 'scroll',
    tabindex: 0,
    role: 'region',
    'aria-label': 'First rows as they are read',
  });
  const note = h('p', { class: 'muted small', role: 'status' });
  const accept = h('input', { type: 'checkbox', id: 'm-waiting' });
  const waiting = h(
    'label',
    { class: 'notice', for: 'm-waiting', hidden: true },
    accept,
    ' Without a start, a job runs from its arrival to its end: count the time in the queue as run time',
  );
  const errorLine = h('p', { class: 'error', role: 'alert', hidden: true });
  const select = (name, choices, chosen, label) =>
    h(
      'select',
      { id: `m-${name}`, 'aria-label': label, 'data-field': name },
      choices.map(([value, text]) => h('option', { value, selected: value === chosen }, text)),
    );
  const columnChoice = (field) =>
    select(field.name, [['', '–'], ...names.map((name) => [name, name])], start[field.name]);
  const settingChoices = (field) =>
    (SETTINGS[field.name] ?? []).map(([name, title, choices]) => select(name, choices, start[name], title));
  const fields = h(
    'div',
    { class: 'scroll mapping' },
    table(
      [
        {
          title: 'Field',
          cell: (field) => [
            h('label', { for: `m-${field.name}` }, h('b', {}, field.title), field.needed ? ' (required)' : ''),
            h('span', { class: 'help' }, field.help),
          ],
        },
        {
          title: 'Column and unit',
          cell: (field) => [
            h('div', { class: 'mapped' }, columnChoice(field), settingChoices(field)),
            (problems[field.name] = h('span', { class: 'error small', role: 'alert', hidden: true })),
          ],
        },
      ],
      FIELDS,
    ),
  );
  const mapping = () =>
    effective(
      Object.fromEntries(
        $$('[data-field]', fields)
          .map((input) => [input.dataset.field, input.value])
          .filter(([, value]) => value),
      ),
    );
  const refused = (sentence) => {
    errorLine.hidden = !sentence;
    fill(errorLine, sentence);
  };
  const file_ = h('input', { type: 'file', id: 'm-load', accept: '.json,application/json', hidden: true });
  const bar = h(
    'div',
    { class: 'bar' },
    h('button', { type: 'button', id: 'm-save', onclick: () => save(file, mapping()) }, 'Save mapping'),
    h('button', { type: 'button', onclick: () => file_.click() }, 'Load mapping'),
    file_,
  );
  file_.addEventListener('change', async () => {
    try {
      set(loaded(await file_.files[0].text(), names));
      refused('');
    } catch (error) {
      refused(error.message);
    }
    file_.value = '';
  });
  const element = h(
    'div',
    { class: 'stack' },
    origin(file),
    fields,
    waiting,
    errorLine,
    bar,
    h('h3', {}, 'First rows'),
    note,
    rowsBox,
  );

  function set(found) {
    for (const input of $$('[data-field]', fields))
      input.value = found[input.dataset.field] ?? (input.options[0].value || '');
    changed();
  }

  const problem = () => Object.keys(lacking(mapping())).length > 0 || (countsWaiting(mapping()) && !accept.checked);

  function changed() {
    const missing = lacking(mapping());
    for (const [name, line] of Object.entries(problems)) {
      line.textContent = missing[name] ?? '';
      line.hidden = !missing[name];
    }
    waiting.hidden = !countsWaiting(mapping());
    onChange();
    return refresh();
  }

  let asked = 0;
  async function refresh() {
    const mine = ++asked;
    if (Object.keys(lacking(mapping())).length) return show({ rows: [], running: UNMAPPED, problem: '' });
    const query = new URLSearchParams({ mapping: JSON.stringify(mapping()), file: String(number) });
    if (zone()) query.set('time_zone', zone());
    const found = await get(`/api/traces/${traceId}/mapping/?${query}`).catch((error) => ({
      rows: [],
      running: '',
      problem: error.message,
    }));
    if (mine === asked) show(found);
  }

  function show(found) {
    refused(found.problem);
    fill(note, found.running);
    fill(rowsBox, found.rows.length ? rowsTable(found.rows) : null);
  }

  element.addEventListener('change', (event) => {
    if (event.target === accept) onChange();
    else if (event.target !== file_) changed();
  });
  return { element, mapping, problem, refresh: changed };
}

/** Origin of the first values of the form. */
function origin(file) {
  if (!file?.remembered) return null;
  const { trace, name } = file.remembered;
  return h(
    'p',
    { class: 'muted small' },
    'Mapping of the last import of a file with these columns, ',
    h('a', { href: `/traces/${trace}/` }, `trace ${trace} (${name})`),
    '.',
  );
}

function rowsTable(rows) {
  const arrival = (value) => (value === null ? '–' : typeof value === 'number' ? `+ ${duration(value)}` : value);
  return table(
    [
      { title: 'Line', number: true, cell: (row) => number(row.line, 0) },
      { title: TITLES.arrival, cell: (row) => h('span', { class: 'nowrap' }, arrival(row.arrival)) },
      { title: TITLES.run, cell: (row) => (row.run_ms === null ? '–' : duration(row.run_ms)) },
      { title: TITLES.workers, number: true, cell: (row) => (row.workers === null ? '–' : number(row.workers, 0)) },
      { title: TITLES.gpus, number: true, cell: (row) => (row.gpus === null ? '–' : number(row.gpus)) },
      {
        title: 'Reason for skipping',
        cell: (row) => (row.reason ? [reasonText(row.reason), ' ', row.value] : ''),
      },
    ],
    rows,
  );
}

/** Downloads a mapping, to be loaded here or by `import_trace --mapping`. */
function save(file, mapping) {
  const text = `${JSON.stringify({ columns: file.columns, mapping }, null, 2)}\n`;
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  const stem = file.file
    .split('/')
    .at(-1)
    .replace(/\.[^.]*$/, '');
  const link = h('a', { href: url, download: `${stem}-mapping.json` });
  link.click();
  URL.revokeObjectURL(url);
}
