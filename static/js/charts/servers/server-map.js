// The servers of a cluster as a dense grid, by site, coloured by how much of each is allocated.

import { Tip, tipElement } from '../../ui/tooltip.js';
import { fill, h, pixelRatio } from '../../ui/dom.js';
import { STEPS, colors, onTheme, stepOf } from '../../util/colors.js';
import { capital, percent, plural } from '../../util/format.js';
import { outline, strike, thickFrame } from './server-tile.js';

// px of a square: the largest with which the grid is low enough
const SIZES = [72, 60, 48, 40, 32, 26, 22, 18, 14, 10, 7, 5, 3];
const OUTLINED = 5; // px of a square, above which it can have an outline
const MAX_SQUARE = 18; // unless the style of the map has --max-square
const MAX_HEIGHT = 300; // unless the style of the map has a max-height
const HEAD = 20;
export const PER_MILLE = 1000;
const TITLES = { gpu: 'GPU', cpu: 'vCPU', memory: 'Memory', storage: 'Storage', bandwidth: 'Bandwidth' };
const WHOLE = { workers: 'the typed workers', machines: 'the machine' };
export const AVAILABLE = 0;
const AWAY = 1; // for a time
const GONE = 2; // removed, by an edit or from a real cluster: not shown
export const SCARCEST = 'most'; // colour by the resource of which the largest share is allocated

/** Title of what is counted: 'GPU', 'Typed workers', 'Machines'. */
export const scaleTitle = (name) => TITLES[name] ?? (name === 'workers' ? 'Typed workers' : 'Machines');

/** [server] share in per mille by which a server is coloured; -1 where it has none of it. */
export function colouredBy({ scale, servers }, by) {
  const place = scale.indexOf(by);
  if (place >= 0) return servers.shares[place];
  return servers.name.map((_, i) => Math.max(-1, ...servers.shares.map((shares) => shares[i])));
}

/** [server] true if it holds more than its capacity of what it is coloured by, or only what it has no capacity of. */
export function beyondWhole({ scale, servers }, by) {
  const shares = colouredBy({ scale, servers }, by);
  const own = (i) => servers.shares.map((each) => each[i]);
  const without = (i) => servers.jobs[i] > 0 && own(i).includes(-1) && own(i).every((share) => share <= 0);
  return shares.map((share, i) => share > PER_MILLE || (by === SCARCEST && without(i)));
}

/** Lines of the tooltip of a server. */
export function serverLines({ scale, servers }, i) {
  const jobs = servers.jobs[i];
  const shares = scale.map((name, s) => [name, servers.shares[s][i]]).filter(([, share]) => share >= 0);
  return [
    [`${servers.name[i]}, ${servers.site[i]}`, servers.state[i] !== AVAILABLE ? 'unavailable' : plural(jobs, 'job')],
    ...shares.map(([name, share]) => [scaleTitle(name), percent(share / PER_MILLE, 1)]),
  ];
}

/** Indexes of the servers that have not been removed. */
export const shownServers = ({ servers }) => servers.name.map((_, i) => i).filter((i) => servers.state[i] !== GONE);

/**
 * The places of the squares: {size, width, height, heads: [[text, y]], at: [[x, y]] of each server that is `shown`}.
 */
export function layout(
  sites,
  width,
  shown = sites.map((_, i) => i),
  { maxSquare = MAX_SQUARE, maxHeight = MAX_HEIGHT } = {},
) {
  for (const size of SIZES.filter((px) => px <= maxSquare)) {
    const gap = size > 5 ? 3 : 1;
    const columns = Math.max(1, Math.floor((width + gap) / (size + gap)));
    /** @type {[string, number][]} */
    const heads = [];
    const at = new Array(sites.length);
    let y = 0;
    for (const site of new Set(shown.map((i) => sites[i]))) {
      const own = shown.filter((i) => sites[i] === site);
      heads.push([`${capital(site)}, ${plural(own.length, 'server')}`, y]);
      y += HEAD;
      own.forEach((i, n) => (at[i] = [(n % columns) * (size + gap), y + Math.floor(n / columns) * (size + gap)]));
      y += Math.ceil(own.length / columns) * (size + gap) + 6;
    }
    if (y <= maxHeight || size === SIZES.at(-1)) return { size, width, height: Math.max(1, y), heads, at };
  }
  return null;
}

