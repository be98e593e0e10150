// Fidelity of a live cluster: errors of its forecasts by lead and method, coverage, run times, drift audit.

import { get, post } from '../../core/api.js';
import { table } from '../../ui/data-table.js';
import { tile } from '../../ui/labels/tile.js';
import { $, $$, errorLine, fill, h, setText } from '../../ui/dom.js';
import { connectionBadge } from '../../ui/connection-badge.js';
import { duration, number, percent, plural, wallOfUnix } from '../../util/format.js';
import { PagePart } from '../../ui/failures/page-part.js';
import { Poll } from '../../util/poll.js';
import { BackgroundWork } from '../../ui/background-work.js';
import { STATES, calibrationText } from '../forecasts.js';
import { progressText, replaySection } from './replay.js';

const AGAIN_MS = 10_000;
const BUSY_MS = 1000; // while something is computed
const LEADS = {
  under_1_min: 'less than 1 min',
  '1_to_10_min': '1 to 10 min',
  '10_to_60_min': '10 to 60 min',
  '1_to_6_h': '1 to 6 h',
  over_6_h: 'more than 6 h',
};
const name = $('main').dataset.connection;

/** 'late by 3 s' where jobs start later than forecast. */
function biasText(ms) {
  if (ms === null || ms === undefined) return '–';
  if (Math.round(ms / 1000) === 0) return 'none';
  return ms > 0 ? `${duration(ms)} too early` : `${duration(-ms)} too late`;
}

const errorColumns = (first) => [
  first,
  { title: 'Forecasts', number: true, cell: ({ errors }) => number(errors.count, 0) },
  { title: 'Mean error', number: true, cell: ({ errors }) => duration(errors.mean_ms) },
  { title: 'Median error', number: true, cell: ({ errors }) => duration(errors.median_ms) },
  {
    title: '90th percentile',
    number: true,
    hint: 'Nine in ten errors are smaller',
    cell: ({ errors }) => duration(errors.p90_ms),
  },
  ...['1 min', '10 min', '1 h'].map((text, place) => ({
    title: `Share within ${text}`,
    number: true,
    cell: ({ errors }) => (errors.count ? percent(errors.within[place]) : '–'),
  })),
  {
    title: 'Bias',
    number: true,
    hint: 'How much earlier or later than the actual start the forecasts are on average',
    cell: ({ errors }) => biasText(errors.count ? errors.bias_ms : null),
  },
];

function methods({ starts, best }) {
  const rows = starts
    .filter(({ total }) => total.count)
    .map((one) => ({ ...one, errors: one.total, title: one.method === best ? `${one.title} (in use)` : one.title }));
  const columns = [
    ...errorColumns({ title: 'Method', cell: ({ title }) => title }),
    {
      title: 'Error of the twin on these starts',
      number: true,
      hint: 'Mean error of the twin on the starts that this method forecast',
      cell: (row) => (row.method === 'twin' ? '' : duration(row.twin_mean_ms)),
    },
  ];
  return rows.length ? table(columns, rows) : h('p', { class: 'muted' }, 'No forecast has been scored yet.');
}

function leads({ starts }) {
  const twin = starts.find(({ method }) => method === 'twin');
  const rows = (twin?.leads ?? []).map((one) => ({ title: LEADS[one.lead], errors: one }));
  return table(errorColumns({ title: 'Lead', cell: ({ title }) => title }), rows);
}

function runTimes({ run_times: rows, best }) {
  return table(
    [
      {
        title: 'Predictor',
        cell: (row) => h('span', { title: row.about }, row.name === best ? `${row.title} (in use)` : row.title),
      },
      { title: 'Jobs', number: true, cell: ({ jobs }) => number(jobs, 0) },
      {
        title: 'Accuracy',
        number: true,
        hint: 'Mean of the smaller / the larger of prediction and run time',
        cell: (row) => percent(row.accuracy),
      },
      { title: 'Mean error', number: true, cell: (row) => duration(row.mean_error_ms) },
      { title: 'Median error', number: true, cell: (row) => duration(row.median_error_ms) },
      {
        title: 'Underestimates',
        number: true,
        hint: 'Share of the jobs that ran longer than predicted',
        cell: (row) => percent(row.underestimated),
      },
    ],
    rows,
  );
}

