// Colours come from the CSS variables of the active theme; charts read them here and are notified when the theme
// changes.

export const JOB_COLORS = 8; // --job-0 .. --job-7: distinguishable with any colour vision (after Okabe and Ito)
export const STEPS = 5; // classes of a value that bars are coloured by

/**
 * Class of a share, from 0 on: the first one holds the shares up to 1 / STEPS.
 *
 * @param {number} share above 0, at most 1
 */
export const stepOf = (share) => Math.max(0, Math.min(STEPS, Math.ceil(share * STEPS)) - 1);
const RESOURCE_COLORS = ['--gpu', '--cpu', '--memory', '--storage', '--bandwidth'];

/** @typedef {[number, number, number]} Rgb */
/** @typedef {ReturnType<typeof ofTheme>} Palette */

/** @type {Palette | null} */
let cache = null;
/** @type {Element | null} */
let themed = null; // the element whose theme is read; the page itself if null
/** @type {Set<() => void>} */
const listeners = new Set();

/** The colours of the active theme. */
export function colors() {
  cache ??= ofTheme();
  return cache;
}

function ofTheme() {
  const style = getComputedStyle(themed ?? document.documentElement);
  /** @param {string} name */
  const read = (name) => style.getPropertyValue(name).trim();
  const jobs = Array.from({ length: JOB_COLORS }, (_, i) => read(`--job-${i}`));
  /** @type {Map<string, CanvasPattern | null>} */
  const patterns = new Map();
  return {
    ink: read('--ink'),
    muted: read('--muted'),
    line: read('--line'),
    panel: read('--panel'),
    accent: read('--accent'),
    accentInk: read('--accent-ink'),
    band: read('--band'),
    bad: read('--bad'),
    good: read('--good'),
    warn: read('--warn'),
    same: read('--same'),
    dark: read('color-scheme') === 'dark',
    jobs, // [JOB_COLORS]
    onJob: jobs.map(inkOn),
    resources: RESOURCE_COLORS.map(read), // [resource]
    ramp: ramp(rgb(read('--ramp-low')), rgb(read('--ramp-high'))),
    shades: ramp(rgb(read('--shade-low')), rgb(read('--shade-high'))), // of rows beside bars: no job has these
    shade: read('--shade-high'),
    steps: steps(rgb(read('--ramp-low')), rgb(read('--ramp-high'))),
    patterns,
  };
}

/**
 * Diagonal stripes in `color`: the mark of a parameter server, visible without colour.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {string} color
 */
export function stripes(context, color) {
  const { patterns, panel } = colors();
  if (!patterns.has(color)) {
    const tile = document.createElement('canvas');
    tile.width = tile.height = 6;
    const c = /** @type {CanvasRenderingContext2D} */ (tile.getContext('2d'));
    c.fillStyle = panel;
    c.fillRect(0, 0, 6, 6);
    c.globalAlpha = 0.35;
    c.fillStyle = color;
    c.fillRect(0, 0, 6, 6);
    c.globalAlpha = 1;
    c.strokeStyle = color;
    c.lineWidth = 2;
    c.beginPath();
    for (const shift of [-6, 0, 6]) {
      c.moveTo(shift - 1, 7);
      c.lineTo(shift + 7, -1);
    }
    c.stroke();
    patterns.set(color, context.createPattern(tile, 'repeat'));
  }
  return patterns.get(color) ?? color;
}

/** @param {() => void} listener */
export function onTheme(listener) {
  listeners.add(listener);
}

/**
 * Handles a change of the theme: colours are read again and every chart is notified.
 *
 * @param {Element | null} element whose theme charts take; the page itself if null
 */
export function themeChanged(element = null) {
  themed = element;
  cache = null;
  for (const listener of listeners) listener();
}

/**
 * #rrggbb -> [r, g, b]
 *
 * @param {string} hex
 * @returns {Rgb}
 */
export function rgb(hex) {
  const value = parseInt(hex.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

const EVEN = 0.197; // luminance on which both inks have the same contrast

/**
 * Ink that is readable on a colour: the ink with the higher contrast.
 *
 * @param {string} color
 */
export function inkOn(color) {
  return luminance(rgb(color)) > EVEN ? '#10161b' : '#ffffff';
}

/**
 * STEPS colours from low to high, '#rrggbb': for values in classes.
 *
 * @param {Rgb} low
 * @param {Rgb} high
 */
function steps(low, high) {
  /** @param {number} value */
  const two = (value) => Math.round(value).toString(16).padStart(2, '0');
  /** @param {number} share */
  const between = (share) => low.map((part, c) => two(part + (high[c] - part) * share)).join('');
  return Array.from({ length: STEPS }, (_, i) => `#${between((i + 0.6) / (STEPS - 0.4))}`);
}

/** @param {Rgb} color */
function luminance([r, g, b]) {
  const linear = [r, g, b].map((v) => ((v / 255 + 0.055) / 1.055) ** 2.4);
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
}

/**
 * 256 little-endian RGBA words: 0 = nothing allocated (transparent), then from low to high.
 *
 * @param {Rgb} low
 * @param {Rgb} high
 */
function ramp(low, high) {
  const words = new Uint32Array(256);
  for (let i = 1; i < 256; i++) {
    const share = i / 255;
    const [r, g, b] = [0, 1, 2].map((c) => Math.round(low[c] + (high[c] - low[c]) * share));
    words[i] = ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
  }
  return words;
}
