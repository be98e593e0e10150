// The layers that every Gantt has, besides those of the execution models.
//
// A layer: {name, level, paint(ctx, frame), hit(x, y, frame), describe(hit, frame)}; unused methods are inherited from
// class Layer. A hit may name a `job` to be picked by a click, and may be `alone`: the tooltip then shows nothing else.

import { Bars } from './bars.js';
import { EditMarkers } from './edit-markers.js';
import { JobMarks } from './job-marks.js';
import { Life } from './life.js';
import { Links } from './links.js';
import { Occupancy } from './occupancy.js';
import { Plan } from './plan.js';
import { RowGrid } from './row-grid.js';
import { Selection } from './selection.js';

export function commonLayers({ store }) {
  const bars = new Bars(store);
  return [
    new RowGrid(),
    new JobMarks(store),
    new Occupancy(store),
    bars,
    bars.labels,
    new Plan(),
    new EditMarkers(store),
    new Links(store),
    new Life(store),
    new Selection(),
  ];
}
