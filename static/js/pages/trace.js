// One trace: progress while it is read; charts and the selection of jobs once it is scanned; the report once imported.

import { get, post } from '../core/api.js';
import { logError } from '../core/client-errors.js';
import { $, $$, fill, h } from '../ui/dom.js';
import { bytes, duration, number, percent, plural } from '../util/format.js';
import { isPassing } from '../util/poll.js';
import { empty, shown } from '../ui/data-table.js';
import { followOverview } from '../ui/connection-badge.js';
import { Arrivals } from '../charts/arrivals.js';
import { Sizes } from '../charts/job-sizes.js';
import { chooseForm } from '../traces/import-form.js';
import { numbersButton } from '../ui/table-toggle.js';
import {
  account,
  chosenFacts,
  found,
  notes,
  preview,
  provenance,
  skippedRows,
  skippedTotal,
  tiles,
} from '../traces/import-report.js';
import { Tip, tipElement } from '../ui/tooltip.js';
import { raceAll } from '../traces/race.js';
import { useInScenario } from '../traces/use.js';
import { firstLines } from '../traces/first-lines.js';
import { readingForm, titlesOf } from '../traces/reading-form.js';

const main = $('main');
const id = Number(main.dataset.traceId);
const operator = document.body.dataset.role === 'operator';
/** @type {[string, string][]} */
const formats = $$('option', $('#formats').content).map((option) => [option.value, option.textContent]);
const WORDS = { uploading: 'Receiving', queued: 'Waiting for a worker', parsing: 'Reading', cancelled: 'Cancelled' };
const charts = { arrivals: null, sizes: null };
const OF_DURATIONS = ['actual', 'limit', 'assumed', 'predicted']; // origins in a trace cut from a live cluster
const FORMS = ['scanned', 'ready']; // states whose page has forms, which stay while an error is shown
let painted = '';
let failing = false; // whether the page shows a failure that has passed once the trace loads
let status = '';

async function load() {
  const trace = await get(`/api/traces/${id}/`);
  const key = JSON.stringify([trace.status, trace.format, trace.options, trace.message, trace.scan]);
  status = trace.status;
  if (failing) $('#failure')?.remove();
  failing = false;
  if (key === painted) return progress(trace); // keeps a form that is being filled in
  painted = key;
  paint(trace);
}

function paint(trace) {
  const scanned = trace.status === 'scanned';
  const unclear = scanned && Boolean(trace.scan?.unclear);
  const ready = trace.status === 'ready';
  document.title = `${trace.name} · Edge-cloud twin`;
  $('h1').textContent = trace.name;
  const format = scanned ? trace.scan?.format : trace.format;
  $('#format').textContent = format && format !== 'auto' ? `, ${titlesOf(format, formats)}` : '';
  $('#unclear').hidden = !unclear;
  $('#scan').hidden = !scanned || unclear;
  $('#rows').hidden = unclear || !(scanned || ready);
  $('#report').hidden = !ready;
  $('#origins').hidden = !ready || !trace.job_count; // machines have no sampled fields
  $('#tiles').hidden = !(ready || (scanned && !unclear));
  fill(
    $('#actions'),
    ready && operator && trace.job_count > 0
      ? h(
          'button',
          {
            type: 'button',
            title: 'Start one run for each scheduler that supports these jobs, and compare them',
            onclick: ({ currentTarget }) => race(trace, currentTarget),
          },
          'Race schedulers',
        )
      : null,
    ready && operator && (trace.job_count || trace.server_count) ? useInScenario(trace, 'primary', fail) : null,
  );
  fill($('#status'));
  if (unclear) paintUnclear(trace);
  else if (scanned) paintScan(trace);
  else if (ready) paintReady(trace);
  else paintOther(trace);
}

async function race(trace, button) {
  button.disabled = true;
  try {
    location.assign(await raceAll(trace));
  } catch (error) {
    button.disabled = false;
    fail(error);
  }
}

