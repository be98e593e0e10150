// The metrics of the present: what is allocated, what waits and for how long, what was rejected, each with its recent
// course.

import { h } from '../ui/dom.js';
import { MEANING } from '../core/job-state.js';
import { sparkline } from '../charts/sparkline.js';
import { tile } from '../ui/labels/tile.js';
import { capital, duration, number, percent, plural } from '../util/format.js';
import { scaleTitle } from '../charts/servers/server-map.js';
import { rulesOf } from '../util/run-modes.js';

const THOUSAND = 1000; // amounts of resources are in thousandths of a unit

/** [{title, value, small, hint, curve}] of the situation of a run, from left to right; table: the table of metrics. */
export function presentMetrics(found, table, run = undefined) {
  const { simulated, anyEnd } = rulesOf(run);
  const { jobs, load, queue, rejected, utility, certificate } = found;
  const over = `Curve: the last ${duration(found.window_ms)}${simulated ? ' of simulated time' : ''}`;
  const arrived = Object.values(jobs).reduce((sum, count) => sum + count, 0);
  const oldest = queue.oldest[0];
  return [
    allocated(load, over),
    { title: 'Running', value: number(jobs.running + jobs.profiling + jobs.moving, 0), hint: 'Jobs that hold servers' },
    ...(jobs.suspended
      ? [
          {
            title: 'Suspended',
            value: number(jobs.suspended, 0),
            hint: capital(MEANING.suspended),
          },
        ]
      : []),
    {
      title: 'Waiting',
      value: number(queue.total, 0),
      hint: `Jobs that have not started, or were requeued. ${over}`,
      curve: queue.curve.waiting,
    },
    {
      title: 'Longest wait',
      value: oldest ? duration(found.sim_ms - oldest.since_ms) : '–',
      hint: oldest ? `Of job ${oldest.id}, since its arrival or requeue` : 'No waiting jobs',
    },
    {
      title: 'Rejected',
      value: number(rejected.total, 0),
      small: arrived && rejected.total ? percent(rejected.total / arrived) : '',
      hint: `Of ${plural(arrived, 'arrived job')}. ${over}`,
      curve: queue.curve.rejected,
    },
    anyEnd
      ? { title: 'Ended', value: number(jobs.completed, 0), hint: 'Jobs that have ended, including those that failed' }
      : { title: 'Completed', value: number(jobs.completed, 0), hint: capital(MEANING.completed) },
    ...(utility === null ? [] : [reached(table.get('total_utility'), number(utility, 1))]),
    ...(certificate?.ratio ? [reached(table.get('certificate_ratio'), `≥ ${percent(certificate.ratio, 1)}`)] : []),
  ];
}

const reached = ({ title, definition }, value) => ({ title, value, hint: definition });

/** Allocated share of the first thing of the scale, over all sites: of the available servers. */
function allocated({ measure, scale, sites, curve, unavailable_jobs: unavailable = 0 }, over) {
  const total = (amounts) => amounts.reduce((sum, [first]) => sum + first, 0);
  const [used, capacity] = ['used', 'capacity'].map((key) => total(sites.map((site) => site[key])));
  const unit = measure === 'resources' ? THOUSAND : 1;
  const small = capacity ? `${number(used / unit, 0)} of ${number(capacity / unit, 0)}` : '';
  const parts = [small, unavailable ? `without ${plural(unavailable, 'job')} on unavailable servers` : ''].filter(
    Boolean,
  );
  return {
    title: `${scaleTitle(scale[0])} allocation`,
    value: capacity ? percent(used / capacity) : '–',
    small,
    hint: parts.length ? `${capital(parts.join(', '))}. ${over}` : over,
    curve: curve.shares[0],
  };
}

const WIDE = '(min-width: 641px)'; // room for a second number in a tile

/** Tiles of the metrics; the curves are drawn once the tiles are in the page. */
export function metricTiles(found, table, run) {
  const made = presentMetrics(found, table, run).map(({ title, value, small, hint, curve }) => {
    const canvas = h('canvas', { 'aria-hidden': 'true' }); // empty without a curve, so that all values are on one line
    return {
      canvas,
      curve,
      node: tile(
        title,
        [value, small && matchMedia(WIDE).matches ? h('small', { class: 'aside' }, ` ${small}`) : null],
        {
          hint,
          more: canvas,
        },
      ),
    };
  });
  return {
    nodes: made.map(({ node }) => node),
    draw: () => made.forEach(({ canvas, curve }) => curve && sparkline(canvas, curve)),
  };
}
