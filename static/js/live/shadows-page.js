// Shadows of a live cluster: its last hours under every scheduler.

import { get, post } from '../core/api.js';
import { metricTable } from '../core/metric-table.js';
import { shadowTable } from './shadow-table.js';
import { connectionBadge } from '../ui/connection-badge.js';
import { empty } from '../ui/data-table.js';
import { $, fill, h, setText, wholeDates } from '../ui/dom.js';
import { failureLine } from '../ui/failures/failure-line.js';
import { PagePart } from '../ui/failures/page-part.js';
import { duration, plural, wall } from '../util/format.js';
import { runTime } from '../util/wall-clock.js';
import { Poll } from '../util/poll.js';

const BUSY_MS = 1000;
const IDLE_MS = 15_000;
const MIN_RANKED_MS = 600_000; // a shorter window is not ranked: most of its jobs began before it
const ABOUT = {
  believed: ({ predictor }) =>
    'Schedulers know only the run time that was predicted when the job arrived, from the jobs that had ended by then ' +
    `(predictor: ${predictor}). When a job exceeds it, they decide again with a longer one.`,
  actual: () =>
    'Schedulers plan with the actual run times, which no real scheduler knows. Those that order jobs by size ' +
    'therefore get better results than they could reach in practice.',
};
const name = $('main').dataset.connection;
let painted = '';

async function load() {
  const [answer, table] = await Promise.all([get(`/api/live/${name}/shadows/`), metricTable()]);
  poll.ms = answer.progress ? BUSY_MS : IDLE_MS;
  paint(answer, table);
  return true;
}

function paint(answer, table) {
  paintProgress(answer);
  const signature = JSON.stringify([answer.set, answer.week]);
  if (signature === painted) return;
  painted = signature;
  const { set, metrics, week } = answer;
  if (!set) {
    fill(
      $('#sets'),
      section('Shadows', empty('No shadows yet', emptyText(answer), ['Show the cluster', `/live/${name}/`])),
    );
    fill($('#facts'));
    return;
  }
  fill($('#facts'), facts(set));
  fill(
    $('#sets'),
    set.groups.map((group) =>
      section(
        group.title,
        h('p', { class: 'muted small' }, ABOUT[group.durations](group)),
        h(
          'div',
          { class: 'scroll' },
          shadowTable(group, {
            metrics,
            table,
            real: set.real,
            week: week[group.durations] ?? {},
            mirrored: set.run,
            ranked: ranked(set),
          }),
        ),
        group.cannot.length ? h('p', { class: 'left-out muted small' }, 'Schedulers left out:') : null,
        group.cannot.length ? left(group.cannot) : null,
      ),
    ),
    set.cannot.length ? section('Schedulers left out', left(set.cannot)) : null,
  );
}

const emptyText = ({ run }) =>
  run === null
    ? 'The cluster has not been polled yet.'
    : 'By default a set is computed every ten minutes while the cluster is followed and its jobs or nodes change.';

const section = (title, ...content) => h('section', { class: 'card' }, h('header', {}, h('h2', {}, title)), content);

/** The schedulers left out, one line for each reason. */
function left(cannot) {
  const byReason = new Map();
  for (const { title, reason } of cannot) byReason.set(reason, [...(byReason.get(reason) ?? []), title]);
  return h(
    'ul',
    { class: 'plain' },
    [...byReason].map(([reason, titles]) => h('li', {}, h('strong', {}, titles.join(', ')), `: ${reason}.`)),
  );
}

const wholeSeconds = (ms) => Math.floor(ms / 1000) * 1000; // as runTime() shows it
const ranked = (set) => set.until_ms - set.from_ms >= MIN_RANKED_MS;
function shortText({ from_ms: from, until_ms: until }) {
  const length = duration(wholeSeconds(until) - wholeSeconds(from));
  const least = duration(MIN_RANKED_MS);
  return `The replayed window is only ${length} long. The best values are marked only if it is at least ${least} long.`;
}

function facts(set) {
  const jobs = `${plural(set.jobs, 'job')}, ${set.scored.toLocaleString('en-US')} of them ended`;
  const more = set.unplaced_count > set.unplaced.length ? ' …' : '';
  const named = `${set.unplaced.join(', ')}${more}`;
  const unplaced = set.unplaced_count
    ? `${plural(set.unplaced_count, 'job')} could not be placed by any scheduler: ${named}.`
    : '';
  return [
    h(
      'p',
      {},
      `From ${runTime(set.from_ms, set.began_at)} to ${runTime(set.until_ms, set.began_at)} of `,
      set.run ? h('a', { href: `/runs/${set.run}/` }, `run ${set.run}`) : 'a run that was deleted',
      wholeDates(`, ${jobs}, computed ${wall(set.at)}. `),
      'Differences from the real cluster cover the jobs that completed in both.',
    ),
    set.note ? h('p', { class: 'notice' }, set.note) : null,
    set.unranked ? h('p', { class: 'notice' }, set.unranked) : null,
    ranked(set) ? null : h('p', { class: 'notice' }, shortText(set)),
    h(
      'details',
      { class: 'small' },
      h('summary', {}, 'Assumptions'),
      h(
        'ul',
        { class: 'plain' },
        [...set.sentences, ...(unplaced ? [unplaced] : []), ...FIXED].map((text) => h('li', {}, text)),
      ),
    ),
  ];
}

const FIXED = [
  'The best value is marked for each training model; for times, only among schedulers that complete all jobs.',
  'Outages of nodes are known to the schedulers in advance.',
];

function paintProgress({ progress, failed }) {
  $('#progress-box').hidden = !progress;
  if (progress) {
    $('#progress').value = progress.total ? progress.done / progress.total : 0;
    setText(
      $('#going'),
      progress.total
        ? `${progress.done} of ${plural(progress.total, 'shadow')} computed`
        : progress.status === 'queued'
          ? 'Waiting for a worker'
          : 'Preparing the replayed window',
    );
  }
  $('#failed').hidden = !failed;
  setText($('#failed-why'), failed ? `The newest set could not be computed: ${failed}.` : '');
  if ($('#again')) $('#again').hidden = Boolean(progress);
  if ($('#start')) $('#start').hidden = Boolean(progress);
  if ($('#cancel')) $('#cancel').hidden = !progress;
}

function act(path, body) {
  return post(path, body).then(
    () => {
      fail(null);
      return poll.now();
    },
    (error) => fail(error),
  );
}

const fail = failureLine($('#error'));
const part = new PagePart('shadows');
const poll = new Poll(load, IDLE_MS, (error) => part.turn(error));
connectionBadge($('#connection'), poll, 'change');
for (const button of ['#start', '#again'])
  $(button)?.addEventListener('click', () => act(`/api/live/${name}/shadows/`, { hours: Number($('#hours').value) }));
$('#cancel')?.addEventListener('click', () => act(`/api/live/${name}/shadows/cancel/`));
poll.now();