/** The largest square and the height of a map, by its style; the wall has room for more. */
function limitsOf(canvas) {
  const style = getComputedStyle(canvas);
  return {
    maxSquare: Number(style.getPropertyValue('--max-square')) || MAX_SQUARE,
    maxHeight: parseFloat(style.maxHeight) || MAX_HEIGHT,
  };
}

export class ServerMap {
  /** onPick(index of a server) after a click. */
  constructor(element, onPick) {
    this.element = element;
    this.onPick = onPick;
    this.load = null;
    this.by = SCARCEST;
    this.canvas = h('canvas', { class: 'server-map', tabindex: 0, role: 'img' });
    this.tip = new Tip(tipElement());
    this.legend = h('p', { class: 'muted small map-legend' });
    element.replaceChildren(this.canvas, this.tip.element, this.legend);
    this.canvas.addEventListener('pointermove', (event) => this.#hover(event));
    this.canvas.addEventListener('pointerleave', () => this.tip.hide());
    this.canvas.addEventListener('click', (event) => {
      const found = this.#at(event);
      if (found >= 0) this.onPick(found);
    });
    new ResizeObserver(() => this.paint()).observe(element);
    onTheme(() => this.load && this.set(this.load));
  }

  /** load: the part of that name of a situation. */
  set(load) {
    this.load = load;
    const { servers, measure } = load;
    const busy = servers.jobs.filter((jobs) => jobs > 0).length;
    this.canvas.setAttribute(
      'aria-label',
      `${plural(shownServers(load).length, 'server')}, ${busy} with jobs, ` +
        `${servers.state.filter((state) => state === AWAY).length} unavailable; the table has the same information`,
    );
    const of = WHOLE[measure] ?? (this.by === SCARCEST ? 'the most allocated resource' : scaleTitle(this.by));
    fill(
      this.legend,
      `Colour: allocated share of ${of}`,
      h('span', {}, h('i', { class: 'step none' }), '0 %'),
      colors().steps.map((color, i) =>
        h('span', {}, h('i', { class: 'step', css: { background: color } }), `up to ${((i + 1) * 100) / STEPS} %`),
      ),
      this.#beyond().includes(true) ? h('span', {}, h('i', { class: 'step beyond' }), 'over 100 %') : null,
      servers.state.includes(AWAY) ? h('span', {}, h('i', { class: 'step struck' }), 'unavailable') : null,
    );
    this.paint();
  }

  paint() {
    if (!this.load) return;
    const { servers } = this.load;
    const width = Math.max(120, this.element.clientWidth);
    const places = layout(servers.site, width, shownServers(this.load), limitsOf(this.canvas));
    this.places = places;
    const ratio = pixelRatio(this.canvas);
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(places.height * ratio);
    this.canvas.style.height = `${places.height}px`;
    const ctx = this.canvas.getContext('2d');
    const { steps, band, same, muted, bad, warn } = colors();
    ctx.scale(ratio, ratio);
    ctx.font = '12px system-ui, sans-serif';
    ctx.textBaseline = 'middle';
    ctx.fillStyle = muted;
    for (const [text, y] of places.heads) ctx.fillText(text, 0, y + HEAD / 2);
    const shares = colouredBy(this.load, this.by);
    const beyond = this.#beyond();
    places.at.forEach(([x, y], i) => {
      ctx.fillStyle = shares[i] > 0 ? steps[stepOf(shares[i] / PER_MILLE)] : band;
      ctx.fillRect(x, y, places.size, places.size);
      if (shares[i] <= 0 && places.size > OUTLINED) outline(ctx, x, y, places.size, same);
      if (beyond[i]) thickFrame(ctx, x, y, places.size, warn);
      if (servers.state[i] === AWAY) strike(ctx, x, y, places.size, bad);
    });
  }

  /** [server] true if it is available and holds more than there is. */
  #beyond() {
    const { state } = this.load.servers;
    return beyondWhole(this.load, this.by).map((each, i) => each && state[i] === AVAILABLE);
  }

  #at(event) {
    if (!this.places) return -1;
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const { at, size } = this.places;
    const inside = ([left, top]) => x >= left && x < left + size && y >= top && y < top + size;
    return at.findIndex((place) => place && inside(place)); // removed servers have no place
  }

  #hover(event) {
    const found = this.#at(event);
    this.canvas.style.cursor = found >= 0 ? 'pointer' : 'default';
    if (found < 0) return this.tip.hide();
    const box = this.canvas.getBoundingClientRect();
    this.tip.show(serverLines(this.load, found), event.clientX - box.left, event.clientY - box.top, this.canvas);
  }
}
