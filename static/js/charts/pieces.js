// The pieces of a chunk, or of a gang: which bars end because it was suspended, and which begin because it goes on.

import { WORKER, trueAt } from '../store.js';

const GANG = 0xfffff; // stands for the chunk of a bar that has none

export class Pieces {
  constructor(store) {
    this.store = store;
    this.#forget();
  }

  /** [suspended, resumed] of a bar as it is true at p: whether more of the same comes later, or came earlier, after a gap. */
  ends(bar, p) {
    this.#index();
    const { bars } = this.store;
    const start = bars.start_ms[bar];
    const end = bars.end_ms[bar];
    let next = Infinity;
    let before = -Infinity;
    for (let other = this.last.get(key(bars, bar)) ?? -1; other >= 0; other = this.earlier[other]) {
      if (other === bar || !trueAt(bars, other, p)) continue;
      if (bars.start_ms[other] >= end) next = Math.min(next, bars.start_ms[other]);
      else if (bars.end_ms[other] <= start) before = Math.max(before, bars.end_ms[other]);
    }
    return [next < Infinity && next > end, before > -Infinity && before < start];
  }

  #forget() {
    this.generation = this.store.generation;
    this.seen = 0;
    this.last = new Map(); // chunk -> its newest bar
    this.earlier = new Int32Array(1024); // of each bar: the one before it of the same chunk, or -1
  }

  #index() {
    const { bars } = this.store;
    if (this.generation !== this.store.generation) this.#forget();
    if (this.earlier.length < bars.length) {
      const grown = new Int32Array(bars.capacity);
      grown.set(this.earlier);
      this.earlier = grown;
    }
    for (let bar = this.seen; bar < bars.length; bar++) {
      if (bars.role[bar] !== WORKER) continue;
      const chunk = key(bars, bar);
      this.earlier[bar] = this.last.get(chunk) ?? -1;
      this.last.set(chunk, bar);
    }
    this.seen = bars.length;
  }
}

function key(bars, bar) {
  return bars.job[bar] * (GANG + 1) + (bars.chunk[bar] < 0 ? GANG : bars.chunk[bar]);
}
