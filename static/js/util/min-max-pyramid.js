// Minimum and maximum of any range of a long array without reading the range: each level stores them of blocks of four
// of the level below. Built once; after values have changed, only the blocks over them are rebuilt.

const BITS = 2;
const MASK = (1 << BITS) - 1;

export class Pyramid {
  /** @param {Float64Array} values NaN (no value) counts for nothing */
  constructor(values) {
    this.least = [values];
    this.most = [values];
    this.grown(values, 0);
  }

  /**
   * The values are in another, longer array; those before `first` are unchanged.
   *
   * @param {Float64Array} values
   * @param {number} first
   */
  grown(values, first) {
    this.least[0] = this.most[0] = values;
    for (let level = 1, length = values.length; length > 1; level++) {
      length = Math.ceil(length / (MASK + 1));
      for (const side of [this.least, this.most]) {
        const kept = side[level];
        if (kept?.length === length) continue;
        side[level] = new Float64Array(length);
        if (kept) side[level].set(kept.subarray(0, length));
      }
    }
    this.changed(first, values.length);
  }

  /**
   * Updates after a change of the values [first, last).
   *
   * @param {number} first
   * @param {number} last
   */
  changed(first, last) {
    for (let level = 1; level < this.least.length && first < last; level++) {
      const [below, above] = [this.least[level - 1], this.most[level - 1]];
      [first, last] = [first >> BITS, ((last - 1) >> BITS) + 1];
      for (let block = first; block < last; block++) {
        let [low, high] = [Infinity, -Infinity];
        for (let i = block << BITS, end = Math.min(below.length, i + MASK + 1); i < end; i++) {
          if (below[i] < low) low = below[i];
          if (above[i] > high) high = above[i];
        }
        this.least[level][block] = low;
        this.most[level][block] = high;
      }
    }
  }

  /**
   * Writes minimum and maximum of each range [starts[i], ends[i]) into low[i] and high[i]; Infinity and -Infinity of
   * none.
   *
   * @param {Int32Array} starts
   * @param {Int32Array} ends
   * @param {Float64Array} low
   * @param {Float64Array} high
   */
  stretches(starts, ends, low, high) {
    const values = this.least[0];
    for (let i = 0; i < starts.length; i++) {
      let [start, end] = [starts[i], ends[i]];
      let bottom = Infinity;
      let top = -Infinity;
      const whole = end - start > 2 * MASK; // whole blocks lie in between
      for (; start < end && (!whole || start & MASK); start++) {
        const value = values[start];
        if (value < bottom) bottom = value;
        if (value > top) top = value;
      }
      for (; start < end && end & MASK; end--) {
        const value = values[end - 1];
        if (value < bottom) bottom = value;
        if (value > top) top = value;
      }
      for (let level = 1; start < end; level++) {
        start >>= BITS;
        end >>= BITS;
        const least = this.least[level];
        const most = this.most[level];
        const more = end - start > 2 * MASK;
        for (; start < end && (!more || start & MASK); start++) {
          if (least[start] < bottom) bottom = least[start];
          if (most[start] > top) top = most[start];
        }
        for (; start < end && end & MASK; end--) {
          if (least[end - 1] < bottom) bottom = least[end - 1];
          if (most[end - 1] > top) top = most[end - 1];
        }
      }
      low[i] = bottom;
      high[i] = top;
    }
  }
}
