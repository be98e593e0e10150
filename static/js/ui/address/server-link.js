// Address of the page of a server, with the time and the range that the present page shows.

const RANGE = ['from', 'to'];

/**
 * @param {number} run
 * @param {number} server
 * @param {number | null} then the time shown; null for the newest
 */
export function serverLink(run, server, then) {
  const shown = new URLSearchParams(location.search);
  const kept = RANGE.filter((name) => shown.has(name)).map((name) => [name, String(shown.get(name))]);
  const query = new URLSearchParams(then === null ? kept : [['t', String(Math.round(then))], ...kept]);
  return `/runs/${run}/servers/${server}/${query.size ? `?${query}` : ''}`;
}
