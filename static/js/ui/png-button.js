// A chart as a PNG file or on paper: with its title, its legend with values, and its source.

import { $, $$, h } from './dom.js';

const LINE_PX = 18;
const EDGE_PX = 10;
const SWATCH_PX = 12;

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

/** Where a picture comes from: the page, what it shows, and its address. */
export function sourceText(shown = '') {
  const subject = document.title.split(' · ').slice(0, 2).join(', ');
  return [`Source: ${subject}`, shown, location.href].filter(Boolean).join('; ');
}

/** [[colour, text]] of the legend of a panel: its curves with their values, or its marks. */
export function legendOf(section) {
  const curves = $$('.legend .key', section)
    .filter((key) => key.getAttribute('aria-pressed') !== 'false')
    .map((key) => [$('i', key)?.style.borderColor ?? '', [...key.children].map((part) => part.textContent).join(' ')]);
  const marks = $$('.gantt-key', section).map((key) => [$('i', key)?.style.background ?? '', key.textContent]);
  const notes = $$('#gantt-marks > span', section).map((note) => ['', note.textContent]);
  return [...curves, ...marks, ...notes].map(([color, text]) => [color, text.trim()]).filter(([, text]) => text);
}

/**
 * Lines of legend entries that fit the width: [[{color, text, x}]]; widthOf(text) in the same unit.
 *
 * @param {[string, string][]} entries
 * @param {number} width
 * @param {(text: string) => number} widthOf
 */
export function linesOf(entries, width, widthOf) {
  const lines = [];
  let x = Infinity;
  for (const [color, text] of entries) {
    const room = widthOf(text) + (color ? SWATCH_PX + 5 : 0) + 16;
    if (x + room > width) {
      lines.push([]);
      x = 0;
    }
    lines.at(-1).push({ color, text, x });
    x += room;
  }
  return lines;
}

/** Saves the canvas of a panel; shown: what it shows, in words. */
export function savePicture(section, filename, shown = '') {
  const canvas = $('canvas', section);
  const style = getComputedStyle(section);
  const scale = canvas.width / canvas.clientWidth;
  const font = (weight, px) => `${weight} ${px}px ${style.fontFamily}`;
  const measure = h('canvas', {}).getContext('2d');
  measure.font = font(400, 12);
  const width = canvas.clientWidth;
  const lines = linesOf(legendOf(section), width - 2 * EDGE_PX, (text) => measure.measureText(text).width);
  const top = (1 + lines.length) * LINE_PX + 2 * EDGE_PX;
  const height = top + canvas.clientHeight + LINE_PX + EDGE_PX;
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
  write($('h2', section).textContent, EDGE_PX, EDGE_PX + LINE_PX / 2, 600, 14);
  lines.forEach((line, i) => {
    const y = EDGE_PX + (i + 1.5) * LINE_PX;
    for (const { color, text, x } of line) {
      ctx.fillStyle = color || 'transparent';
      ctx.fillRect(EDGE_PX + x, y - 2, SWATCH_PX, 4);
      write(text, EDGE_PX + x + (color ? SWATCH_PX + 5 : 0), y, 400, 12);
    }
  });
  ctx.drawImage(canvas, 0, top, width, canvas.clientHeight);
  write(sourceText(shown), EDGE_PX, height - EDGE_PX / 2 - LINE_PX / 2, 400, 10);
  picture.toBlob((blob) => {
    const link = h('a', { href: URL.createObjectURL(blob), download: `${filename}.png` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  });
}

/** Prints a panel alone, with its source below it. */
export function printPanel(section, shown = '') {
  const source = h('p', { class: 'note source' }, sourceText(shown));
  section.append(source);
  section.classList.add('printed');
  document.body.classList.add('prints-one');
  const after = () => {
    source.remove();
    section.classList.remove('printed');
    document.body.classList.remove('prints-one');
  };
  addEventListener('afterprint', after, { once: true });
  print();
}
