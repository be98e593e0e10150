// The page of a large run: totals, the schedule by level of detail, bars of a short window, jobs and metrics.

import { get } from '../../core/api.js';
import { logError } from '../../core/client-errors.js';
import { metricTable } from '../../core/metric-table.js';
import { url } from '../../ui/address/query.js';
import { roleName } from '../../gantt/roles.js';
import { hasMetrics, paintMetrics } from '../figures/metrics-panel.js';
import { JobsTable } from '../jobs-table.js';
import { Raster, cellText } from './raster.js';
import { moved, within } from './window.js';
import { DataTable } from '../../ui/data-table.js';
import { PagePart } from '../../ui/failures/page-part.js';
import { $, debounce, fill, setText } from '../../ui/dom.js';
import { tile } from '../../ui/tile.js';
import { capital, clock, duration, exactClock, number, plural } from '../../util/format.js';

const runId = Number($('main').dataset.runId);
const AGAIN_MS = 3000; // until the levels are asked for again while they are computed
const FETCH_MS = 120; // after the last change of the window
const COLUMNS = 512;
const KEYS = { ArrowLeft: 'earlier', ArrowRight: 'later', '+': 'closer', '-': 'wider', 0: 'whole' };

let range = null; // [first, last] of the run
let shown = null; // [from, to] of the window
let asked = 0;
let jobs = null;
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

/** Asks for the window, and shows it unless another was asked for meanwhile. */
async function load() {
  const mine = ++asked;
  const query = new URLSearchParams({ columns: String(COLUMNS) });
  if (shown) ['from_ms', 'to_ms'].forEach((name, i) => query.set(name, shown[i]));
  const found = await get(`/api/runs/${runId}/levels/?${query}`);
  if (mine !== asked) return;
  $('#waiting').hidden = found.ready;
  if (!found.ready) {
    setTimeout(() => load().catch(failed), AGAIN_MS);
    return;
  }
  range = [found.first_ms, found.last_ms];
  shown ??= range;
  raster.show(found);
  paintTexts(found);
  paintBars(found.bars);
  if (!jobs) showJobs(found);
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
  const info = { ids: { length: found.total_jobs }, job_columns: found.job_columns, phases: found.phases };
  jobs = new JobsTable(runId, () => {}, { info, then: () => null });
  jobs.refresh();
}

const fetchSoon = debounce(() => load().catch(failed), FETCH_MS);

/** Moves the window; at: the time that stays where it is. */
function move(action, at) {
  if (!range) return;
  shown = moved(action, shown, range, at);
  url.set({ from: shown[0] === range[0] ? '' : shown[0], to: shown[1] === range[1] ? '' : shown[1] });
  fetchSoon();
}

function failed(error) {
  logError(error);
  $('#waiting').hidden = false;
  setText($('#waiting'), error.message);
}

async function showMetrics() {
  const [run, table] = await Promise.all([get(`/api/runs/${runId}/`), metricTable()]);
  if (hasMetrics(run)) paintMetrics($('#panel-metrics'), table, run.metrics, run.decision_ms, true);
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
load().catch(failed);
const metricsPart = new PagePart('metrics');
const loadMetrics = () => metricsPart.load(showMetrics(), loadMetrics);
loadMetrics();