function paintOther(trace) {
  const busy = trace.status in WORDS && trace.status !== 'cancelled';
  if (!busy)
    return fill(
      $('#status'),
      h(
        'p',
        { class: 'notice bad', role: 'alert' },
        trace.status === 'failed'
          ? trace.message
          : `Cancelled. ${trace.message === 'cancelled' ? 'Nothing was imported.' : trace.message}`,
      ),
    );
  const stop = operator
    ? h(
        'button',
        { type: 'button', id: 'cancel', onclick: () => post(`/api/traces/${id}/cancel/`).then(load).catch(fail) },
        'Cancel',
      )
    : null;
  fill(
    $('#status'),
    h(
      'div',
      { class: 'card going' },
      h('strong', { id: 'going' }),
      h('progress', { max: 1, value: 0, 'aria-labelledby': 'going' }),
      h('span', { class: 'muted', id: 'share' }),
      stop,
    ),
    trace.status === 'uploading'
      ? h(
          'p',
          { class: 'muted' },
          received(trace),
          ' ',
          h('a', { href: '/traces/' }, 'On the traces page'),
          ', drop the same files again to resume.',
        )
      : null,
  );
  progress(trace);
}

function received({ files }) {
  const [got, size] = ['received', 'size'].map((key) => files.reduce((sum, file) => sum + file[key], 0));
  return `Received ${bytes(got)} of ${bytes(size)}.`;
}

function progress(trace) {
  const going = $('#going');
  if (!going) return;
  going.textContent = WORDS[trace.status] ?? trace.status;
  $('#status progress').value = trace.progress;
  $('#share').textContent = trace.status === 'queued' ? '' : percent(trace.progress);
}

function paintUnclear(trace) {
  const { unclear, refused, files = [] } = trace.scan;
  const notice = h('p', { class: 'notice bad', role: 'alert' }, refused ?? unclear); // of the last scan
  const form =
    operator && files.length
      ? h(
          'section',
          { class: 'card' },
          h('header', {}, h('h2', {}, 'Unknown format')),
          readingForm(trace, formats, load),
        )
      : null;
  const known = formats.map(([, title]) => title);
  fill($('#unclear'), notice, firstLines(files, known), form);
}

/** Earlier imports of the same files, so that nobody imports them twice by mistake. */
function before(earlier = []) {
  if (!earlier.length) return null;
  const links = earlier.flatMap(({ id: other, name, job_count: jobs }) => [
    ', ',
    h('a', { href: `/traces/${other}/` }, `trace ${other} (${name}, ${plural(jobs, 'job')})`),
  ]);
  return h(
    'p',
    { class: 'notice' },
    'These files have already been imported: ',
    links.slice(1),
    '. A different selection creates another trace.',
  );
}

/** Doubts about the unit of the times. */
function warnings(report) {
  return (report.warnings ?? []).map((line) => h('p', { class: 'notice', role: 'alert' }, line));
}

function paintScan(trace) {
  const { scan } = trace;
  const { report } = scan;
  fill(
    $('#status'),
    scan.refused ? h('p', { class: 'notice bad', role: 'alert' }, scan.refused) : null,
    h(
      'p',
      {},
      `${found(report, scan.jobs, scan.machines)}. `,
      h('span', { class: 'muted' }, 'Nothing has been imported yet.'),
    ),
    warnings(report),
    before(trace.earlier),
  );
  tiles($('#tiles'), [
    ['Rows read', number(report.rows, 0)],
    ['Jobs', number(scan.jobs, 0)],
    ['Servers', number(scan.machines, 0)],
    ['Skipped', number(skippedTotal(report), 0)],
    ...(scan.run_ms
      ? [
          ['Run time, median', duration(scan.run_ms.median)],
          ['Run time, 95th percentile', duration(scan.run_ms.p95)],
          ['Run time, maximum', duration(scan.run_ms.most)],
        ]
      : []),
  ]);
  let form = null;
  $('#charts').hidden = !scan.jobs;
  if (scan.jobs) {
    charts.arrivals = drawn(
      'arrivals',
      charts.arrivals,
      (canvas, tip) =>
        new Arrivals(canvas, tip, scan.arrivals, operator ? (from, to) => form.setWindow(from, to) : null),
    );
    $('#panel-sizes').hidden = !scan.gpus;
    if (scan.gpus) charts.sizes = drawn('sizes', charts.sizes, (canvas, tip) => new Sizes(canvas, tip, scan.gpus));
  }
  if (operator)
    form = chooseForm(trace, { onWindow: (from, to) => charts.arrivals?.setWindow(from, to), onDone: load });
  $('#choice').hidden = $('#reading').hidden = !operator;
  if (operator) {
    fill($('#choice-form'), form.element);
    $('#reading').open = Boolean(report.warnings?.length);
    fill($('#reading-form-place'), readingForm(trace, formats, load));
  }
  rows(report, scan.preview, scan.jobs, 'These files list machines, not jobs.');
}

