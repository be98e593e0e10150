// The bars on one server.

/** () -> {bars: the store's, rows: those on the server}; searched again only after new bars. */
export function ownBars(store, server) {
  let [rows, seen, generation] = [[], 0, -1];
  return () => {
    if (generation !== store.generation) [rows, seen, generation] = [[], 0, store.generation];
    for (; seen < store.bars.length; seen++) if (store.bars.server[seen] === server) rows.push(seen);
    return { bars: store.bars, rows };
  };
}
