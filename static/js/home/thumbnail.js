// The thumbnail of a run on a small canvas: groups of servers from top to bottom, the unlimited cloud below them; time
// from left to right.

import { colors } from '../util/colors.js';
import { duration, plural } from '../util/format.js';
import { runTime } from '../util/wall-clock.js';

const NONE = 255; // of a group that has nothing of what is counted
const FULL = 100;
const UNLIMITED = 'unlimited'; // site of the row of the unlimited cloud
const PALE = 0.45; // of what is planned

/** Bytes of the raster of a thumbnail. */
export const cellsOf = ({ raster }) => Uint8Array.from(atob(raster), (char) => char.charCodeAt(0));

/** Places of the rows in the picture, with an empty line between two sites: [y of each row], and the height. */
export function lines(rows) {
  let y = -1;
  const at = rows.map(({ site }, i) => (y += i > 0 && site !== rows[i - 1].site ? 2 : 1));
  return { at, height: Math.max(1, y + 1) };
}

/** Share of the width that lies before the newest time; 1 where nothing is planned. */
export const passed = ({ sim_ms: at, from_ms: from, to_ms: to }) => Math.min(1, Math.max(0, (at - from) / (to - from)));

/** Content of the picture, in words; beganAt: as for runTime(). */
export function said({ from_ms: from, sim_ms: at, to_ms: to, columns, rows }, beganAt) {
  const clock = (ms) => runTime(ms, beganAt);
  const servers = rows.reduce((sum, row) => sum + row.servers, 0);
  const groups = rows.filter(({ site }) => site !== UNLIMITED);
  const cloud = groups.length < rows.length ? '; last row: workers in the unlimited cloud, relative to their peak' : '';
  const planned = to > at ? `, planned to ${clock(to)}` : '';
  return (
    `Allocation of ${plural(servers, 'server')} from ${clock(from)} to ${clock(Math.min(at, to))}${planned}; ` +
    `${plural(groups.length, 'row')} of up to ${groups[0]?.servers ?? 0}, columns of ` +
    `${duration((to - from) / columns)}${cloud}`
  );
}

/** Paints the raster, one pixel a cell; the canvas is stretched by its style. */
export function paintThumbnail(canvas, found) {
  const { at, height } = lines(found.rows);
  const { columns } = found;
  const { ramp } = colors();
  const cells = cellsOf(found);
  canvas.width = columns;
  canvas.height = height;
  const context = canvas.getContext('2d');
  const image = context.createImageData(columns, height);
  const words = new Uint32Array(image.data.buffer);
  const now = passed(found) * columns;
  at.forEach((y, row) => {
    for (let column = 0; column < columns; column++) {
      const share = cells[row * columns + column];
      if (share === 0 || share === NONE) continue;
      const word = ramp[Math.max(1, Math.round((share * (ramp.length - 1)) / FULL))];
      words[y * columns + column] = column < now ? word : faded(word);
    }
  });
  context.putImageData(image, 0, 0);
}

/** The pixel with a part of its opacity. */
const faded = (word) => ((word & 0xffffff) | (Math.round((word >>> 24) * PALE) << 24)) >>> 0;
