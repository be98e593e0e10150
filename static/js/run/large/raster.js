// The raster of a large run: allocation by group of servers and interval, with a time axis and the arrivals below.

import { canvasRatio } from '../../ui/canvas-size.js';
import { colors, onTheme } from '../../util/colors.js';
import { scaleTitle } from '../../charts/servers/server-map.js';
import { clock, lowered, plural, timeTicks } from '../../util/format.js';

const NONE = 255; // of a group without capacity
const FULL = 100;
const HEIGHT = 384; // of the raster, in CSS pixels
const AXIS = 22;
const CURVE = 56; // of the arrivals below the axis
const TICK_PX = 84; // between two ticks
const LABEL = 18; // height of the name of a site

const bytes = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));

/** {edges, rows, scale, cells: the shares in per cent, counted: of what} of an answer; cells row by row. */
function windowOf(found) {
  return { ...found, cells: bytes(found.raster), counted: bytes(found.counted), columns: found.edges.length - 1 };
}

/** The row and the interval at a point from 0 to 1; null outside. */
export function cellAt({ rows, columns, edges, cells, counted, scale }, x, y) {
  if (x < 0 || x >= 1 || y < 0 || y >= 1) return null;
  const [row, column] = [Math.floor(y * rows.length), Math.floor(x * columns)];
  const cell = row * columns + column;
  const share = cells[cell] === NONE ? null : cells[cell];
  return { ...rows[row], row, fromMs: edges[column], toMs: edges[column + 1], share, of: scale[counted[cell]] };
}

/** 'edge, 16 servers, 01:00:00 to 01:10:00: 83 % of GPU allocated'; of: the resource with the largest share. */
export function cellText({ site, servers, fromMs, toMs, share, of }) {
  const what = share ? `of ${lowered(scaleTitle(of))} ` : ''; // 0 % is the share of every resource
  const said = share === null ? 'no capacity' : `${share} % ${what}allocated`;
  return `${site}, ${plural(servers, 'server')}, ${clock(fromMs)} to ${clock(toMs)}: ${said}`;
}

/** The first row of each site, in the order of the rows: [{site, row}]. */
export function siteStarts(rows) {
  return rows.map(({ site }, row) => ({ site, row })).filter(({ site, row }) => site !== rows[row - 1]?.site);
}

export class Raster {
  /** onPoint(cell or null) is called as the pointer moves. */
  constructor(canvas, onPoint) {
    this.canvas = canvas;
    this.found = null;
    const point = ({ clientX, clientY }) => {
      const box = canvas.getBoundingClientRect();
      onPoint(this.found && cellAt(this.found, (clientX - box.x) / box.width, (clientY - box.y) / HEIGHT));
    };
    canvas.addEventListener('pointermove', point);
    canvas.addEventListener('pointerleave', () => onPoint(null));
    Object.assign(canvas.style, { display: 'block', width: '100%' });
    canvas.style.height = `${HEIGHT + AXIS + CURVE}px`;
    new ResizeObserver(() => this.paint()).observe(canvas);
    onTheme(() => this.paint());
  }

  /** Time at a place from 0 to 1 of the width. */
  timeAt(x) {
    const { edges } = this.found;
    return edges[0] + x * (edges.at(-1) - edges[0]);
  }

  show(found) {
    this.found = windowOf(found);
    this.paint();
  }

  paint() {
    const { canvas, found } = this;
    if (!found) return;
    const scale = canvasRatio();
    const width = canvas.clientWidth;
    canvas.width = width * scale;
    canvas.height = (HEIGHT + AXIS + CURVE) * scale;
    const context = canvas.getContext('2d');
    context.scale(scale, scale);
    context.imageSmoothingEnabled = false;
    context.drawImage(picture(found), 0, 0, width, HEIGHT);
    this.#sites(context, width);
    this.#axis(context, width);
    this.#curve(context, width);
    const [from, to] = [found.edges[0], found.edges.at(-1)];
    canvas.setAttribute(
      'aria-label',
      `Allocation of ${plural(found.rows.length, 'group')} of servers from ${clock(from)} to ${clock(to)}`,
    );
  }

  /** The name of each site at its first group, below a line. */
  #sites(context, width) {
    const { panel, ink, line } = colors();
    context.font = '11px sans-serif';
    context.textAlign = 'left';
    for (const { site, row } of siteStarts(this.found.rows)) {
      const y = Math.round((row * HEIGHT) / this.found.rows.length);
      context.fillStyle = line;
      context.fillRect(0, y, width, 1);
      context.fillStyle = panel;
      context.fillRect(0, y, context.measureText(site).width + 12, LABEL);
      context.fillStyle = ink;
      context.fillText(site, 6, y + 13);
    }
  }

  #axis(context, width) {
    const { edges } = this.found;
    const [from, to] = [edges[0], edges.at(-1)];
    context.fillStyle = colors().muted;
    context.font = '11px sans-serif';
    context.textAlign = 'center';
    const { step, ticks } = timeTicks(from, to, Math.max(2, width / TICK_PX));
    for (const at of ticks) {
      const x = ((at - from) / (to - from)) * width;
      context.fillRect(x, HEIGHT, 1, 4);
      if (x > TICK_PX / 3 && x < width - TICK_PX / 3) context.fillText(clock(at, step), x, HEIGHT + 16);
    }
  }

  /** Arrivals in each interval; intervals of nearly equal length. */
  #curve(context, width) {
    const { arrived } = this.found.curves;
    const most = Math.max(1, ...arrived);
    context.fillStyle = colors().accent;
    arrived.forEach((count, column) => {
      const height = (count / most) * (CURVE - 4);
      const x = (column / arrived.length) * width;
      context.fillRect(x, HEIGHT + AXIS + CURVE - height, Math.max(1, width / arrived.length), height);
    });
  }
}

/** The cells as a picture of one pixel each. */
function picture({ cells, rows, columns }) {
  const canvas = document.createElement('canvas');
  canvas.width = columns;
  canvas.height = rows.length;
  const context = canvas.getContext('2d');
  const image = context.createImageData(columns, rows.length);
  const words = new Uint32Array(image.data.buffer);
  const { ramp } = colors();
  cells.forEach((share, i) => {
    if (share && share !== NONE) words[i] = ramp[Math.max(1, Math.round((share * (ramp.length - 1)) / FULL))];
  });
  context.putImageData(image, 0, 0);
  return canvas;
}
