// The grid of a sweep as a heat map, and as curves over its first axis.

import { bands, spread } from '../charts/confidence-bands.js';
import { heatmap } from '../charts/heatmap.js';
import { fill, h } from '../ui/dom.js';
import { capital } from '../util/format.js';

const MAX_COMPARED = 6; // runs of a cell that its link compares

export function paintMap(box, { unranked, unranked_figures: single }, { metric, axes: [across, down], cell, text }) {
  heatmap(box, {
    columns: across,
    rows: down ?? null,
    cell,
    text,
    better: unranked || single[metric.key] ? null : metric.direction,
    onPick: ({ points }) => location.assign(addressOf(points)),
  });
}

export function paintCurves(box, { seeds, finished, total }, { metric, axes: [across, down], cell, text, numeric }) {
  if (!numeric) return paintSpread(box, { seeds, complete: finished === total }, across, down, cell);
  box.hidden = false;
  const curves = (down?.values ?? [null]).map((value, j) => ({
    title: down ? `${down.title}: ${down.text(value)}` : '',
    points: across.values
      .map((x, i) => ({ x, ...cell(i, j) }))
      .filter(({ mean }) => mean !== null && mean !== undefined),
  }));
  bands(box, {
    title: metric.title,
    unit: metric.unit,
    xTitle: across.title,
    xText: across.text,
    curves,
    text,
    seeds: seeds.length,
    complete: finished === total,
  });
}

/** The sentence on the seeds, which is below the curves, where there are none; intervals are in the cells. */
function paintSpread(box, { seeds, complete }, across, down, cell) {
  const cells = (down?.values ?? [null]).flatMap((_, j) => across.values.map((__, i) => cell(i, j)));
  const known = cells.filter((one) => (one?.mean ?? null) !== null);
  box.hidden = !known.length || known.some(({ half }) => half);
  if (!box.hidden) fill(box, h('p', { class: 'muted small' }, `${capital(spread(known, seeds.length, complete))}.`));
}

/** The run of a cell, or the comparison of its runs. */
function addressOf(points) {
  const runs = points.slice(0, MAX_COMPARED).map(({ run }) => run);
  return points.length > 1 ? `/compare/?runs=${runs.join(',')}` : `/runs/${runs[0]}/`;
}
