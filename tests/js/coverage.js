// A reporter of node's test runner: the share of the lines of static/js that the unit tests ran, room by room. A module
// that no test imports counts with all its lines, none of which ran; that it counts at all is why node's own table is
// not used.

import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../static/js/', import.meta.url));
const HAPPY_DOM = fileURLToPath(new URL('../../node_modules/happy-dom', import.meta.url));
const TARGET = 60; // percent; fewer fail

export default async function* report(events) {
  for await (const { type, data } of events) {
    if (type !== 'test:coverage') continue;
    const rooms = byRoom(data.summary.files);
    yield text(rooms);
    const short = shortfall(rooms);
    if (short.startsWith('The unit')) process.exitCode = 1;
    yield short;
  }
}

/** room -> [lines that ran, lines] of static/js. */
function byRoom(files) {
  const covered = new Map(files.map((file) => [file.path, file]));
  const rooms = new Map();
  for (const name of readdirSync(ROOT, { recursive: true })
    .filter((file) => file.endsWith('.js'))
    .sort()) {
    const file = covered.get(ROOT + name);
    const room = name.includes('/') ? name.slice(0, name.indexOf('/')) : '.';
    const [ran, lines] = rooms.get(room) ?? [0, 0];
    const all =
      file?.totalLineCount ??
      readFileSync(ROOT + name, 'utf8')
        .trimEnd()
        .split('\n').length;
    rooms.set(room, [ran + (file?.coveredLineCount ?? 0), lines + all]);
  }
  return rooms;
}

/**
 * Reason for which the tests fail, if fewer lines ran than the target; '' if enough did, or if pages cannot be opened.
 */
function shortfall(rooms) {
  const [ran, lines] = [0, 1].map((place) => [...rooms.values()].reduce((sum, counts) => sum + counts[place], 0));
  const share = (100 * ran) / lines;
  if (share >= TARGET) return '';
  if (!existsSync(HAPPY_DOM))
    return 'The target is not checked: happy-dom is not installed, and tests of pages were skipped.\n';
  return `The unit tests ran ${share.toFixed(1)} % of the lines of static/js; the target is ${TARGET} %.\n`;
}

function text(rooms) {
  const sum = (place) => [...rooms.values()].reduce((total, counts) => total + counts[place], 0);
  const row = (name, ran, lines) =>
    `${name.padEnd(12)}${((100 * ran) / lines).toFixed(1).padStart(6)} % of ${lines} lines\n`;
  const table = [...rooms].map(([name, [ran, lines]]) => row(name, ran, lines)).join('');
  return `\nLines of static/js that the unit tests ran (target: ${TARGET} %)\n${table}${row('all', sum(0), sum(1))}`;
}
