// Colour schemes of the bars of a schedule: each gives a paint(job, colors) -> [fill, ink] and its legend.

import { STEPS, inkOn } from '../util/colors.js';
import { duration, number, plural, significant } from '../util/format.js';
import { ABSENT, JOB_STATES, STATE_COLORS, jobStates } from '../core/job-state.js';
import { NEVER } from '../core/columns/bars.js';

const MAX_KEYS = 10; // names in a legend; the rest are counted

/** A colour for each job. */
export function byJob() {
  return {
    paint: (job, c) => [c.jobs[job % c.jobs.length], c.onJob[job % c.jobs.length]],
    legend: () => ({ keys: [], note: '' }),
  };
}

/**
 * Colours by a name that several jobs share: names[job], undefined where there is none. The most frequent get the first
 * colours.
 */
export function byName(names, word) {
  const counts = new Map();
  for (const name of names) if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1);
  const ranked = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  const place = new Map(ranked.map(([name], i) => [name, i]));
  return {
    paint(job, c) {
      const at = place.get(names[job]);
      return at === undefined ? [c.same, c.ink] : [c.jobs[at % c.jobs.length], c.onJob[at % c.jobs.length]];
    },
    legend(c) {
      const more = ranked.length - MAX_KEYS;
      const note = [
        more > 0 ? `and ${plural(more, word)} more` : '',
        ranked.length > c.jobs.length ? `the ${c.jobs.length} colours repeat` : '',
      ]
        .filter(Boolean)
        .join('; ');
      return {
        keys: ranked
          .slice(0, MAX_KEYS)
          .map(([name, count], i) => [c.jobs[i % c.jobs.length], name, plural(count, 'job')]),
        note,
      };
    },
  };
}

/** Colours by the state of each job at the time shown. */
export function byState(store, playhead, wordOf) {
  let known = { key: '', codes: new Uint8Array(0) };
  const codes = () => {
    const key = `${playhead.ms} ${store.lastSeq}`;
    if (known.key !== key) known = { key, codes: jobStates(store, playhead.ms) };
    return known.codes;
  };
  return {
    paint(job, c) {
      const code = codes()[job] ?? ABSENT;
      const color = c[STATE_COLORS[JOB_STATES[code]] ?? 'same']; // ABSENT and UNSEEN are no states
      return [color, inkOn(color)];
    },
    legend(c) {
      const counts = new Uint32Array(JOB_STATES.length);
      for (const code of codes()) if (code < counts.length) counts[code]++;
      return {
        keys: JOB_STATES.map((name, code) => [c[STATE_COLORS[name]], wordOf(name), number(counts[code], 0)]).filter(
          (_, code) => counts[code],
        ),
        note: '',
      };
    },
  };
}

/** Colours by classes of equal size of a number: valueOf(job), NaN without one; jobs(): their number; text(value). */
function byValue({ valueOf, jobs, version, text, none, what }) {
  let known = { key: null, edges: [] };
  const edges = () => {
    const key = version();
    if (known.key !== key)
      known = { key, edges: classes(Array.from({ length: jobs() }, (_, job) => valueOf(job)).filter(Number.isFinite)) };
    return known.edges;
  };
  return {
    paint(job, c) {
      const value = valueOf(job);
      if (!Number.isFinite(value)) return [c.same, c.ink];
      const color = c.steps[classOf(edges(), value)];
      return [color, inkOn(color)];
    },
    legend(c) {
      const bounds = edges();
      if (!bounds.length) return { keys: [], note: none };
      const keys = [];
      for (let i = 0; i + 1 < bounds.length; i++)
        if (i === 0 || bounds[i + 1] > bounds[i])
          keys.push([c.steps[Math.min(i, STEPS - 1)], `${text(bounds[i])} to ${text(bounds[i + 1])}`, '']);
      return { keys: [...keys, [c.same, none, '']], note: what };
    },
  };
}

/** The STEPS + 1 bounds of classes that hold equally many values; empty without values. */
export function classes(values) {
  if (!values.length) return [];
  const sorted = Float64Array.from(values).sort();
  return Array.from({ length: STEPS + 1 }, (_, i) => sorted[Math.round((i / STEPS) * (sorted.length - 1))]);
}

/** The class of a value: the last whose lower bound it reaches. */
export function classOf(bounds, value) {
  let at = 0;
  while (at + 1 < STEPS && value >= bounds[at + 1]) at++;
  return at;
}

/** payoffs: Map of job -> payoff. */
export function byPayoff(store, payoffs) {
  return byValue({
    valueOf: (job) => payoffs.get(job) ?? NaN,
    jobs: () => store.jobs.length,
    version: () => `${payoffs.size} ${store.jobs.length}`, // either may come first
    text: significant,
    none: 'no payoff',
    what: 'payoff = utility − cost; each colour covers the same number of jobs',
  });
}

/** Time since the arrival; for a completed job, its completion time. */
export function byAge(store, playhead) {
  const valueOf = (job) => {
    const arrived = store.jobs.arrived_ms[job];
    if (job >= store.jobs.length || arrived === NEVER || arrived > playhead.ms) return NaN;
    const done = store.jobs.completed_ms[job];
    return (done !== NEVER && done <= playhead.ms ? done : playhead.ms) - arrived;
  };
  return byValue({
    valueOf,
    jobs: () => store.jobs.length,
    version: () => `${playhead.ms} ${store.lastSeq}`,
    text: duration,
    none: 'not arrived',
    what: 'time since arrival, for completed jobs their JCT; each colour covers the same number of jobs',
  });
}
