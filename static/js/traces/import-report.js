// Report of an import or a scan: numbers of rows by result, skipped rows, the first jobs, and the origin of their
// fields.

import { fill, h } from '../ui/dom.js';
import { fieldText, fieldTitle, originText, partName } from '../util/job-fields.js';
import { capital, duration, number, plural } from '../util/format.js';
import { empty, shown, table } from '../ui/data-table.js';
import { tile } from '../ui/labels/tile.js';

const FIRST = [
  'id',
  'arrival_ms',
  'model',
  'requested_workers',
  'worker',
  'ps',
  'epochs',
  'num_chunks',
  'minibatches_per_chunk',
  'minibatch_ms',
  'gradient_mb',
  'utility',
];
const MAX_ROWS = 200;

/** Number of rows that were skipped. */
export function skippedTotal(report) {
  const counted = Object.values(report.skipped_counts ?? {}).reduce((sum, n) => sum + (Number(n) || 0), 0);
  return counted || (report.skipped ?? []).length;
}

/** '24,134 rows read = 150 jobs + 23,984 not chosen + 0 skipped'; null when the parts do not add up. */
export function account(report, jobs, machines) {
  if (!Number.isFinite(report.rows)) return null;
  const skipped = skippedTotal(report);
  const parts = [
    [jobs, jobs === 1 ? 'job' : 'jobs'],
    [report.merged ?? 0, 'merged into jobs or servers'],
    [report.not_selected ?? 0, 'not selected'],
    [skipped, 'skipped'],
  ];
  const rest = report.rows - parts.reduce((sum, [count]) => sum + count, 0);
  if (rest < 0 || (rest > 0 && !machines)) return null;
  const list = plural(machines, 'server');
  const ones = rest === 1 ? ['server', 'row'] : ['servers', 'rows'];
  if (rest) parts.splice(1, 0, [rest, rest === machines ? ones[0] : `${ones[1]} of ${list}`]);
  const texts = parts
    .filter(([count, what]) => count || what === 'skipped')
    .map(([count, what]) => `${number(count, 0)} ${what}`);
  return `${plural(report.rows, 'row')} read = ${texts.join(' + ')}${machines && !rest ? `; with ${list}` : ''}`;
}

/** The same of a scan: '24,134 rows read: 24,134 jobs, 352 servers, 12 skipped'. */
export function found(report, jobs, machines) {
  const parts = [
    [jobs, 'job'],
    [machines, 'server'],
  ]
    .filter(([count]) => count)
    .map(([count, what]) => plural(count, what));
  if (report.merged) parts.push(`${number(report.merged, 0)} merged into jobs or servers`);
  return `${plural(report.rows, 'row')} read: ${[...parts, `${number(skippedTotal(report), 0)} skipped`].join(', ')}`;
}

/** Assumptions of the importer. */
export function notes(report) {
  return (report.notes ?? []).length
    ? h(
        'ul',
        { class: 'plain muted' },
        report.notes.map((line) => h('li', {}, line)),
      )
    : null;
}

const ALL = ['Show all traces', '/traces/'];

/** Code of a reason as words: no_gpu is "no GPU". */
export const reasonText = (reason) =>
  String(reason)
    .replaceAll('_', ' ')
    .replace(/\b[cg]pu(?=s?\b)/g, (unit) => unit.toUpperCase());

/** Reasons with their counts, then the rows with file and line. jobs: whether the page shows the first ones. */
export function skippedRows(report, jobs) {
  const total = skippedTotal(report);
  const read = report.rows ? 'All rows could be read.' : 'The jobs were not read from the rows of a file.';
  if (!total) return empty('No skipped rows', read, jobs ? ['Show the first jobs', '#first'] : ALL);
  const rows = report.skipped ?? [];
  const listed = Math.min(rows.length, MAX_ROWS);
  const rest = rows.length
    ? `${shown(listed, total, 'rows')}; the CSV file of an import has all of them.`
    : 'The trace was not read from a file, so its rows cannot be listed.';
  return [
    reasons(report.skipped_counts ?? {}),
    rows.length ? skippedTable(rows) : null,
    total > listed ? h('p', { class: 'muted small' }, rest) : null,
  ];
}

function reasons(counts) {
  const found = Object.entries(counts).sort((a, b) => b[1] - a[1]);
  return h(
    'p',
    {},
    found.map(([reason, count], i) => [
      i ? ' · ' : '',
      h('span', { class: 'nowrap' }, `${reasonText(reason)} `, h('b', {}, number(count, 0))),
    ]),
  );
}

function skippedTable(rows) {
  const severalFiles = new Set(rows.map((row) => row.file)).size > 1;
  return table(
    [
      ...(severalFiles ? [{ title: 'File', cell: (row) => row.file ?? '' }] : []),
      { title: 'Line', number: true, cell: (row) => number(row.line, 0) },
      { title: 'Reason', cell: (row) => reasonText(row.reason) },
      { title: 'Value', cell: (row) => h('code', {}, row.value ?? '') },
    ],
    rows.slice(0, MAX_ROWS),
  );
}

