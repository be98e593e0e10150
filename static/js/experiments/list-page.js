// Experiments: what holds of each paper, and the start of what has no result yet.

import { get, post } from '../core/api.js';
import { connectionBadge } from '../ui/connection-badge.js';
import { table } from '../ui/data-table.js';
import { $, fill, h, setText } from '../ui/dom.js';
import { failureLine } from '../ui/failures/failure-line.js';
import { capital, duration, number, plural, wall } from '../util/format.js';
import { Poll } from '../util/poll.js';
import { checksText, progressText, unavailableText, verdictMark } from './words.js';

const [BUSY_MS, IDLE_MS] = [1000, 15_000];
const operator = document.body.dataset.role === 'operator';
let painted = '';

async function load() {
  const { experiments } = await get('/api/experiments/');
  const active = experiments.filter(({ progress }) => progress?.active);
  poll.ms = active.length ? BUSY_MS : IDLE_MS;
  paintProgress(active);
  const signature = JSON.stringify(experiments);
  if (signature !== painted) paint(experiments);
  painted = signature;
  return true;
}

function paint(experiments) {
  const papers = [...new Set(experiments.map(({ paper }) => paper))];
  fill(
    $('#summary'),
    tile('All', experiments),
    papers.map((paper) => tile(titleOf(paper), of(paper, experiments))),
  );
  fill(
    $('#papers'),
    papers.map((paper) => card(paper, of(paper, experiments))),
  );
  if (operator) {
    const open = experiments.filter(
      (row) => (row.verdict === 'not run' || row.outdated) && row.arrivals !== 'required' && !row.unavailable,
    );
    $('#start-all').hidden = !open.some(({ progress }) => !progress?.active);
  }
}

const of = (paper, experiments) => experiments.filter((row) => row.paper === paper);

/** Number of experiments of a paper that hold, or that none is run yet. */
function tile(title, rows) {
  const run = rows.filter(({ verdict }) => verdict !== 'not run');
  const hold = run.filter(({ verdict }) => verdict === 'holds').length;
  const left = rows.length - run.length;
  const share = (count, total, word) => [number(count, 0), h('small', {}, ` of ${number(total, 0)} ${word}`)];
  return h(
    'div',
    { class: 'tile' },
    h('dt', {}, `${title}${left && run.length ? ` (${number(left, 0)} more not run)` : ''}`),
    h('dd', {}, run.length ? share(hold, run.length, 'hold') : share(0, rows.length, 'run')),
  );
}

/** Title of the experiments of a paper. */
const titleOf = (paper) => (paper === 'ours' ? 'Schedulers of this project' : paper);

function card(paper, rows) {
  return h(
    'section',
    { class: 'card' },
    h('header', {}, h('h2', {}, titleOf(paper))),
    h('div', { class: 'scroll' }, table(columns, rows)),
  );
}

const columns = [
  {
    title: 'Figure',
    class: 'figure',
    cell: ({ name, figure }) =>
      h('a', { href: `/experiments/${name}/`, title: name }, capital(figure.replaceAll('-', '\u2011'))),
  },
  {
    title: 'Claim',
    wide: true,
    cell: ({ claim, title }) => [h('span', {}, claim), h('span', { class: 'why small' }, title)],
  },
  {
    title: 'Result',
    class: 'result',
    cell: (row) => [
      verdictMark(row.verdict),
      row.verdict === 'not run' ? null : h('span', { class: 'why small' }, checksText(row.checks)),
    ],
  },
  {
    title: 'Computed',
    class: 'result',
    cell: (row) =>
      row.finished_at
        ? [
            h('span', { class: 'nowrap' }, wall(row.finished_at)),
            h('span', { class: 'why small' }, `${duration(row.seconds * 1000)} of computing time`),
            row.outdated ? h('span', { class: 'mark old' }, 'older version of the code') : null,
          ]
        : '–',
  },
  { title: 'Progress', class: 'result', cell: progressOf },
  ...(operator ? [{ title: '', cell: actionOf }] : []),
];

function progressOf(row) {
  const { name, progress } = row;
  if (row.unavailable && !progress?.active) return h('span', { class: 'why small' }, unavailableText(row));
  if (!progress) return '';
  if (progress.active)
    return [
      h('progress', { max: progress.total, value: progress.done, 'aria-label': `Parts of ${name}` }),
      h('span', { class: 'why small' }, progressText(progress)),
    ];
  return h('span', { class: progress.status === 'failed' ? 'error small' : 'why small' }, [
    progressText(progress),
    progress.message ? `: ${progress.message}` : '',
  ]);
}

function actionOf({ name, progress, arrivals, unavailable, finished_at: at }) {
  if (progress?.active) return button('Cancel', () => post(`/api/experiments/${name}/cancel/`));
  if (unavailable) return '';
  if (arrivals === 'required') return h('a', { class: 'button', href: `/experiments/${name}/` }, 'Select a trace');
  const words = progress ? 'Resume' : at ? 'Start again' : 'Start';
  return button(words, () => post(`/api/experiments/${name}/start/`));
}

const button = (words, act) =>
  h('button', { type: 'button', onclick: () => act().then(() => poll.now(), fail) }, words);

function paintProgress(active) {
  $('#progress-box').hidden = !active.length;
  const sum = (key) => active.reduce((total, { progress }) => total + progress[key], 0);
  $('#progress').value = sum('total') ? sum('done') / sum('total') : 0;
  const parts = `${number(sum('done'), 0)} of ${plural(sum('total'), 'part')} computed`;
  setText($('#going'), `${plural(active.length, 'experiment')} in progress, ${parts}`);
  if ($('#cancel-all')) $('#cancel-all').hidden = !active.length;
}

const fail = failureLine($('#error'));
const poll = new Poll(load, IDLE_MS, fail);
connectionBadge($('#connection'), poll, 'change');
$('#start-all')?.addEventListener('click', () => post('/api/experiments/start-all/').then(() => poll.now(), fail));
$('#cancel-all')?.addEventListener('click', () => post('/api/experiments/cancel-all/').then(() => poll.now(), fail));
poll.now();
