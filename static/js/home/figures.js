// The figures of the present: what is allocated, what waits and for how long, what was rejected, each with its recent
// course.

import { h } from '../ui/dom.js';
import { sparkline } from '../charts/sparkline.js';
import { tile } from '../ui/tile.js';
import { capital, duration, number, percent, plural } from '../util/format.js';
import { scaleTitle } from '../charts/server-map.js';

const THOUSAND = 1000; // amounts of resources are in thousandths of a unit

/** [{title, value, small, hint, curve}] of a situation, from left to right. */
export function figuresOf(found, mirrored = false) {
  const { jobs, load, queue, rejected, utility, certificate } = found;
  const over = `Curve: the last ${duration(found.window_ms)}${mirrored ? '' : ' of simulated time'}`;
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
            hint: 'Jobs that have started, have not ended and are not running now',
          },
        ]
      : []),
    {
      title: 'Waiting',
      value: number(queue.total, 0),
      hint: `Jobs that have not started. ${over}`,
      curve: queue.curve.waiting,
    },
    {
      title: 'Longest wait',
      value: oldest ? duration(found.sim_ms - oldest.since_ms) : '–',
      hint: oldest ? `Since the arrival of job ${oldest.id}` : 'No job waits',
    },
    {
      title: 'Rejected',
      value: number(rejected.total, 0),
      small: arrived && rejected.total ? percent(rejected.total / arrived) : '',
      hint: `Of ${plural(arrived, 'arrived job')}. ${over}`,
      curve: queue.curve.rejected,
    },
    mirrored
      ? { title: 'Ended', value: number(jobs.completed, 0), hint: 'Jobs that have ended, including those that failed' }
      : { title: 'Completed', value: number(jobs.completed, 0), hint: 'Jobs with all their work done' },
    ...(utility === null ? [] : [{ title: 'Utility', value: number(utility, 1), hint: 'Total of the completed jobs' }]),
    ...(certificate?.ratio
      ? [
          {
            title: 'Proved share',
            value: `≥ ${percent(certificate.ratio, 1)}`,
            hint: 'Proved by a bound on every schedule; see Optimality on the page of the run',
          },
        ]
      : []),
  ];
}

/** Allocated share of the first thing of the scale, over all sites: of the available servers. */
function allocated({ measure, scale, sites, curve, unavailable_jobs: stranded = 0 }, over) {
  const [used, capacity] = ['used', 'capacity'].map((key) => sites.reduce((sum, site) => sum + site[key][0], 0));
  const unit = measure === 'resources' ? THOUSAND : 1;
  const small = capacity ? `${number(used / unit, 0)} of ${number(capacity / unit, 0)}` : '';
  const parts = [small, stranded ? `without ${plural(stranded, 'job')} on unavailable servers` : ''].filter(Boolean);
  return {
    title: `${scaleTitle(scale[0])} allocated`,
    value: capacity ? percent(used / capacity) : '–',
    small,
    hint: parts.length ? `${capital(parts.join(', '))}. ${over}` : over,
    curve: curve.shares[0],
  };
}

const WIDE = '(min-width: 641px)'; // room for a second number in a tile

/** Tiles of the figures; the curves are drawn once the tiles are in the page. */
export function figureTiles(found, mirrored) {
  const made = figuresOf(found, mirrored).map(({ title, value, small, hint, curve }) => {
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
