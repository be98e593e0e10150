// The colours of both themes, from the variables of base.css: texts have enough contrast (WCAG 2 AA), and the colours
// of jobs and resources are far enough apart, also for eyes without red, green or blue cones.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { inkOn, stepOf } from '../../../static/js/util/colors.js';

const CSS = readFileSync(new URL('../../../static/css/base.css', import.meta.url), 'utf8');
const TEXT = 4.5; // WCAG 2 AA, text of normal size
const MARK = 2.2; // of a bar on its panel; bars also have their place, gaps and names
const APART = 12; // CIEDE2000: 1 is barely visible side by side

const SELECTORS = { light: ':root, [data-theme="light"] {', dark: '  [data-theme="dark"] {' };
const BACKGROUNDS = ['page', 'panel', 'band'];
const TEXTS = ['ink', 'muted', 'accent', 'good', 'bad', 'warn'];
const JOBS = Array.from({ length: 8 }, (_, job) => `job-${job}`);
const RESOURCES = ['gpu', 'cpu', 'memory', 'storage', 'bandwidth'];

/** Simulations of Machado, Oliveira and Fernandes (2009) at full severity, in linear RGB. */
const VISIONS = {
  'normal vision': [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

/** The variables of a theme: {name: '#rrggbb'}. */
function variables(theme) {
  const begin = CSS.indexOf(`\n${SELECTORS[theme]}`);
  assert.ok(begin >= 0, `base.css has no rule ${SELECTORS[theme]}`);
  const rule = CSS.slice(begin, CSS.indexOf('}', begin));
  return Object.fromEntries([...rule.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, name, value]) => [name, value]));
}

