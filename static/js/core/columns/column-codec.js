// Decoder of the payloads of twin/infra/columns.py: 'TWN1', uint32 header length, JSON header, then little-endian
// columns padded to 8 bytes. A compact column also has a base and a step: each value is base + step x stored, and where
// all are equal nothing is stored.

/** @typedef {{meta: any, columns: Record<string, ArrayLike<number>>}} Payload */

/** @type {Record<string, new (buffer: ArrayBuffer, offset: number, count: number) => ArrayLike<number>>} */
const READERS = {
  '<f8': Float64Array,
  '<f4': Float32Array,
  '<i4': Int32Array,
  '<u4': Uint32Array,
  '<i2': Int16Array,
  '<u2': Uint16Array,
  '|i1': Int8Array,
  '|u1': Uint8Array,
  '|b1': Uint8Array,
};

/**
 * {meta, columns: {name: typed array}} of an ArrayBuffer. int64 columns become Float64Array, exact up to 2^53.
 *
 * @param {ArrayBuffer} buffer
 * @returns {Payload}
 */
export function unpack(buffer) {
  const bytes = new Uint8Array(buffer);
  const magic = String.fromCharCode(...bytes.subarray(0, 4));
  if (magic !== 'TWN1') throw new Error(`not a column payload: it begins with ${JSON.stringify(magic)}, not "TWN1"`);
  const start = 8 + new DataView(buffer).getUint32(4, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, start)));
  /** @type {Payload['columns']} */
  const columns = {};
  for (const [name, dtype, shape, offset, base, step] of header.columns) {
    const count = shape.reduce((/** @type {number} */ product, /** @type {number} */ n) => product * n, 1);
    if (dtype === '') columns[name] = new Float64Array(count).fill(base);
    else {
      const read = dtype === '<i8' || dtype === '<u8' ? int64 : typed(dtype, name);
      const stored = read(buffer, start + offset, count);
      columns[name] = step === undefined ? stored : Float64Array.from(stored, (value) => base + step * value);
    }
  }
  return { meta: header.meta, columns };
}

/**
 * @param {string} dtype
 * @param {string} name of the column
 * @returns {(buffer: ArrayBuffer, offset: number, count: number) => ArrayLike<number>}
 */
function typed(dtype, name) {
  const Type = READERS[dtype];
  if (!Type) throw new Error(`column ${name} has the type ${dtype}; known: ${Object.keys(READERS).join(', ')}, <i8`);
  return (buffer, offset, count) => new Type(buffer, offset, count);
}

/**
 * @param {ArrayBuffer} buffer
 * @param {number} offset
 * @param {number} count
 */
function int64(buffer, offset, count) {
  const view = new DataView(buffer, offset, count * 8);
  const out = new Float64Array(count);
  for (let i = 0; i < count; i++) out[i] = view.getInt32(i * 8 + 4, true) * 4294967296 + view.getUint32(i * 8, true);
  return out;
}

/**
 * The columns whose names begin with the prefix, under the rest of their names.
 *
 * @param {Record<string, ArrayLike<number>>} columns
 * @param {string} prefix
 */
export function withPrefix(columns, prefix) {
  /** @type {Record<string, ArrayLike<number>>} */
  const out = {};
  for (const name of Object.keys(columns)) {
    if (name.startsWith(prefix)) out[name.slice(prefix.length)] = columns[name];
  }
  return out;
}
