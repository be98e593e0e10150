// Form of a what-if from a real cluster: the scheduler from the time shown on, and the assumptions about the jobs.

import { get, post } from '../core/api.js';
import { $, fill, h } from '../ui/dom.js';
import { choices } from '../ui/fields/scheduler-choices.js';
import { EXAMPLE, parseTime, timeText } from '../util/time-text.js';
import { runTime } from '../util/wall-clock.js';

const BACKFILL = 'fifo with backfill'; // value of the option; the server's default
const ASSUMED_MS = 3_600_000;
const DURATIONS = [
  ['actual', 'actual'],
  ['limit', 'by time limit'],
];

/**
 * Asks how the cluster continues after atMs, and opens the scenario or run that is created.
 *
 * @param {{id: number, began_at: string}} run
 * @param {number} atMs
 */
export async function cutAt({ id, began_at: beganAt }, atMs) {
  const form = cutForm(runTime(atMs, beganAt), choices(await get('/api/schedulers/'), 'fifo'));
  if ($('#cut-form')) return; // of the first click of two
  const dialog = /** @type {HTMLDialogElement} */ (
    h('dialog', { class: 'card confirm', 'aria-labelledby': 'cut-title' }, form)
  );
  document.body.append(dialog);
  $('#cut-cancel', form).addEventListener('click', () => dialog.close());
  dialog.addEventListener('close', () => dialog.remove());
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const start = event.submitter?.id === 'cut-run';
    makeOnce(form, id, atMs, start);
  });
  dialog.showModal();
}

/**
 * The form.
 *
 * @param {string} time at which the cut is made
 * @param {{value: string, text: string, disabled?: boolean}[]} schedulers that can be chosen
 */
export function cutForm(time, schedulers) {
  const options = [
    h('option', { value: BACKFILL }, 'FIFO with backfilling'),
    ...schedulers.map(({ value, text, disabled }) => h('option', { value, disabled: disabled ?? null }, text)),
  ];
  return h(
    'form',
    { class: 'form', id: 'cut-form' },
    h('h2', { id: 'cut-title', class: 'wide' }, `What-if from ${time}`),
    h(
      'p',
      { class: 'wide muted small' },
      'The scenario has the nodes, the running and the waiting jobs of this time. Running jobs arrive first, with ' +
        'their remaining work, and are placed again.',
    ),
    field('cut-scheduler', 'Scheduler', h('select', { id: 'cut-scheduler' }, options)),
    field(
      'cut-durations',
      'Durations',
      h(
        'select',
        { id: 'cut-durations' },
        DURATIONS.map(([value, text]) => h('option', { value }, text)),
      ),
      'A job whose end is not known has its time limit',
    ),
    field(
      'cut-assumed',
      'Remaining work without a time limit',
      h('input', { id: 'cut-assumed', type: 'text', value: timeText(ASSUMED_MS) }),
      `Of a job whose end is not known; ${EXAMPLE}`,
    ),
    field(
      'cut-arrivals',
      'Later arrivals',
      h(
        'select',
        { id: 'cut-arrivals' },
        h('option', { value: '' }, 'not included'),
        h('option', { value: 'yes' }, 'included, at their times'),
      ),
    ),
    h('p', { class: 'error wide', role: 'alert', id: 'cut-error', hidden: true }),
    h(
      'div',
      { class: 'actions wide' },
      h('button', { class: 'primary', id: 'cut-run' }, 'Run'),
      ' ',
      h('button', { id: 'cut-edit' }, 'Edit first'),
      ' ',
      h('button', { type: 'button', class: 'quiet', id: 'cut-cancel' }, 'Cancel'),
    ),
  );
}

/**
 * Values of the form, as fields of POST forks/; null if a time is invalid: the form then shows why.
 *
 * @param {HTMLElement} form
 */
export function cutFields(form) {
  const assumed = parseTime($('#cut-assumed', form).value);
  if (assumed === null) {
    say(form, `“Remaining work without a time limit” must be a duration, ${EXAMPLE}.`);
    return null;
  }
  const scheduler = $('#cut-scheduler', form).value;
  return {
    ...(scheduler === BACKFILL ? {} : { scheduler }),
    durations: $('#cut-durations', form).value,
    assumed_ms: assumed,
    arrivals: $('#cut-arrivals', form).value !== '',
  };
}

/** Creates what the form says; a second click meanwhile would create a second scenario. */
async function makeOnce(form, runId, atMs, start) {
  const fields = cutFields(form);
  if (fields === null) return;
  const buttons = ['#cut-run', '#cut-edit'].map((button) => $(button, form));
  for (const button of buttons) button.disabled = true;
  try {
    await make(fields, runId, atMs, start);
  } catch (error) {
    for (const button of buttons) button.disabled = false;
    say(form, error.message);
  }
}

async function make(fields, runId, atMs, start) {
  const { scenario, run } = await post(`/api/runs/${runId}/forks/`, { at_ms: atMs, start, ...fields });
  location.assign(run ? `/runs/${run.id}/` : `/scenarios/${scenario.id}/`);
}

function say(form, text) {
  const errorBox = $('#cut-error', form);
  errorBox.hidden = false;
  fill(errorBox, text);
}

function field(id, title, control, help = '') {
  return h(
    'div',
    { class: 'field' },
    h('label', { for: id }, title),
    control,
    help ? h('span', { class: 'help' }, help) : null,
  );
}
