// Followed clusters on top of the overview; hidden where there are none.

import { get } from '../core/api.js';
import { DataTable } from '../ui/data-table.js';
import { $ } from '../ui/dom.js';
import { columns } from './connections-table.js';

const AGAIN_MS = 5000;

export class LiveClusters {
  /** section: with a box .list in it. */
  constructor(section) {
    this.section = section;
    this.toldAt = 0;
    this.table = null;
  }

  async start() {
    if (!document.hidden || !this.toldAt) {
      const page = await get('/api/connections/?size=50').catch(() => null); // the badge tells of a server that is gone
      if (page) this.#paint(page.results);
    }
    setTimeout(() => this.start(), AGAIN_MS);
  }

  #paint(rows) {
    this.toldAt = Date.now();
    this.section.hidden = !rows.length;
    if (!rows.length) return;
    this.table ??= new DataTable($('.list', this.section), {
      name: 'connections',
      columns: columns(() => Date.now() - this.toldAt),
    });
    this.table.paint(rows);
  }
}
