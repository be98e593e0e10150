// Button on every chart that saves it as a PNG file, with its title and the colours of the theme.

import { $, h } from './dom.js';

const TITLE_PX = 28;

/** id: of the canvas; its panel's button Table gets a neighbour. */
export function pictureButton(id, filename) {
  $(`#${id}-table`).before(
    h(
      'button',
      { type: 'button', class: 'quiet', title: 'Save as PNG', onclick: () => save($(`#${id}`), filename) },
      'PNG',
    ),
  );
}

function save(canvas, filename) {
  const title = canvas.closest('section').querySelector('h2').textContent;
  const scale = canvas.width / canvas.clientWidth;
  const style = getComputedStyle(canvas.closest('section'));
  const picture = h('canvas', { width: canvas.width, height: canvas.height + TITLE_PX * scale });
  const ctx = picture.getContext('2d');
  ctx.fillStyle = style.backgroundColor;
  ctx.fillRect(0, 0, picture.width, picture.height);
  ctx.fillStyle = style.color;
  ctx.font = `600 ${13 * scale}px ${style.fontFamily}`;
  ctx.textBaseline = 'middle';
  ctx.fillText(`${document.title.split(' · ').slice(0, 2).join(', ')}: ${title}`, 10 * scale, (TITLE_PX / 2) * scale);
  ctx.drawImage(canvas, 0, TITLE_PX * scale);
  picture.toBlob((blob) => {
    const link = h('a', { href: URL.createObjectURL(blob), download: `${filename}.png` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  });
}
