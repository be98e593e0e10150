// Utilization over time, by the measures of the execution model of each phase.

import { phaseAt, whileIn } from '../../core/phases.js';
import { percent } from '../../util/format.js';
import { Curves } from '../parts/line-panel.js';

const AXIS = {
  min: 0,
  suggestedMax: 1,
  border: { display: false },
  ticks: { callback: (v) => `${Math.round(v * 100)} %` },
};

/**
 * phases: of the run; sources: {name, curves, exact, y, hidden, note} of each of its execution models. A run that is
 * handed to another model has the curves of both. At the end of an ended run, where nothing is in use, the legend has
 * means.
 */
export function utilizationChart(canvas, { phases, sources, store, view, playhead, legend }) {
  const only = sources.length === 1 ? sources[0] : null;
  const masked = (curve, name, from, width) =>
    only ? curve : { ...curve, y: whileIn(name, phases, curve.y, from, width) };
  const compute = (range, p, bins) => {
    const width = (range.to - range.from) / bins;
    return sources.flatMap(({ name, curves }) =>
      curves(range, p, bins, width).map((curve) => masked(curve, name, range.from, width)),
    );
  };
  const exact = (t, p) => {
    const now = phaseAt(phases, t).model;
    return (only ?? sources.find(({ name }) => name === now)).exact(t, p);
  };
  const y = only?.y ?? AXIS;
  const hidden = sources.flatMap((source) => source.hidden ?? []);
  const chart = new Curves(canvas, {
    view,
    playhead,
    legend,
    compute,
    exact,
    format: (v) => percent(v),
    y,
    hidden,
    means: () => store.finished && playhead.following,
    xTicks: true,
  });
  /** Sentence below the chart, at the moment p. */
  const note = (p) => sources.map((source) => source.note?.(p) ?? '').join(' ');
  return Object.assign(chart, { note });
}
