// Use of the machines of a site by groups of co-located jobs, where a row is a site: CPU above, network below.

import { usedShares } from '../../../charts/use/group-use.js';
import { NEVER } from '../../../core/columns/bars.js';
import { memberships, stays } from '../../../core/memberships.js';
import { clock, percent } from '../../../util/format.js';
import { LEVEL, Layer } from '../layer.js';
import { Raster } from '../occupancy.js';
import { SITES } from '../../../util/capacity.js';

const HALVES = /** @type {const} */ (['cpu', 'net']);

export class SiteUse extends Layer {
  constructor(store, info) {
    super('site-use', LEVEL.GROUPS);
    this.store = store;
    this.info = info;
    this.raster = new Raster();
  }

  paint(ctx, frame) {
    const rows = frame.views.filter(({ row }) => this.#siteOf(row) >= 0);
    if (!rows.length || !this.store.groups.length) return;
    const { area, view, rowPx } = frame;
    const width = Math.max(1, Math.round(area.right - area.left));
    const shares = usedShares(this.store, this.info, frame.p, view.from, (view.to - view.from) / width, width);
    for (const { row, y } of rows) {
      this.raster.begin(width, HALVES.length);
      HALVES.forEach((half, i) => this.raster.shade(i, shares[half][this.#siteOf(row)], frame.c.shades));
      this.raster.blit(ctx, area.left, y, area.right - area.left, rowPx / HALVES.length);
      ctx.fillStyle = frame.c.panel;
      ctx.fillRect(area.left, Math.round(y + rowPx / 2), area.right - area.left, 1);
    }
  }

  /** True if a visible row is a site. */
  inRows(frame) {
    return frame.views.some(({ row }) => this.#siteOf(row) >= 0);
  }

  hit(x, y, frame) {
    const point = frame.at(x, y);
    if (!point || point.t > frame.p || this.#siteOf(point.row) < 0) return null;
    return { site: this.#siteOf(point.row), t: point.t, p: frame.p };
  }

  describe({ site, t, p }) {
    const shares = usedShares(this.store, this.info, p, t, 1, 1);
    const [[cpu], [net]] = HALVES.map((half) => shares[half][site]);
    return Number.isFinite(cpu)
      ? [
          ['CPU', percent(cpu)],
          ['network', percent(net)],
        ]
      : [];
  }

  /** The stays of jobs in the groups on the machines of a site. */
  table(row, frame) {
    if (this.#siteOf(row) < 0) return [];
    const { view } = frame;
    const all = this.info.cluster.servers;
    const own = this.store.groups.filter(([, , { servers }]) => all[servers[0]].site === row.index);
    return stays(memberships(own, frame.playhead.ms))
      .filter(({ from, until }) => from < view.to && (until === NEVER || until > view.from))
      .map(({ job, group, servers, from, until }) => [
        frame.jobName(job),
        `worker in group ${group}`,
        row.index,
        servers.length,
        clock(from),
        until === NEVER ? '' : clock(until),
      ]);
  }

  #siteOf(row) {
    return row.kind === 'many' ? SITES.indexOf(row.index) : -1;
  }
}
