// Columns of numbers that grow by doubling: the browser's counterpart of state.py's Growing.

export class Columns {
  /** `types`: {name: typed array class}. Each column is this[name]; rows [0, length) are valid. */
  constructor(types, capacity = 1024) {
    this.types = types;
    this.names = Object.keys(types);
    this.length = 0;
    this.capacity = capacity;
    for (const name of this.names) this[name] = new types[name](capacity);
  }

  /** Makes room for `count` more rows and returns the number of the first; their content is the caller's to write. */
  extend(count) {
    const first = this.length;
    this.length += count;
    if (this.length > this.capacity) this.#grow(Math.max(this.length, 2 * this.capacity));
    return first;
  }

  /** Takes over whole columns, e.g. of a snapshot: {name: array}. */
  load(columns) {
    this.length = columns[this.names[0]].length;
    this.capacity = Math.max(1024, this.length);
    for (const name of this.names) {
      this[name] = new this.types[name](this.capacity);
      this[name].set(columns[name]);
    }
  }

  copyRow(from, to) {
    for (const name of this.names) this[name][to] = this[name][from];
  }

  #grow(capacity) {
    for (const name of this.names) {
      const grown = new this.types[name](capacity);
      grown.set(this[name]);
      this[name] = grown;
    }
    this.capacity = capacity;
  }
}
