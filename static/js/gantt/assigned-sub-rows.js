// The sub-rows of the bars within their rows: fixed ones on servers with typed workers, elsewhere the first that is
// free.

import { CLOUD, PS } from '../core/columns/bars.js';
import { giveSubRows } from './sub-rows.js';

const UNLAID = 255;
const MAX_LAID = 4000; // bars of a row of a site, user or queue that get sub-rows; beyond, it is shaded
const TYPED_PX = 3; // height of a sub-row below which parameter servers are hidden, unless rows cannot be taller
export const MAX_ROW_PX = 64; // up to here rows can be made taller; rows that together fit the plot may be taller

export class AssignedSubRows {
  constructor(store) {
    this.store = store;
    this.subRows = new Uint8Array(0);
    // Bars on the cloud's row that are alike share a sub-row: the first -> how many they are, the others -> 0.
    this.copies = new Map();
  }

  /** Forgets all of them: the rows start over. */
  clear() {
    this.subRows.fill(UNLAID);
    this.copies.clear();
  }

  /** Makes room for all bars of the store. */
  grow() {
    const { bars } = this.store;
    if (this.subRows.length >= bars.length) return;
    const grown = new Uint8Array(bars.capacity).fill(UNLAID);
    grown.set(this.subRows);
    this.subRows = grown;
  }

  /** Takes up a bar that was added to a row: it has the sub-row of its worker slot, or gets one in `of`. */
  add(bar, row) {
    const { bars } = this.store;
    if (!row.typed || bars.worker_slot[bar] < 0) row.unlaid++;
    // workers above, parameter servers below
    else this.subRows[bar] = Math.min(UNLAID - 1, bars.worker_slot[bar] + (bars.role[bar] === PS ? row.typed[0] : 0));
  }

  /** Sub-row of a bar in its row, once `of` has been asked for the row. */
  at(bar) {
    return this.subRows[bar];
  }

  /** Assigns a sub-row to each bar of the row; returns the number of sub-rows shown in a row of that height. */
  of(row, rowPx) {
    if (row.kind === 'many' && row.length > MAX_LAID) return Infinity;
    if (row.unlaid) this.#lay(row);
    // parameter servers only where there is room, or where the rows cannot be made taller
    if (row.typed && rowPx < MAX_ROW_PX && (rowPx - 2) / row.subRows < TYPED_PX) return row.typed[0];
    return Math.max(1, row.subRows);
  }

  /** Number of bars that this one represents; 0 if another one represents it. */
  copiesOf(bar) {
    return this.copies.get(bar) ?? 1;
  }

  #lay(row) {
    const fresh = [];
    for (let i = 0; i < row.length; i++) if (this.subRows[row.sorted[i]] === UNLAID) fresh.push(row.sorted[i]);
    fresh.sort((a, b) => a - b);
    const like = row.index === CLOUD && row.kind === 'server' ? this.#alike(fresh) : new Map();
    const firsts = fresh.filter((bar) => !like.has(bar));
    // beside those of typed workers
    row.subRows = giveSubRows(this.store.bars, row.sorted, row.length, row.longest, firsts, this.subRows, row.subRows);
    for (const [bar, first] of like) this.subRows[bar] = this.subRows[first];
    row.unlaid = 0;
  }

  /**
   * Merges the chunks of a job in the cloud that were planned together, which run at the same time, into one bar.
   * Returns the others of each -> its first.
   */
  #alike(fresh) {
    const { bars } = this.store;
    const first = new Map();
    const like = new Map();
    for (const bar of fresh) {
      const key = [
        bars.job[bar],
        bars.role[bar],
        bars.start_ms[bar],
        bars.end_ms[bar],
        bars.born_ms[bar],
        bars.died_ms[bar],
      ].join('/');
      if (!first.has(key)) {
        first.set(key, bar);
        continue;
      }
      like.set(bar, first.get(key));
      this.copies.set(bar, 0);
      this.copies.set(first.get(key), this.copiesOf(first.get(key)) + 1);
    }
    return like;
  }
}
