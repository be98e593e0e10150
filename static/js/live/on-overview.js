// Live clusters at the top of the overview; hidden if there are none.

import { get } from '../core/api.js';
import { DataTable } from '../ui/data-table.js';
import { $ } from '../ui/dom.js';
import { PagePart } from '../ui/failures/page-part.js';
import { columns } from './connections-table.js';

const AGAIN_MS = 5000;

export class LiveClusters {
  /** section: contains a box .list. */
  constructor(section) {
    this.section = section;
    this.receivedAt = 0;
    this.part = new PagePart('live clusters');
    this.table = null;
  }

  async start() {
    if (!document.hidden || !this.receivedAt) {
      const page = await this.part.load(get('/api/connections/?size=50'));
      if (page) this.#paint(page.results);
    }
    setTimeout(() => this.start(), AGAIN_MS);
  }

  #paint(rows) {
    this.receivedAt = Date.now();
    this.section.hidden = !rows.length;
    if (!rows.length) return;
    this.table ??= new DataTable($('.list', this.section), {
      name: 'connections',
      columns: columns(() => Date.now() - this.receivedAt),
    });
    this.table.paint(rows);
  }
}
