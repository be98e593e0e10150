// Utilization of machines by groups of co-located jobs, per pixel: for views in which most groups are too narrow to be
// told apart.

import { NEVER } from '../../../core/columns/bars.js';
import { addInterval, settle } from '../../../util/interval-sums.js';
import { Raster } from '../occupancy.js';

const MIN_BAND_PX = 4; // a narrower group has no room for its line and its colour

/** True if more than half of these widths are below that of a group that can be told apart. */
export const mostAreNarrow = (widths) => widths.filter((px) => px < MIN_BAND_PX).length > widths.length / 2;

/** Mean utilization of a machine's CPU or network per pixel, whichever is higher; segments: of its groups. */
export function machineUse(segments, { p, from, msPerPx }, width) {
  const tracks = [new Float64Array(width + 2), new Float64Array(width + 2)];
  for (const [begin, until, data] of segments) {
    const end = until === NEVER || until > p ? Math.max(p, begin) : until;
    [data.cpu_utilization, data.net_utilization].forEach((use, track) =>
      addInterval(tracks[track], width, from, msPerPx, begin, end, use),
    );
  }
  const [cpu, net] = tracks.map((track) => settle(track, width).subarray(0, width));
  return cpu.map((use, x) => Math.max(use, net[x]));
}

export class GroupDensity {
  constructor() {
    this.raster = new Raster();
  }

  /** Shades the rows of servers; segmentsOf(server): of the groups to show. */
  paint(ctx, frame, segmentsOf) {
    const { area, views, rowPx, y0, from, p } = frame;
    const width = Math.max(1, Math.round(area.right - area.left));
    const span = { p, from, msPerPx: (frame.view.to - from) / width };
    this.raster.begin(width, views.length);
    views.forEach(({ row }, i) => {
      if (row.kind === 'server') this.raster.shade(i, machineUse(segmentsOf(row.index), span, width), frame.c.shades);
    });
    this.raster.blit(ctx, area.left, y0, area.right - area.left, rowPx);
  }
}
