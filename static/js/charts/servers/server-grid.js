// The servers of a cluster as tiles, by site; chosen by click, by Ctrl-click, or by dragging a frame around them.

import { canvasRatio } from '../../ui/canvas-size.js';
import { STEPS, colors, onTheme, stepOf } from '../../util/colors.js';
import { percent, plural } from '../../util/format.js';
import { fill, h } from '../../ui/dom.js';
import { dashedFrame, outline, strike } from './server-tile.js';

const TILE = 18;
const GAP = 3;
const HEAD = 20;
const MARK = 6; // height of the mark of an edit on a tile that is coloured by its load
const MARKS = { added: 'added', removed: 'removed', away: 'unavailable', resized: 'resized' };

/** @typedef {{share: number, jobs: number, of: string, available: boolean}} Load of a server at the fork */

/** @param {Load | undefined} load */
function loadText(load) {
  if (load && !load.available) return 'unavailable at the fork';
  return load ? `${percent(load.share, 0)} of ${load.of} allocated at the fork, ${plural(load.jobs, 'job')}` : '';
}

export class ServerPicture {
  /** onChoose(names) is called with every new selection. */
  constructor(element, onChoose) {
    this.element = element;
    this.onChoose = onChoose;
    this.servers = [];
    this.marks = {};
    /** @type {Map<string, Load>} */
    this.loads = new Map();
    this.chosen = new Set();
    this.frame = null;
    this.canvas = h('canvas', { class: 'picture', tabindex: 0, role: 'img' });
    this.legend = h('p', { class: 'muted small legend' });
    this.#paintKey();
    element.replaceChildren(this.canvas, this.legend);
    this.canvas.addEventListener('pointerdown', (event) => this.#down(event));
    this.canvas.addEventListener('pointermove', (event) => this.#move(event));
    this.canvas.addEventListener('pointerup', (event) => this.#up(event));
    this.canvas.addEventListener('keydown', (event) => event.key === 'Escape' && this.#choose([]));
    new ResizeObserver(() => this.paint()).observe(element);
    onTheme(() => {
      this.#paintKey();
      this.paint();
    });
  }

  /** Colours the servers by what was allocated of them: Map of name -> Load; `of` is what `share` is a share of. */
  setLoads(loads) {
    this.loads = loads;
    this.#paintKey();
    this.paint();
  }

  /**
   * Paints the legend: the marks of edits, and the colours of the loads. Without loads, the mark of unchanged servers
   * replaces the colours.
   */
  #paintKey() {
    const key = (mark, text, css = {}) => h('span', {}, h('i', { class: `mark ${mark}`, css }), text, ' ');
    const marks = Object.entries(MARKS).map(([mark, text]) => key(mark === 'away' ? 'struck' : mark, text));
    const loads = () => [
      h('span', {}, 'Allocated at the fork:'),
      key('none', '0 %'),
      colors().steps.map((color, i) => key('', `up to ${((i + 1) * 100) / STEPS} %`, { background: color })),
    ];
    fill(this.legend, marks, this.loads.size ? loads() : key('same', 'unchanged'));
  }

  /** Selects the servers, as if by hand. @param {string[]} names */
  choose(names) {
    this.#choose(names);
  }

  /** servers: [{name, site, away}]; marks: {name: effect of the edits}. */
  set(servers, marks) {
    this.servers = servers;
    this.marks = marks;
    this.chosen = new Set([...this.chosen].filter((name) => servers.some((server) => server.name === name)));
    this.canvas.setAttribute(
      'aria-label',
      `${plural(servers.length, 'server')}, ${plural(Object.keys(marks).length, 'server')} ` +
        'changed by edits; the table has the same information',
    );
    this.paint();
  }

  paint() {
    const width = Math.max(120, this.element.clientWidth);
    this.columns = Math.max(1, Math.floor((width + GAP) / (TILE + GAP)));
    this.places = [];
    let y = 0;
    /** @type {[string, number][]} */
    const heads = [];
    for (const site of ['edge', 'cloud']) {
      const own = this.servers.filter((server) => server.site === site);
      if (!own.length) continue;
      heads.push([`${site === 'edge' ? 'Edge' : 'Cloud'}, ${plural(own.length, 'server')}`, y]);
      y += HEAD;
      own.forEach((server, i) =>
        this.places.push({
          server,
          x: (i % this.columns) * (TILE + GAP),
          y: y + Math.floor(i / this.columns) * (TILE + GAP),
        }),
      );
      y += Math.ceil(own.length / this.columns) * (TILE + GAP) + 8;
    }
    const ratio = canvasRatio();
    this.canvas.width = width * ratio;
    this.canvas.height = Math.max(1, y) * ratio;
    this.canvas.style.height = `${Math.max(1, y)}px`;
    const ctx = this.canvas.getContext('2d');
    const style = getComputedStyle(document.documentElement);
    const color = (name) => style.getPropertyValue(`--${name}`).trim();
    ctx.scale(ratio, ratio);
    ctx.font = '12px system-ui, sans-serif';
    ctx.textBaseline = 'middle';
    ctx.fillStyle = color('muted');
    for (const [text, top] of heads) ctx.fillText(text, 0, top + HEAD / 2);
    const { steps } = colors();
    const ofLoad = (load) => (load?.share > 0 ? steps[stepOf(load.share)] : color('band'));
    const fills = { added: color('good'), removed: 'transparent', resized: color('accent') };
    for (const { server, x, y: top } of this.places) {
      const mark = this.marks[server.name];
      const load = this.loads.get(server.name);
      const filled = this.loads.size ? ofLoad(load) : color('same');
      const change = fills[mark];
      ctx.fillStyle = change && (!this.loads.size || mark === 'removed') ? change : filled;
      ctx.fillRect(x, top, TILE, TILE);
      if (this.loads.size && !(load?.share > 0) && mark !== 'removed') outline(ctx, x, top, TILE, color('same'));
      if (change && mark !== 'removed' && this.loads.size) {
        ctx.fillStyle = change;
        ctx.fillRect(x, top + TILE - MARK, TILE, MARK);
      }
      if (mark === 'removed') dashedFrame(ctx, x, top, TILE, color('muted'));
      else if (mark === 'away' || (load && !load.available)) strike(ctx, x, top, TILE, color('bad'));
      if (this.chosen.has(server.name)) {
        ctx.strokeStyle = color('ink');
        ctx.lineWidth = 2;
        ctx.strokeRect(x + 1, top + 1, TILE - 2, TILE - 2);
      }
    }
    if (this.frame) {
      ctx.strokeStyle = color('accent');
      ctx.lineWidth = 1;
      ctx.setLineDash([4, 3]);
      const { x0, y0, x1, y1 } = this.frame;
      ctx.strokeRect(Math.min(x0, x1), Math.min(y0, y1), Math.abs(x1 - x0), Math.abs(y1 - y0));
    }
  }

  #local(event) {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  #at(x, y) {
    return this.places.find((place) => x >= place.x && x < place.x + TILE && y >= place.y && y < place.y + TILE)
      ?.server;
  }

  #down(event) {
    const [x, y] = this.#local(event);
    this.frame = { x0: x, y0: y, x1: x, y1: y };
    this.canvas.setPointerCapture(event.pointerId);
  }

  #move(event) {
    const [x, y] = this.#local(event);
    const server = this.#at(x, y);
    this.canvas.title = server
      ? [server.name, MARKS[this.marks[server.name]], loadText(this.loads.get(server.name))].filter(Boolean).join(', ')
      : '';
    if (!this.frame) return;
    Object.assign(this.frame, { x1: x, y1: y });
    this.paint();
  }

  #up(event) {
    if (!this.frame) return;
    const { x0, y0, x1, y1 } = this.frame;
    this.frame = null;
    const [left, right, top, bottom] = [Math.min(x0, x1), Math.max(x0, x1), Math.min(y0, y1), Math.max(y0, y1)];
    let names;
    if (right - left < 5 && bottom - top < 5) names = [this.#at(x1, y1)?.name].filter(Boolean);
    else
      names = this.places
        .filter((p) => p.x < right && p.x + TILE > left && p.y < bottom && p.y + TILE > top)
        .map(({ server }) => server.name);
    if (event.ctrlKey || event.metaKey) {
      const kept = new Set(this.chosen);
      for (const name of names) if (!kept.delete(name)) kept.add(name);
      names = [...kept];
    }
    this.#choose(names);
  }

  #choose(names) {
    this.chosen = new Set(names);
    this.paint();
    this.onChoose(names);
  }
}
