// Data of curves, as Chart.js draws them: their points, and the axes of long curves, which it does not draw itself.

import { upperBound } from '../../util/binary-search.js';

/**
 * Datasets of a panel: one for each curve with points, and one for each value axis of `long`, the long curves that are
 * shown. hidden: the keys of hidden curves.
 */
export function datasetsOf(curves, hidden, long, view) {
  const drawn = curves.filter((curve) => !curve.long).map((curve) => dataset(curve, hidden.has(curve.key)));
  const axes = [...new Set(long.map(({ axis }) => axis))];
  const ofAxis = (yAxisID) => {
    const own = long.filter(({ axis }) => axis === yAxisID);
    return { data: span(own, view), showLine: false, pointRadius: 0, yAxisID };
  };
  return [...drawn, ...axes.map(ofAxis)];
}

/** The value at the time t; null before the first point. */
export function valueAt({ x, y }, t) {
  const at = upperBound(x.length, t, (i) => x[i]) - 1;
  return at >= 0 ? y[at] : null;
}

/** Mean of the known values of a curve of equal intervals, before a time; NaN without any. */
export function meanUntil({ x, y }, ms) {
  let [sum, count] = [0, 0];
  for (let i = 0; i < x.length && x[i] < ms; i++)
    if (Number.isFinite(y[i])) {
      sum += y[i];
      count++;
    }
  return sum / count;
}

function dataset(curve, hidden) {
  return {
    data: points(curve),
    yAxisID: curve.axis,
    hidden,
    borderColor: curve.color,
    borderWidth: curve.width ?? 1.5,
    borderDash: curve.dash ?? [],
    stepped: curve.stepped ?? false,
    pointRadius: 0,
    fill: curve.fill ? 'origin' : false,
    backgroundColor: `${curve.color}22`,
    spanGaps: false,
  };
}

function points({ x, y }) {
  const out = new Array(x.length);
  for (let i = 0; i < x.length; i++) out[i] = { x: x[i], y: Number.isFinite(y[i]) ? y[i] : null };
  return out;
}

/** The two points that make the value axis span curves which Chart.js does not draw itself. */
function span(curves, { from, to }) {
  const found = curves.map(({ long }) => long.extremes('y', from, to));
  const [least, most] = [Math.min(...found.map(([low]) => low)), Math.max(...found.map(([, high]) => high))];
  return least > most
    ? []
    : [
        { x: from, y: least },
        { x: to, y: most },
      ];
}
