// One trace: the part of the page that fits its state, from its upload to the report of its import.

import { get, remove } from '../core/api.js';
import { logError } from '../core/client-errors.js';
import { confirmed } from '../ui/confirm.js';
import { $, $$, fill, h } from '../ui/dom.js';
import { stateMark } from '../ui/labels/state-mark.js';
import { isPassing } from '../util/poll.js';
import { empty } from '../ui/data-table.js';
import { followOverview } from '../ui/connection-badge.js';
import { raceAll } from '../traces/race.js';
import { useInScenario } from '../traces/use.js';
import { titlesOf } from '../traces/reading-form.js';
import { paintBeingRead, progress } from '../traces/page/being-read.js';
import { paintReady } from '../traces/page/ready.js';
import { paintImported, paintScan, wireCharts } from '../traces/page/scanned.js';
import { paintUnclear } from '../traces/page/unclear.js';

const main = $('main');
const id = Number(main.dataset.traceId);
const operator = document.body.dataset.role === 'operator';
/** @type {[string, string][]} */
const formats = $$('option', $('#formats').content).map((option) => [option.value, option.textContent]);
const UNREAD = ['failed', 'cancelled']; // states of a trace without an import
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
  const unread = UNREAD.includes(trace.status);
  document.title = `${trace.name} · Edge-cloud twin`;
  $('h1').textContent = trace.name;
  const format = scanned ? trace.scan?.format : trace.format;
  $('#format').textContent = format && format !== 'auto' ? `, ${titlesOf(format, formats)}` : '';
  $('#unclear').hidden = !unclear;
  $('#scan').hidden = !scanned || unclear;
  $('#choice-bar').hidden = true;
  $('#charts').hidden = unclear || !(scanned || ready) || !trace.scan?.jobs;
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
    unread && operator ? h('button', { type: 'button', class: 'danger', onclick: () => leave(trace) }, 'Delete') : null,
  );
  fill($('#ended'), unread ? stateMark(trace.status) : null);
  fill($('#status'));
  const page = { id, operator, formats, load, fail };
  if (unclear) paintUnclear(trace, page);
  else if (scanned) paintScan(trace, page);
  else if (ready) {
    paintReady(trace, page);
    if (trace.scan?.jobs) paintImported(trace);
  } else paintBeingRead(trace, page);
}

async function leave({ name }) {
  if (!(await confirmed(`Delete trace ${name}?`, 'Delete'))) return;
  try {
    await remove(`/api/traces/${id}/`);
    location.assign('/traces/');
  } catch (error) {
    fail(error);
  }
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

wireCharts();
followOverview(
  (message) => {
    if (message.type !== 'trace' || message.trace.id !== id) return;
    if (message.trace.status === status && painted && !failing) progress(message.trace);
    else load().catch(fail);
  },
  () => load().catch(fail),
);
load().catch(fail);
