// Reads twin/columns.py payloads: 'TWN1', uint32 header length, JSON header, then little-endian columns padded to 8 bytes.

const READERS = {
  '<f8': Float64Array, '<f4': Float32Array, '<i4': Int32Array, '<u4': Uint32Array, '<i2': Int16Array, '<u2': Uint16Array,
  '|i1': Int8Array, '|u1': Uint8Array, '|b1': Uint8Array,
};

/** {meta, columns: {name: typed array}} of an ArrayBuffer. int64 columns become Float64Array, exact up to 2^53. */
export function unpack(buffer) {
  const bytes = new Uint8Array(buffer);
  const magic = String.fromCharCode(...bytes.subarray(0, 4));
  if (magic !== 'TWN1') throw new Error(`not a column payload: it begins with ${JSON.stringify(magic)}, not "TWN1"`);
  const start = 8 + new DataView(buffer).getUint32(4, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, start)));
  const columns = {};
  for (const [name, dtype, shape, offset] of header.columns) {
    const count = shape.reduce((product, n) => product * n, 1);
    columns[name] = dtype === '<i8' ? int64(buffer, start + offset, count) : typed(buffer, dtype, start + offset, count, name);
  }
  return { meta: header.meta, columns };
}

function typed(buffer, dtype, offset, count, name) {
  const Type = READERS[dtype];
  if (!Type) throw new Error(`column ${name} has the type ${dtype}; known: ${Object.keys(READERS).join(', ')}, <i8`);
  return new Type(buffer, offset, count);
}

function int64(buffer, offset, count) {
  const view = new DataView(buffer, offset, count * 8);
  const out = new Float64Array(count);
  for (let i = 0; i < count; i++) out[i] = view.getInt32(i * 8 + 4, true) * 4294967296 + view.getUint32(i * 8, true);
  return out;
}