const linear = (hex) =>
  [1, 3, 5].map((at) => {
    const value = parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
const times = (matrix, color) => matrix.map((row) => row.reduce((sum, part, c) => sum + part * color[c], 0));
const seen = (hex, vision) => times(VISIONS[vision], linear(hex)).map((part) => Math.min(1, Math.max(0, part)));
const luminance = (hex) => times([[0.2126, 0.7152, 0.0722]], linear(hex))[0];

function contrast(one, other) {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

/** Linear RGB as CIELAB under D65. */
function lab(color) {
  const [x, y, z] = times(
    [
      [0.4124564, 0.3575761, 0.1804375],
      [0.2126729, 0.7151522, 0.072175],
      [0.0193339, 0.119192, 0.9503041],
    ],
    color,
  ).map((value, c) => {
    const t = value / [0.95047, 1, 1.08883][c];
    return t > 216 / 24389 ? Math.cbrt(t) : ((24389 / 27) * t + 16) / 116;
  });
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

const degrees = (radians) => (radians * 180) / Math.PI;
const radians = (angle) => (angle * Math.PI) / 180;

/** CIEDE2000 of two colours in CIELAB (Sharma, Wu and Dalal, 2005). */
function difference([l1, a1, b1], [l2, a2, b2]) {
  const mean = (Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2;
  const g = 0.5 * (1 - Math.sqrt(mean ** 7 / (mean ** 7 + 25 ** 7)));
  const [p1, p2] = [a1 * (1 + g), a2 * (1 + g)];
  const [c1, c2] = [Math.hypot(p1, b1), Math.hypot(p2, b2)];
  const hue = (a, b) => (a || b ? (degrees(Math.atan2(b, a)) + 360) % 360 : 0);
  const [h1, h2] = [hue(p1, b1), hue(p2, b2)];
  const turn = c1 * c2 ? ((h2 - h1 + 540) % 360) - 180 : 0;
  const dh = 2 * Math.sqrt(c1 * c2) * Math.sin(radians(turn / 2));
  const [l, c] = [(l1 + l2) / 2, (c1 + c2) / 2];
  const far = Math.abs(h1 - h2) > 180;
  const h = c1 * c2 ? (h1 + h2 + (far ? (h1 + h2 < 360 ? 360 : -360) : 0)) / 2 : h1 + h2;
  const cos = (factor, shift) => Math.cos(radians(factor * h + shift));
  const t = 1 - 0.17 * cos(1, -30) + 0.24 * cos(2, 0) + 0.32 * cos(3, 6) - 0.2 * cos(4, -63);
  const sl = 1 + (0.015 * (l - 50) ** 2) / Math.sqrt(20 + (l - 50) ** 2);
  const [sc, sh] = [1 + 0.045 * c, 1 + 0.015 * c * t];
  const rotation = 2 * Math.sqrt(c ** 7 / (c ** 7 + 25 ** 7));
  const rt = -Math.sin(radians(60 * Math.exp(-(((h - 275) / 25) ** 2)))) * rotation;
  const [dl, dc, d] = [(l2 - l1) / sl, (c2 - c1) / sc, dh / sh];
  return Math.sqrt(dl ** 2 + dc ** 2 + d ** 2 + rt * dc * d);
}

/** [distance, name, name] of the two colours that are nearest to each other. */
function nearest(colors, names, vision) {
  const seenAs = names.map((name) => lab(seen(colors[name], vision)));
  let least = [Infinity, '', ''];
  for (let i = 0; i < names.length; i++)
    for (let j = 0; j < i; j++) {
      const away = difference(seenAs[i], seenAs[j]);
      if (away < least[0]) least = [away, names[j], names[i]];
    }
  return least;
}

test('the computation agrees with published values', () => {
  assert.ok(Math.abs(contrast('#777777', '#ffffff') - 4.48) < 0.005);
  assert.equal(contrast('#000000', '#ffffff'), 21);
  // pairs 1, 7, 9 and 25 of Sharma, Wu and Dalal
  for (const [one, other, expected] of [
    [[50, 2.6772, -79.7751], [50, 0, -82.7485], 2.0425],
    [[50, 0, 0], [50, -1, 2], 2.3669],
    [[50, 2.49, -0.001], [50, -2.49, 0.0009], 7.1792],
    [[60.2574, -34.0099, 36.2677], [60.4626, -34.1751, 39.4387], 1.2644],
  ])
    assert.ok(Math.abs(difference(one, other) - expected) < 1e-4, `${difference(one, other)} is not ${expected}`);
  // pure red and a dark green that eyes without red cones confuse, and the same colours for normal eyes
  const pair = { a: '#ff0000', b: '#5e5500' };
  assert.ok(nearest(pair, ['a', 'b'], 'protanopia')[0] < APART);
  assert.ok(nearest(pair, ['a', 'b'], 'normal vision')[0] > 2 * APART);
});

for (const theme of ['light', 'dark']) {
  const colors = variables(theme);

  test(`the ${theme} theme: text has a contrast of ${TEXT} on every background`, () => {
    const low = TEXTS.flatMap((name) => BACKGROUNDS.map((on) => [name, on, contrast(colors[name], colors[on])]));
    for (const on of ['accent', 'bad']) low.push(['accent-ink', on, contrast(colors['accent-ink'], colors[on])]);
    assert.deepEqual(
      low.filter(([, , found]) => !(found >= TEXT)),
      [],
    );
  });

  test(`the ${theme} theme: colours of jobs and resources stand out from the panel`, () => {
    const low = [...JOBS, ...RESOURCES].map((name) => [name, contrast(colors[name], colors.panel)]);
    assert.deepEqual(
      low.filter(([, found]) => !(found >= MARK)),
      [],
    );
  });

  test(`the ${theme} theme: the text in the bar of a job has a contrast of ${TEXT}`, () => {
    const low = JOBS.map((name) => [name, contrast(colors[name], inkOn(colors[name]))]);
    assert.deepEqual(
      low.filter(([, found]) => !(found >= TEXT)),
      [],
    );
  });

  for (const vision of Object.keys(VISIONS))
    test(`the ${theme} theme: no two colours of jobs, or of resources, are too close for ${vision}`, () => {
      for (const names of [JOBS, RESOURCES]) {
        const [away, one, other] = nearest(colors, names, vision);
        assert.ok(away >= APART, `--${one} and --${other} are ${away.toFixed(1)} apart, less than ${APART}`);
      }
    });
}

for (const theme of ['light', 'dark'])
  test(`the ${theme} theme: no shade of rows is the colour of a job`, () => {
    const colors = variables(theme);
    const [low, high] = ['shade-low', 'shade-high'].map((name) => lab(linear(colors[name])));
    const close = JOBS.flatMap((job) =>
      [0, 0.25, 0.5, 0.75, 1].map((share) => {
        const shade = low.map((part, i) => part + share * (high[i] - part));
        return [job, share, difference(lab(linear(colors[job])), shade)];
      }),
    );
    assert.deepEqual(
      close.filter(([, , away]) => !(away >= APART)),
      [],
    );
  });

test('a share has the class whose legend says "up to" it', () => {
  const shares = [0.001, 0.199, 0.2, 0.201, 0.4, 0.6, 0.8, 0.801, 1];
  assert.deepEqual(shares.map(stepOf), [0, 0, 0, 1, 1, 2, 3, 4, 4]);
});
