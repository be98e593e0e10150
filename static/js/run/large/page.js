// The page of a large run: totals, the schedule by level of detail, bars of a short window, jobs and metrics.

import { get } from '../../core/api.js';
import { metricTable } from '../../core/metric-table.js';
import { RunStatus } from '../../core/sockets/run-status.js';
import { url } from '../../ui/address/query.js';
import { informed } from '../../ui/confirm.js';
import { connectionBadge } from '../../ui/connection-badge.js';
import { roleName } from '../../core/columns/bars.js';
import { Activity } from '../activity.js';
import { hasMetrics, paintMetrics, untilText } from '../metrics/metrics-panel.js';
import { JobsTable } from '../jobs-table.js';
import { Operate } from '../run-controls.js';
import { RunNotice } from '../run-notice.js';
import { Levels, coveredText } from './levels.js';
import { Raster, cellText } from './raster.js';
import { isWhole, moved, within } from './window.js';
import { DataTable } from '../../ui/data-table.js';
import { PagePart } from '../../ui/failures/page-part.js';
import { $, debounce, fill, setText } from '../../ui/dom.js';
import { tile } from '../../ui/labels/tile.js';
import { capital, clock, duration, exactClock, number, plural } from '../../util/format.js';

const runId = Number($('main').dataset.runId);
const FETCH_MS = 120; // after the last change of the window
const KEYS = { ArrowLeft: 'earlier', ArrowRight: 'later', '+': 'closer', '-': 'wider', 0: 'whole' };

let range = null; // [first, last] of the run
let shown = null; // [from, to] of the window
let jobs = null;
let jobsSeq = 0; // event up to which the table of jobs reaches
const raster = new Raster($('#raster'), (cell) => setText($('#at'), cell ? cellText(cell) : ''));
const bars = new DataTable($('#bars'), {
  name: 'large-run-bars',
  columns: [
    { title: 'Job', cell: (row) => row.id, value: (row) => row.id },
    { title: 'Server', cell: (row) => row.server_name, value: (row) => row.server_name },
    { title: 'Role', cell: (row) => roleName(row.role), value: (row) => row.role },
    { title: 'Count', number: true, cell: (row) => number(row.count, 0), value: (row) => row.count },
    { title: 'Start', number: true, cell: (row) => exactClock(row.start_ms), value: (row) => row.start_ms },
    { title: 'End', number: true, cell: (row) => exactClock(row.end_ms), value: (row) => row.end_ms },
  ],
});

const run = new RunStatus(runId, new PagePart('state of the run'));
const levels = new Levels(runId, new PagePart('totals and schedule'), {
  window: () => (shown && !(range && isWhole(shown, range)) ? { from_ms: shown[0], to_ms: shown[1] } : {}),
  show,
  known: paintCovered,
  gone: () => run.ask(),
});

/** Shows levels; a window that was the whole run is still the whole run after it has grown. */
function show(found) {
  const newest = [found.first_ms, found.last_ms];
  if (!shown || (range && isWhole(shown, range))) shown = newest;
  range = newest;
  raster.show(found);
  paintTexts(found);
  paintBars(found.bars);
  if (found.seq > jobsSeq) showJobs(found);
}

function paintCovered(known) {
  $('#waiting').hidden = !known.waits;
  setText($('#events'), plural(known.lastSeq, 'event'));
  setText($('#covered'), coveredText(known));
}

function paintTexts(found) {
  setText($('#window'), `${clock(shown[0])} to ${clock(shown[1])} of ${clock(range[1])}`);
  const step = found.edges[1] - found.edges[0];
  const source =
    found.source === 'log'
      ? 'Read from the log: exact to the millisecond.'
      : 'Means over intervals of servers and time; zoom in for single bars.';
  setText(
    $('#source'),
    `${plural(found.rows.length, 'group')} of servers, ${plural(found.edges.length - 1, 'interval')} of about ` +
      `${duration(step)}; the resource with the largest share. Below: arrivals. ${source}`,
  );
  const tiles = Object.entries(found.jobs).filter(([, count]) => count);
  fill(
    $('#tiles'),
    tile('Jobs', number(found.total_jobs, 0)),
    tiles.map(([state, count]) => tile(capital(state), number(count, 0))),
    tile('Bars', number(found.total_bars, 0)),
    tile('Events', number(found.seq, 0)),
  );
}

/** Bars of a window that has few; null of others. */
function paintBars(found) {
  $('#panel-bars').hidden = found === null;
  if (found === null) return;
  const names = Object.keys(found);
  const rows = found.id.map((_, i) => Object.fromEntries(names.map((name) => [name, found[name][i]])));
  setText($('#bars-count'), plural(rows.length, 'bar'));
  bars.paint(rows, { page: 1 });
}

function showJobs(found) {
  jobsSeq = found.seq;
  const info = { ids: { length: found.total_jobs }, job_columns: found.job_columns, phases: found.phases };
  jobs ??= new JobsTable(runId, () => {}, { info, then: () => null });
  jobs.refresh();
}

const fetchSoon = debounce(() => levels.load(), FETCH_MS);

/** Moves the window; at: the time that stays where it is. */
function move(action, at) {
  if (!range) return;
  shown = moved(action, shown, range, at);
  url.set({ from: shown[0] === range[0] ? '' : shown[0], to: shown[1] === range[1] ? '' : shown[1] });
  fetchSoon();
}

/** The metrics of a run that has ended. */
async function showMetrics(status) {
  if (!hasMetrics(status)) return;
  const table = await metricsPart.load(metricTable(), () => showMetrics(status));
  const run = table && (await metricsPart.load(get(`/api/runs/${runId}/`), () => showMetrics(status)));
  if (!run) return;
  const until = untilText(status);
  paintMetrics($('#panel-metrics'), table, status.metrics, status.decision_ms, true, until, run.covers);
}

for (const action of ['earlier', 'later', 'closer', 'wider', 'whole']) {
  $(`#${action}`).addEventListener('click', () => move(action));
}
$('#raster').addEventListener('keydown', ({ key }) => KEYS[key] && move(KEYS[key]));
$('#raster').addEventListener('dblclick', () => move('whole'));
$('#raster').addEventListener(
  'wheel',
  (event) => {
    if (!event.ctrlKey || !range) return;
    event.preventDefault();
    move(event.deltaY < 0 ? 'closer' : 'wider', raster.timeAt(event.offsetX / $('#raster').clientWidth));
  },
  { passive: false },
);

const [from, to] = ['from', 'to'].map((name) => url.number(name, { instead: 'The whole run is shown.' }));
if (from !== null && to !== null && to > from) shown = within([from, to], [0, Number.MAX_SAFE_INTEGER]);
levels.load();

const notice = new RunNotice($('#notice'));
const metricsPart = new PagePart('metrics');
const refused = (error) => informed(error.message); // a dialog, so that a refusal is not overlooked
const operate = new Operate($('#controls'), runId, $('h1').textContent, refused);
new Activity(runId, run, (text, bad) => notice.say(text, bad));
connectionBadge($('#connection'), run);
run.addEventListener('status', (/** @type {CustomEvent} */ { detail }) => {
  operate.paint(detail);
  setText($('#status'), detail.status);
  $('#status').dataset.state = detail.status;
  levels.status(detail);
  showMetrics(detail);
});
run.addEventListener('deleted', (/** @type {CustomEvent} */ { detail }) => {
  levels.stop();
  notice.gone(detail, run.state, '#controls', '#exports');
});
run.start();