function summary({ calibration, figures: errors }) {
  const { hint } = calibrationText(calibration);
  const twin = errors.starts.find(({ method }) => method === 'twin').total;
  const noted = (title, value, note) => tile(title, value, { more: h('dd', { class: 'muted small' }, note) });
  const { count, share, low, high } = calibration;
  const interval = count
    ? `95 % interval ${percent(low)} to ${percent(high)}, ${plural(count, 'start')}`
    : 'no forecast with a band has been scored yet';
  return [
    noted(
      'Calibration',
      h('span', { class: 'state', 'data-state': calibration.state }, STATES[calibration.state]),
      hint,
    ),
    noted('Coverage of the 80 % band', percent(count ? share : null), interval),
    noted(
      'Mean error of starts',
      duration(twin.mean_ms),
      `${plural(twin.count, 'forecast')} in ${plural(errors.days, 'day')}`,
    ),
    noted('Bias', biasText(twin.bias_ms), 'average of all forecasts'),
    noted('Mean error of ends', duration(errors.finishes.mean_ms), plural(errors.finishes.count, 'forecast')),
  ];
}

function audit({ checked_at: at, compared, count, error, accounted }) {
  if (error) return `The drift audit failed: ${error}`;
  if (!at) return 'The log is first compared with the cluster two minutes after the start of a run.';
  const found = plural(count, 'difference');
  const cluster = `the cluster${accounted ? '' : ', which keeps no accounting,'}`;
  return `${found} between the log and ${cluster} in ${number(compared, 0)} jobs and nodes, ${wallOfUnix(at)}.`;
}

let painted = '';

function paintReplay(replay) {
  $('#progress-box').hidden = !replay.progress;
  setText($('#going'), progressText(replay.progress));
  $('#failed').hidden = !replay.failed;
  setText($('#failed'), replay.failed ? `The newest replay could not be computed: ${replay.failed}.` : '');
  if ($('#start')) $('#start').hidden = Boolean(replay.progress);
  if ($('#cancel')) $('#cancel').hidden = !replay.progress;
  const signature = JSON.stringify([replay.newest, replay.before]);
  if (signature === painted) return;
  painted = signature;
  fill($('#replay'), replaySection(replay));
}

function act(path, body) {
  return post(path, body).then(
    () => {
      say('');
      return poll.now();
    },
    (error) => say(error.message),
  );
}

async function load() {
  const answer = await get(`/api/live/${name}/fidelity/`);
  const { figures: errors } = answer;
  $('#drift').textContent = audit(answer.drift);
  poll.ms = answer.replay.progress || Object.values(answer.work).includes('computing') ? BUSY_MS : AGAIN_MS;
  work.audit.paint(answer.work.audit);
  work.forecast.paint(answer.work.forecast);
  paintReplay(answer.replay);
  $('#nothing').hidden = Boolean(errors.starts);
  for (const part of $$('[data-part]')) part.hidden = !errors.starts;
  if (!errors.starts) return true;
  fill($('#summary'), summary(answer));
  fill($('#methods'), methods(errors));
  fill($('#leads'), leads(errors));
  fill($('#run-times'), runTimes(errors));
  return true;
}

const part = new PagePart('fidelity of the twin');
const say = errorLine($('#error'));
const poll = new Poll(load, AGAIN_MS, (error) => part.turn(error));
const changed = () => poll.now();
const work = {
  audit: new BackgroundWork($('#audit-work'), {
    address: `/api/live/${name}/audit/`,
    name: 'the drift audit',
    changed,
  }),
  forecast: new BackgroundWork($('#forecast-work'), {
    address: `/api/live/${name}/forecast/work/`,
    name: 'the forecast',
    changed,
  }),
};
connectionBadge($('#connection'), poll, 'change');
$('#start')?.addEventListener('click', () => act(`/api/live/${name}/replay/`, { hours: Number($('#hours').value) }));
$('#cancel')?.addEventListener('click', () => act(`/api/live/${name}/replay/cancel/`));
poll.now();
