// A chart as a PNG file or on paper: with its title, its legend with values, its notes, and its source.

import { $, $$, h } from '../dom.js';
import { atPictureWidth } from './paper.js';

const LINE_PX = 18;
const SOURCE_PX = 15; // a line of the source
const EDGE_PX = 10;
const SWATCH_PX = 14;
const RAMP_PX = 60; // width of the scale of shades
const MARK_PX = 9; // height of a mark without its own

/** id: of the canvas; its panel's button Table gets a neighbour. */
export function pictureButton(id, filename) {
  $(`#${id}-table`).before(
    h(
      'button',
      {
        type: 'button',
        class: 'quiet',
        title: 'Save as PNG',
        onclick: () => savePicture($(`#${id}`).closest('section'), filename),
      },
      'PNG',
    ),
  );
}

/** Source of a picture: the page, what it shows, and its address. */
export function sourceText(shown = '') {
  const subject = document.title.split(' · ').slice(0, 2).join(', ');
  return [`Source: ${subject}`, shown, location.href].filter(Boolean).join('; ');
}

/**
 * [[mark or null, text]] of the legend of a panel: its curves with their values, or its marks.
 *
 * @returns {any[]}
 */
export function legendOf(section) {
  const curves = $$('.legend .key', section)
    .filter((key) => key.getAttribute('aria-pressed') !== 'false')
    .map((key) => [$('i', key), [...key.children].map((part) => part.textContent).join(' ')]);
  const marks = $$('.gantt-key, .note span:has(> i:first-child):not([hidden], .color-bar)', section);
  const scales = $$('.note .color-bar:not([hidden])', section);
  const ends = (scale) => [...scale.childNodes].map(({ textContent }) => textContent.trim()).filter(Boolean);
  return [
    ...curves,
    ...marks.map((mark) => [$('i', mark), mark.textContent]),
    ...scales.map((scale) => [$('i', scale), ends(scale).join(' to ')]),
  ]
    .map(([mark, text]) => [mark, text.trim()])
    .filter(([, text]) => text);
}

/** Sentences below the chart of a panel, without marks of its legend and hints on gestures. */
export function notesOf(section) {
  return $$('.note', section)
    .flatMap((note) => (note.children.length ? [...note.children] : [note]))
    .filter((part) => !part.matches('[hidden], .color-bar, .hint, .by-mouse, .by-touch, :has(i)'))
    .map((part) => {
      const copy = part.cloneNode(true);
      for (const hint of $$('.hint', copy)) hint.remove();
      return copy.textContent.replace(/\s+/g, ' ').trim();
    })
    .filter(Boolean);
}

/** Title of a picture: of the panel, and of its chart where that has one of its own. */
export function titleOf(section) {
  return $$('h2, .plot-title', section)
    .map((title) => title.textContent.trim())
    .join(': ');
}