/** The first jobs; fields that are not in the trace are marked. */
export function preview(rows, without) {
  if (!rows.length) return empty('Nothing to show', without, ALL);
  const present = new Set(rows.flatMap((row) => Object.keys(row).filter((name) => row[name] !== null)));
  const names = [
    ...FIRST.filter((name) => present.has(name)),
    ...[...present].filter((name) => !FIRST.includes(name) && name !== 'provenance'),
  ];
  return table(
    names.map((name) => {
      const title = fieldTitle(name);
      const shared = sharedMarks(name, rows);
      return {
        title,
        heading: shared.length ? [title, h('div', {}, shared.map(mark))] : title,
        number: typeof rows[0][name] === 'number',
        cell: (row) =>
          h('span', { class: 'nowrap' }, fieldText(name, row[name]), shared.length ? [] : marksOf(name, row).map(mark)),
      };
    }),
    rows,
    { cards: false }, // more fields than a card holds
  );
}

/** The marks of a field that all rows share: they are in the head of its column; [] for none. */
export function sharedMarks(name, rows) {
  const [first, ...others] = rows.map((row) => marksOf(name, row));
  const text = JSON.stringify(first);
  return others.every((marks) => JSON.stringify(marks) === text) ? first : [];
}

/** [origin, text] of each origin of a field or of its parts, other than the trace. */
function marksOf(name, { provenance: origins = {} }) {
  const own = origins[name];
  if (own) return own === 'trace' ? [] : [[own, originText(own)]];
  return ['derived', 'drawn'].flatMap((origin) => {
    const parts = Object.keys(origins).filter((field) => field.startsWith(`${name}.`) && origins[field] === origin);
    const names = parts.map((field) => partName(field.slice(name.length + 1)));
    return parts.length ? [[origin, `${originText(origin)}: ${names.join(', ')}`]] : [];
  });
}

const mark = ([origin, text]) => [' ', h('span', { class: 'mark', 'data-origin': origin }, text)];

/**
 * Field by field: how many jobs have it from the trace, derived, drawn; and how many of them left the papers' range.
 */
export function provenance(report) {
  const outside = report.outside_range ?? {};
  const fields = [...new Set([...Object.keys(report.provenance ?? {}), ...Object.keys(outside)])].sort((a, b) =>
    fieldTitle(a).localeCompare(fieldTitle(b)),
  );
  const count = (name) => ({
    title: capital(originText(name)),
    number: true,
    cell: (field) => number(report.provenance?.[field]?.[name] ?? 0, 0),
  });
  const present = Object.values(report.provenance ?? {}).flatMap((counts) => Object.keys(counts));
  const origins = [...new Set(['trace', 'derived', 'drawn', ...present])];
  const columns = [
    { title: 'Field', cell: (field) => h('span', { title: field }, fieldTitle(field)) },
    ...origins.map(count),
  ];
  if (Object.keys(outside).length)
    columns.push({ title: 'Outside', number: true, cell: (field) => number(outside[field] ?? 0, 0) });
  return table(columns, fields, { cards: false });
}

/** The selection, as a list of facts. */
export function chosenFacts(trace) {
  const { options = {}, report = {} } = trace;
  const hours = (ms) => `${number(ms / 3_600_000, 3)} h`;
  const facts = [
    ['Files', (trace.files ?? []).map(({ name }) => name).join(', ')],
    [
      'Window',
      options.from_ms || options.to_ms
        ? `${hours(options.from_ms ?? 0)} to ${options.to_ms ? hours(options.to_ms) : 'the end'}`
        : '',
    ],
    [
      'Queues',
      options.groups?.length > 12
        ? `${options.groups.length}: ${options.groups.slice(0, 12).join(', ')}, …`
        : (options.groups ?? []).join(', '),
    ],
    ['Sample', options.sample ? plural(options.sample, 'job') : ''],
    ['Maximum', options.limit ? plural(options.limit, 'job') : ''],
    ['Arrival rate', options.rate ? `× ${number(options.rate, 6)}` : ''],
    [
      'Columns',
      Object.entries(options.mapping ?? {})
        .map(([field, column]) => `${field.replace('_unit', ' unit')} = ${column}`)
        .join(', '),
    ],
    ['Time unit', options.time_unit],
    ['Time zone', options.time_zone],
    ['Jobs without GPUs', options.cpu_jobs],
    ['Slot length', report.slot_ms ? duration(report.slot_ms) : ''],
    ['Seed', String(trace.seed)],
  ];
  return h(
    'dl',
    { class: 'facts' },
    facts.filter(([, value]) => value).map(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]),
  );
}

export function tiles(element, pairs) {
  fill(
    element,
    pairs.map(([name, value]) => tile(name, value, { class: /^[\d–]/.test(value) ? null : 'word', title: value })),
  );
}
