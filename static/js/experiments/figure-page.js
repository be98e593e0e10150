// One experiment: its claim, its charts, the checks with their bands, the table, and its start.

import { get, post } from '../core/api.js';
import { experimentFigure, figureLegend } from '../charts/experiment-figure.js';
import { connectionBadge } from '../ui/connection-badge.js';
import { empty, table } from '../ui/data-table.js';
import { $, fill, h, setText, wholeDates } from '../ui/dom.js';
import { failureLine } from '../ui/failures/failure-line.js';
import { numbersButton } from '../ui/table-toggle.js';
import { capital, duration, number, plural, wall } from '../util/format.js';
import { Poll } from '../util/poll.js';
import { checkColumns } from './checks.js';
import { seriesOf } from './series.js';
import { cellText, checksText, progressText, unavailableText, verdictMark } from './words.js';

const [BUSY_MS, IDLE_MS] = [1000, 15_000];
const name = $('main').dataset.experiment;
let painted = '';
let drawn = []; // charts

async function load() {
  const answer = await get(`/api/experiments/${name}/`);
  poll.ms = answer.progress?.active ? BUSY_MS : IDLE_MS;
  paintProgress(answer);
  const signature = JSON.stringify({ ...answer, progress: Boolean(answer.progress?.active), parts: null });
  if (signature !== painted) paint(answer);
  painted = signature;
  return true;
}

function paint(answer) {
  const { result, outdated, verdict, checks } = answer;
  fill(
    $('#verdict'),
    verdictMark(verdict),
    result ? h('span', { class: 'muted small' }, ` ${checksText(checks)}`) : null,
  );
  fill($('#facts'), facts(answer));
  setText($('#unavailable'), unavailableText(answer));
  $('#unavailable').hidden = !answer.unavailable;
  $('#outdated').hidden = !outdated;
  setText(
    $('#outdated'),
    'This result was computed by an older version of the code; start the experiment again to update it.',
  );
  if ($('#options')) paintOptions(answer);
  for (const chart of drawn) chart.destroy();
  drawn = [];
  if (!result) return fill($('#result'), h('section', { class: 'card' }, notRun(answer)));
  fill(
    $('#result'),
    answer.charts.map((_, i) => figureCard(answer, i)),
    checksCard(result),
  );
  for (const [i, chart] of answer.charts.entries()) {
    const shape = seriesOf(result, chart);
    drawn.push(experimentFigure($(`#figure-${i}-plot`), shape, chart, answer.title));
    numbersButton(`figure-${i}`, () => numbers(result));
  }
}

const NOT_RUN = 'A result shows the reproduced figure, its values, and whether the claim holds.';

function notRun({ progress, unavailable }) {
  const all = ['Show all experiments', '/experiments/'];
  if (unavailable) return empty('Not run yet', NOT_RUN, all);
  if (progress?.active) return empty('No result yet', `${NOT_RUN} It appears once all parts are computed.`, all);
  return $('#start')
    ? empty('Not run yet', NOT_RUN, ['Start the experiment', () => $('#start').click()])
    : empty('Not run yet', `${NOT_RUN} Operators start experiments.`, all);
}

/** The seeds of a result; own: their number in the setting of the experiment, which the result may not have kept. */
function seedsText(seeds, own) {
  if (!seeds) return `${plural(own, 'seed')} by default`;
  return `${plural(seeds, 'seed')}${seeds === own ? '' : ` in place of ${own}`}, starting at 0`;
}

function facts({ claim, setting, command, result, finished_at: at, seconds, default_seeds: own }) {
  const pairs = [
    ['Claim of the paper', claim],
    ['Our setting', capital(setting)],
    ['Seeds', seedsText(result?.seeds, own)],
    result?.trace ? ['Arrivals', `from the trace ${result.trace}`] : null,
    result
      ? ['Computation', `${wall(at)}; ${duration(seconds * 1000)} of computing time in ${plural(result.parts, 'part')}`]
      : null,
    result ? ['Code', `digest ${result.code}`] : null,
    ['Command', h('code', {}, result && result.seeds !== own ? `${command} --seeds ${result.seeds}` : command)],
  ];
  return pairs
    .filter(Boolean)
    .map(([term, text]) => [h('dt', {}, term), h('dd', {}, typeof text === 'string' ? wholeDates(text) : text)]);
}