/** A chart on a new canvas, so that nothing of an earlier one remains. */
function drawn(name, before, make) {
  before?.destroy();
  const hints = {
    arrivals:
      'Arrivals over time; the Table button shows the same numbers. Arrow keys move the selected ' +
      'window; with Shift they move its end',
    sizes: 'Jobs by GPUs; the Table button shows the same numbers',
  };
  const canvas = h('canvas', { id: name, tabindex: 0, role: 'img', 'aria-label': hints[name] });
  const tip = tipElement();
  fill($(`#plot-${name}`), canvas, tip);
  return make(canvas, new Tip(tip));
}

function paintReady(trace) {
  const report = trace.report ?? {};
  fill(
    $('#status'),
    h(
      'p',
      {},
      account(report, trace.job_count, trace.server_count) ?? report.summary ?? plural(trace.job_count, 'job'),
      '.',
    ),
    warnings(report),
  );
  tiles($('#tiles'), [
    ['Rows read', number(report.rows, 0)],
    ['Jobs', number(trace.job_count, 0)],
    ['Servers', number(trace.server_count, 0)],
    ['Merged', number(report.merged ?? 0, 0)],
    ['Not selected', number(report.outside_window ?? 0, 0)],
    ['Skipped', number(skippedTotal(report), 0)],
  ]);
  const link = (kind) => h('a', { class: 'button', href: `/api/traces/${id}/jobs.${kind}` }, `jobs.${kind}`);
  fill(
    $('#exports'),
    trace.job_count ? ['jsonl', 'csv', 'parquet', 'swf'].map(link) : null,
    h('a', { class: 'button', href: `/api/traces/${id}/report.csv` }, 'report.csv'),
  );
  fill(
    $('#facts'),
    chosenFacts(trace),
    trace.server_count
      ? h('p', {}, h('a', { href: '/clusters/' }, `Cluster of its ${plural(trace.server_count, 'server')}`))
      : null,
  );
  fill($('#provenance'), provenance(report));
  const origins = Object.values(report.provenance ?? {}).flatMap(Object.keys);
  $('#of-durations').hidden = !origins.some((origin) => OF_DURATIONS.includes(origin));
  $('#outside').hidden = !Object.keys(report.clamped ?? {}).length;
  rows(
    report,
    trace.preview ?? [],
    trace.job_count,
    trace.server_count ? 'These files list machines, not jobs.' : 'No row could be read.',
  );
}

function rows(report, first, jobs, without) {
  $('#how').hidden = !report.notes?.length;
  fill($('#notes'), notes(report));
  $('#first').hidden = !first.length && !jobs;
  $('#preview-count').textContent = first.length ? shown(first.length, jobs || first.length, 'jobs') : '';
  fill($('#preview'), preview(first, without));
  $('#skipped-count').textContent = skippedTotal(report) ? plural(skippedTotal(report), 'row') : '';
  fill($('#skipped'), skippedRows(report, first.length > 0));
}

function fail(error) {
  logError(error);
  if (error.status === 404) {
    const title = / was deleted/.test(error.message) ? 'This trace was deleted' : 'This trace is not available';
    return fill(main, empty(title, error.message, ['Show all traces', '/traces/'])); // perhaps it went to another team
  }
  failing = isPassing(error);
  $('#failure')?.remove();
  const line = h('p', { class: 'notice bad', role: 'alert', id: 'failure' }, error.message);
  if (FORMS.includes(status)) return $('#status').prepend(line); // what the page states of its files stays
  painted = ''; // the progress that the message replaces is drawn again
  fill($('#status'), line);
}

numbersButton('arrivals', () => charts.arrivals.table());
numbersButton('sizes', () => charts.sizes.table());
$('#sizes-log').addEventListener('click', ({ currentTarget: button }) => {
  const on = button.getAttribute('aria-pressed') !== 'true';
  button.setAttribute('aria-pressed', String(on));
  charts.sizes.setLog(on);
});
followOverview(
  (message) => {
    if (message.type !== 'trace' || message.trace.id !== id) return;
    if (message.trace.status === status && painted && !failing) progress(message.trace);
    else load().catch(fail);
  },
  () => load().catch(fail),
);
load().catch(fail);
