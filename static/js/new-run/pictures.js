// Small pictures of the cards: the arrivals of a trace, the servers of a cluster, and the execution models.

import { get } from '../core/api.js';
import { logError } from '../core/client-errors.js';
import { fill, h, s } from '../ui/dom.js';
import { duration, number, plural } from '../util/format.js';
import { repeatAfter } from '../util/poll.js';

const [WIDTH, HEIGHT] = [168, 36];
const TILE = 7; // of a square of servers, with its gap
const COLUMNS = Math.floor(WIDTH / TILE);
const MAX_TILES = 2 * COLUMNS; // of a site
const SHADES = 4;

/** Calls `draw` when the element is first seen; while it fails, the line says why. */
function whenSeen(element, line, draw) {
  const attempt = () =>
    draw().catch((error) => {
      logError(error);
      fill(line, `Not loaded: ${error.message}`);
      repeatAfter(error, () => element.isConnected && attempt());
    });
  const watch = new IntersectionObserver((entries) => {
    if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
    watch.disconnect();
    attempt();
  });
  watch.observe(element);
}

/** The load curve of a trace: {picture, line}, filled when they are seen. @param {number} id */
export function arrivals(id) {
  const picture = s('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', 'aria-hidden': 'true' });
  const line = h('span', {}, '\u00a0');
  whenSeen(picture, line, async () => {
    const card = await get(`/api/traces/${id}/card/`);
    picture.replaceChildren(s('path', { d: card.picture.bars }));
    fill(line, `${plural(card.jobs, 'job')}, ${arrivalsText(card.span_ms)}`);
  });
  return { picture, line };
}

/** Picture of how the arrivals are spread. @param {number} span in ms */
export const arrivalsText = (span) => (span > 0 ? `arrivals over ${duration(span)}` : 'all arrive at once');

/**
 * Squares of a site: {shade (0 to SHADES - 1), servers} of each; a square is `each` servers, the last of a shade fewer.
 *
 * @param {{ servers: number, kinds: { servers: number, gpu: number, cpu: number }[] }} site
 */
export function tiles({ servers, kinds }) {
  const each = Math.ceil(servers / MAX_TILES);
  const amounts = kinds.some(({ gpu }) => gpu) ? kinds.map(({ gpu }) => gpu) : kinds.map(({ cpu }) => cpu);
  const most = Math.max(...amounts, 1e-9);
  const shadeOf = (amount) => Math.min(SHADES - 1, Math.floor((amount / most) * SHADES));
  const counts = new Map(); // shade -> servers: sampled kinds can have one server each
  kinds.forEach((kind, i) => {
    const shade = shadeOf(amounts[i]);
    counts.set(shade, (counts.get(shade) ?? 0) + kind.servers);
  });
  return [...counts].flatMap(([shade, count]) =>
    Array.from({ length: Math.ceil(count / each) }, (_, n) => ({ shade, servers: Math.min(each, count - n * each) })),
  );
}

/** The servers of a cluster by site: {picture, line}. @param {number} id */
export function servers(id) {
  const picture = h('span', { class: 'site-tiles', 'aria-hidden': 'true' });
  const line = h('span', {}, '\u00a0');
  whenSeen(picture, line, async () => {
    const { sites } = await get(`/api/clusters/${id}/card/`);
    fill(picture, sites.map(siteRow));
    const text = (site) => `${number(site.servers, 0)} ${site.site}${site.gpus ? ` (${number(site.gpus)} GPU)` : ''}`;
    fill(line, sites.map(text).join(', '));
  });
  return { picture, line };
}

function siteRow(site) {
  const squares = tiles(site);
  const rows = Math.ceil(squares.length / COLUMNS);
  const box = { viewBox: `0 0 ${WIDTH} ${rows * TILE}`, class: 'site', preserveAspectRatio: 'xMinYMin meet' };
  return s(
    'svg',
    box,
    squares.map(({ shade }, i) =>
      s('rect', {
        x: (i % COLUMNS) * TILE,
        y: Math.floor(i / COLUMNS) * TILE,
        width: TILE - 1.5,
        height: TILE - 1.5,
        class: `shade-${shade}`,
      }),
    ),
  );
}

/** Picture of how jobs hold servers under an execution model. @param {{picture: number[][]}} head */
export function glyph({ picture }) {
  const rects = picture.map(([x, y, width, height]) => s('rect', { x, y, width, height }));
  return s('svg', { viewBox: '0 0 28 17', class: 'glyph', 'aria-hidden': 'true' }, rects);
}