function figureCard({ charts, result }, i) {
  const chart = charts[i];
  return h(
    'section',
    { class: 'card' },
    h(
      'header',
      {},
      h('h2', {}, capital(chart.variant ? `${chart.y}, ${chart.variant}` : chart.y)),
      h(
        'div',
        { class: 'actions' },
        h('button', { type: 'button', class: 'quiet', id: `figure-${i}-table`, 'aria-pressed': 'false' }, 'Table'),
      ),
    ),
    h('div', { class: 'plot', id: `figure-${i}-plot` }),
    figureLegend(seriesOf(result, chart), chart),
    h('div', { class: 'numbers', id: `figure-${i}-numbers`, hidden: true }),
  );
}

function checksCard({ checks }) {
  return h(
    'section',
    { class: 'card' },
    h(
      'header',
      {},
      h('h2', {}, 'Checks'),
      h('span', { class: 'muted small' }, 'The bands are not from the paper; they test its claim'),
    ),
    h('div', { class: 'scroll' }, table(checkColumns, checks)),
  );
}

/** The whole table, with the spread over the seeds behind each mean. */
function numbers({ columns, rows, spread }) {
  const cell = (row, column) => {
    const range = spread[row]?.[column];
    const text = cellText(rows[row][column]);
    return range && range[0] !== range[1] ? `${text} (${cellText(range[0])} to ${cellText(range[1])})` : text;
  };
  return {
    head: columns.map((title) => title || 'setting'),
    rows: rows.map((row, i) => row.map((_, column) => cell(i, column))),
    total: rows.length,
  };
}

function paintOptions({ default_seeds: own, arrivals, traces, progress, unavailable }) {
  $('#options').hidden = Boolean(unavailable);
  const seeds = h('input', {
    id: 'seeds',
    type: 'number',
    min: 1,
    max: 100,
    placeholder: String(own),
    value: progress?.seeds ?? '',
  });
  const trace = h(
    'select',
    { id: 'trace' },
    h('option', { value: '' }, arrivals === 'required' ? 'select a trace' : 'none: random arrivals'),
    traces.map(({ id, name: title, job_count: jobs }) =>
      h('option', { value: id }, `${title}, ${plural(jobs, 'job')}`),
    ),
  );
  fill(
    $('#options'),
    h('label', {}, 'Number of seeds ', seeds),
    arrivals ? h('label', {}, 'Arrivals from trace ', trace) : null,
  );
}

function paintProgress({ progress, parts, unavailable, finished_at: at }) {
  const active = Boolean(progress?.active);
  $('#progress-box').hidden = !active;
  if (active) {
    $('#progress').value = progress.total ? progress.done / progress.total : 0;
    const now = parts.filter(({ status }) => status === 'computing').map(({ title }) => title);
    setText($('#going'), `${capital(progressText(progress))}${now.length ? `; now: ${now.join(', ')}` : ''}`);
  }
  const ended = progress && !active;
  $('#failed').hidden = !ended;
  setText($('#failed'), ended ? endText(progress) : '');
  if (!$('#start')) return;
  $('#start').hidden = active || Boolean(unavailable);
  setText($('#start'), ended ? 'Resume' : at ? 'Start again' : 'Start');
  $('#cancel').hidden = !active;
}

const endText = ({ status, message, done, total }) =>
  `The last start ${status === 'failed' ? 'failed' : 'was cancelled'}${message ? `: ${message}` : ''}. ` +
  `${number(done, 0)} of ${plural(total, 'part')} computed; resuming keeps them.`;

function start() {
  const [seeds, trace] = [$('#seeds').value, $('#trace')?.value];
  return { seeds: seeds ? Number(seeds) : null, trace: trace ? Number(trace) : null };
}

const fail = failureLine($('#error'));
const poll = new Poll(load, IDLE_MS, fail);
connectionBadge($('#connection'), poll, 'change');
for (const [verb, body] of Object.entries({ start, cancel: () => ({}) }))
  $(`#${verb}`)?.addEventListener('click', () => {
    post(`/api/experiments/${name}/${verb}/`, body()).then(() => poll.now(), fail);
  });
$('#options')?.addEventListener('submit', (event) => event.preventDefault());
poll.now();
