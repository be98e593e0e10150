// Binary search in sorted arrays.

/**
 * The first position in [0, length) whose key is >= value; `length` when there is none. key(i) must not fall.
 *
 * @param {number} length
 * @param {number} value
 * @param {(i: number) => number} key
 */
export function lowerBound(length, value, key) {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (key(middle) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The first position in [0, length) whose key is > value.
 *
 * @param {number} length
 * @param {number} value
 * @param {(i: number) => number} key
 */
export function upperBound(length, value, key) {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (key(middle) <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}
