// One row of the Gantt and its bars, sorted by start.

import { lowerBound } from '../util/binary-search.js';

/** A site header, a server, a job, or all of a site, user or queue. `index` names which; bars are rows of the store. */
export class Row {
  constructor(kind, label, index) {
    this.kind = kind; // site | server | job | many
    this.label = label;
    this.index = index;
    /** @type {boolean | undefined} */
    this.fold = undefined; // true: can be opened; false: can be folded; undefined: neither
    this.sorted = new Int32Array(8); // rows of the store by start
    this.length = 0;
    this.longest = 0; // ms of the longest bar: the range of a backward search
    this.unlaid = 0; // bars without a sub-row
    this.subRows = 0;
    /** @type {number[] | null} */
    this.typed = null; // [workers, parameter servers] of a server where bars have fixed sub-rows
  }

  push(row) {
    if (this.length === this.sorted.length) {
      const grown = new Int32Array(this.length * 2);
      grown.set(this.sorted);
      this.sorted = grown;
    }
    this.sorted[this.length++] = row;
  }

  /** Moves the last bar to its position. */
  sink(start) {
    const { sorted } = this;
    const last = this.length - 1;
    const bar = sorted[last];
    if (last === 0 || start[sorted[last - 1]] <= start[bar]) return;
    const place = lowerBound(last, start[bar] + 0.5, (i) => start[sorted[i]]);
    sorted.copyWithin(place + 1, place, last);
    sorted[place] = bar;
  }

  /** Sorts all bars, after many were added. */
  sort(start) {
    const { length, sorted } = this;
    let rising = true;
    for (let i = 1; i < length && rising; i++) rising = start[sorted[i - 1]] <= start[sorted[i]];
    if (rising) return;
    const order = sorted
      .subarray(0, length)
      .slice()
      .sort((a, b) => start[a] - start[b] || a - b);
    sorted.set(order);
  }
}