/** Lines of a text that fit the width, broken between words; widthOf(text) in the same unit. */
export function wrapped(text, width, widthOf) {
  const lines = [];
  for (const word of text.split(' ')) {
    const longer = lines.length ? `${lines.at(-1)} ${word}` : word;
    if (lines.length && widthOf(longer) <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/** @param {Element | null} mark */
const widthOfMark = (mark) => (mark?.classList.contains('ramp') ? RAMP_PX : mark ? SWATCH_PX : 0);

/** Colours of a CSS image. @param {string} image */
export const colorsIn = (image) => image.match(/\b(rgb|color)a?\([^)]*\)|#[0-9a-f]{6}/g) ?? [];

/** Draws a mark of the legend as its style says: a line, also dashed, a patch, also striped or pale, or a scale. */
function drawMark(ctx, mark, x, y) {
  const style = getComputedStyle(mark);
  ctx.save();
  ctx.globalAlpha = Number(style.opacity);
  if (mark.classList.contains('line')) {
    ctx.strokeStyle = style.borderTopColor;
    ctx.lineWidth = 2;
    ctx.setLineDash(style.borderTopStyle === 'dashed' ? [4, 3] : []);
    ctx.beginPath();
    ctx.moveTo(x, y);
    ctx.lineTo(x + SWATCH_PX, y);
    ctx.stroke();
  } else if (mark.classList.contains('ramp')) {
    const shades = colorsIn(style.backgroundImage);
    const gradient = ctx.createLinearGradient(x, 0, x + RAMP_PX, 0);
    shades.forEach((color, i) => gradient.addColorStop(i / Math.max(1, shades.length - 1), color));
    ctx.fillStyle = gradient;
    ctx.fillRect(x, y - MARK_PX / 2, RAMP_PX, MARK_PX);
  } else {
    const wide = Math.min(parseFloat(style.width) || SWATCH_PX, SWATCH_PX);
    const high = Math.min(parseFloat(style.height) || MARK_PX, SWATCH_PX);
    ctx.beginPath();
    ctx.rect(x, y - high / 2, wide, high);
    ctx.clip();
    ctx.fillStyle = style.backgroundColor;
    ctx.fill();
    const [stripe] = colorsIn(style.backgroundImage);
    if (stripe) {
      ctx.strokeStyle = stripe;
      ctx.lineWidth = 1.5;
      ctx.beginPath();
      for (let at = -high; at < wide; at += 4) {
        ctx.moveTo(x + at, y + high / 2);
        ctx.lineTo(x + at + high, y - high / 2);
      }
      ctx.stroke();
    }
    if (parseFloat(style.borderTopWidth) > 0) {
      ctx.strokeStyle = style.borderTopColor;
      ctx.lineWidth = 1;
      ctx.strokeRect(x + 0.5, y - high / 2 + 0.5, wide - 1, high - 1);
    }
  }
  ctx.restore();
}

/**
 * Lines of legend entries that fit the width: [[{mark, text, x}]]; widthOf(text) in the same unit.
 *
 * @param {[Element | null, string][]} entries
 * @param {number} width
 * @param {(text: string) => number} widthOf
 */
export function linesOf(entries, width, widthOf) {
  const lines = [];
  let x = Infinity;
  for (const [mark, text] of entries) {
    const room = widthOf(text) + (mark ? widthOfMark(mark) + 5 : 0) + 16;
    if (x + room > width) {
      lines.push([]);
      x = 0;
    }
    lines.at(-1).push({ mark, text, x });
    x += room;
  }
  return lines;
}

/** Saves the chart of a panel, as wide on every screen; shown: what it shows, in words. */
export function savePicture(section, filename, shown = '') {
  const canvas = $('canvas', section);
  atPictureWidth(section, canvas, () => pictureOf(section, canvas, shown).toBlob((blob) => save(blob, filename)));
}

function save(blob, filename) {
  const link = h('a', { href: URL.createObjectURL(blob), download: `${filename}.png` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** A canvas with the chart of a panel, and what stands around it. */
function pictureOf(section, canvas, shown) {
  const style = getComputedStyle(section);
  const scale = canvas.width / canvas.clientWidth;
  const font = (weight, px) => `${weight} ${px}px ${style.fontFamily}`;
  const measure = h('canvas', {}).getContext('2d');
  measure.font = font(400, 12);
  const width = canvas.clientWidth;
  const lines = linesOf(legendOf(section), width - 2 * EDGE_PX, (text) => measure.measureText(text).width);
  const top = (1 + lines.length) * LINE_PX + 2 * EDGE_PX;
  const notes = wrapped(notesOf(section).join(' · '), width - 2 * EDGE_PX, (text) => measure.measureText(text).width);
  const below = top + canvas.clientHeight + notes.length * LINE_PX;
  measure.font = font(400, 10);
  const parts = sourceText(shown).split('; ');
  const source = measure.measureText(parts.join('; ')).width > width - 2 * EDGE_PX ? parts : [parts.join('; ')];
  const height = below + source.length * SOURCE_PX + EDGE_PX;
  const picture = h('canvas', { width: Math.round(width * scale), height: Math.round(height * scale) });
  const ctx = picture.getContext('2d');
  ctx.scale(scale, scale);
  ctx.fillStyle = style.backgroundColor;
  ctx.fillRect(0, 0, width, height);
  ctx.textBaseline = 'middle';
  const write = (text, x, y, weight, px) => {
    ctx.fillStyle = style.color;
    ctx.font = font(weight, px);
    ctx.fillText(text, x, y, width - x - EDGE_PX);
  };
  write(titleOf(section), EDGE_PX, EDGE_PX + LINE_PX / 2, 600, 14);
  lines.forEach((line, i) => {
    const y = EDGE_PX + (i + 1.5) * LINE_PX;
    for (const { mark, text, x } of line) {
      if (mark) drawMark(ctx, mark, EDGE_PX + x, y);
      write(text, EDGE_PX + x + (mark ? widthOfMark(mark) + 5 : 0), y, 400, 12);
    }
  });
  ctx.drawImage(canvas, 0, top, width, canvas.clientHeight);
  notes.forEach((text, i) => write(text, EDGE_PX, top + canvas.clientHeight + (i + 0.5) * LINE_PX, 400, 12));
  source.forEach((text, i) => write(text, EDGE_PX, below + (i + 0.5) * SOURCE_PX, 400, 10));
  return picture;
}

/** Prints a panel alone, with its source below it. */
export function printPanel(section, shown = '') {
  const source = h('p', { class: 'note source' }, sourceText(shown));
  section.append(source);
  section.classList.add('printed');
  document.body.classList.add('prints-panel');
  const after = () => {
    source.remove();
    section.classList.remove('printed');
    document.body.classList.remove('prints-panel');
  };
  addEventListener('afterprint', after, { once: true });
  print();
}
