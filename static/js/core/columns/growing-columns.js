// Columns of numbers that grow by doubling: the browser's counterpart of fold.py's Growing.

/** @typedef {Float64ArrayConstructor | Int32ArrayConstructor} ColumnType */

export class Columns {
  /**
   * Each column is this[name]; rows [0, length) are valid.
   *
   * @param {Record<string, ColumnType>} types
   */
  constructor(types, capacity = 1024) {
    this.types = types;
    this.names = Object.keys(types);
    this.length = 0;
    this.capacity = capacity;
    const columns = columnsOf(this);
    for (const name of this.names) columns[name] = new types[name](capacity);
  }

  /**
   * Makes room for `count` more rows and returns the number of the first; their content is the caller's to write.
   *
   * @param {number} count
   */
  extend(count) {
    const first = this.length;
    this.length += count;
    if (this.length > this.capacity) this.#grow(Math.max(this.length, 2 * this.capacity));
    return first;
  }

  /**
   * Uses complete columns, e.g. of a snapshot: {name: array}.
   *
   * @param {Record<string, ArrayLike<number>>} columns
   */
  load(columns) {
    this.length = columns[this.names[0]].length;
    this.capacity = Math.max(1024, this.length);
    const own = columnsOf(this);
    for (const name of this.names) {
      own[name] = new this.types[name](this.capacity);
      own[name].set(columns[name]);
    }
  }

  /**
   * Writes one value to all columns of a row.
   *
   * @param {number} row
   * @param {number} value
   */
  fill(row, value) {
    const columns = columnsOf(this);
    for (const name of this.names) columns[name][row] = value;
  }

  /**
   * @param {number} from
   * @param {number} to
   */
  copyRow(from, to) {
    const columns = columnsOf(this);
    for (const name of this.names) columns[name][to] = columns[name][from];
  }

  /** @param {number} capacity */
  #grow(capacity) {
    const columns = columnsOf(this);
    for (const name of this.names) {
      const grown = new this.types[name](capacity);
      grown.set(columns[name]);
      columns[name] = grown;
    }
    this.capacity = capacity;
  }
}

/**
 * The table as a record of its columns.
 *
 * @param {any} table
 * @returns {Record<string, Float64Array | Int32Array>}
 */
function columnsOf(table) {
  return table;
}
