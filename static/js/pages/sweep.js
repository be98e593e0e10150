// One sweep: wires the panels of its page, each of which fails alone, to the answers of the API.

import { get, post } from '../core/api.js';
import { metricTable } from '../core/metric-table.js';
import { watchOverview } from '../core/sockets/overview-socket.js';
import { logError } from '../core/client-errors.js';
import { $, fill, h, setText } from '../ui/dom.js';
import { number, plural } from '../util/format.js';
import { PagePart } from '../ui/failures/page-part.js';
import { inPanel } from '../ui/failures/panel-isolation.js';
import { Poll } from '../util/poll.js';
import { Later } from '../util/throttle.js';
import { paintCurves, paintMap } from '../sweeps/grid.js';
import { Points } from '../sweeps/points.js';
import { paintAbout, paintNotes, paintProgress } from '../sweeps/progress.js';
import { shownOf } from '../sweeps/shown.js';
import { url } from '../ui/address/query.js';
import { connectionBadge } from '../ui/connection-badge.js';

const AGAIN_MS = 1000;
const id = $('main').dataset.sweep;
const points = new Points($('#points-card'));
const panels = [
  inPanel($('#about'), (shown) => paintAbout($('#about'), answer, shown)),
  inPanel($('#unranked'), (shown) => paintNotes(answer, shown)),
  inPanel($('#metric-about'), ({ metric }) => setText($('#metric-about'), metric.definition)),
  inPanel($('#going'), () => paintProgress(id, answer)),
  inPanel($('#map'), (shown) => paintMap($('#map'), answer, shown)),
  inPanel($('#curves'), (shown) => paintCurves($('#curves'), answer, shown)),
  inPanel($('#points-card'), (shown) => points.paint(answer.points, shown)),
];
let answer = null;
let metrics = null; // the table of metrics
let wired = false;
let offered = ''; // the metrics to choose from

async function load() {
  [answer, metrics] = await Promise.all([get(`/api/sweeps/${id}/points/`), metricTable()]);
  if (!wired) wire();
  paint();
  const { finished, total } = answer;
  poll.outcome = finished === total ? 'complete' : `ended, ${number(finished, 0)} of ${plural(total, 'run')} finished`;
  return answer.active > 0;
}

function chosenMetric() {
  const has = (name) => answer.points.some(({ figures }) => (figures[name] ?? null) !== null);
  const first = answer.figures.find(has) ?? answer.figures[0];
  return url.choice('figure', answer.figures, first, `The table shows ${metrics.get(first).title}.`);
}

/** Offers the metrics of the answer: runs get some of theirs at their end. */
function offer(/** @type {string} */ chosen) {
  const select = $('#metric');
  if (offered !== answer.figures.join())
    fill(
      select,
      answer.figures.map((name) => h('option', { value: name }, metrics.get(name).title)),
    );
  offered = answer.figures.join();
  select.value = chosen;
}

function paint() {
  const chosen = chosenMetric();
  offer(chosen);
  const shown = shownOf(answer, metrics.get(chosen));
  for (const panel of panels) panel(shown);
}

function wire() {
  wired = true;
  const select = $('#metric');
  select.addEventListener('change', () => {
    url.set({ figure: select.value });
    paint();
  });
  addEventListener('resize', paint);
  for (const verb of ['cancel', 'resume'])
    $(`#${verb}`)?.addEventListener('click', () =>
      post(`/api/sweeps/${id}/${verb}/`).then(() => {
        fail(null);
        return poll.now();
      }, fail),
    );
}

function fail(error) {
  if (error) logError(error);
  $('#failed').hidden = !error;
  const deleted = error?.status === 404 && answer !== null;
  const kept = deleted ? ' This page shows the data that it had already loaded.' : '';
  setText($('#failed'), error ? error.message + kept : '');
  if (!deleted) return;
  for (const selector of ['#csv', '#cancel', '#resume']) if ($(selector)) $(selector).hidden = true;
}

const part = new PagePart('points of the sweep');
const poll = new Poll(load, AGAIN_MS, (/** @type {any} */ error) => {
  if (error?.status === 404) return fail(error);
  part.turn(error);
});
connectionBadge($('#connection'), poll, 'change');
const again = new Later(AGAIN_MS, () => poll.now());
// what has ended is not polled: it tells of deletions
watchOverview(
  ({ type, id: run }) => type === 'deleted' && answer?.points.some((point) => point.run === run) && again.ask(),
  () => poll.ended && again.ask(),
);
poll.now();
