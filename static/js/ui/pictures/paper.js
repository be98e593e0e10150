// Charts at another size than that of the window: at the width of a sheet before printing, or at that of a picture.

import { drawNow } from '../../core/render-loop.js';
import { sizeCanvases } from '../canvas-size.js';
import { themeChanged } from '../../util/colors.js';
import { h } from '../dom.js';

const PAPER_RATIO = 3; // pixels per px on paper, about 288 per inch
const PICTURE_PX = 800; // width of a picture in px of the page: its texts are readable across a page of a report
const PICTURE_RATIO = 2;

/**
 * Draws all charts at once for the places that they have now.
 *
 * @param {number | null} ratio pixels per px; that of the screen if null
 * @param {Element | null} themed the element whose theme they take; the page itself if null
 */
function drawAll(ratio, themed = null) {
  sizeCanvases(ratio);
  themeChanged(themed);
  drawNow();
}

/**
 * Calls take() while the panel has the width of a picture; nothing of this is seen, because no frame comes between.
 *
 * @param {HTMLElement} section
 * @param {HTMLCanvasElement} canvas
 * @param {() => void} take
 */
export function atPictureWidth(section, canvas, take) {
  const edges = section.offsetWidth - canvas.clientWidth;
  section.classList.add('pictured');
  section.style.width = `${PICTURE_PX + edges}px`;
  try {
    drawAll(PICTURE_RATIO);
    take();
  } finally {
    section.classList.remove('pictured');
    section.style.width = '';
    drawAll(null);
  }
}

/**
 * Before printing the page takes the width of a sheet, which is narrower than most windows, and its charts are drawn
 * for it. Paper is white, and browsers leave out the background: base.css has the dark theme for screens only, and
 * charts take the colours of an element of the light theme.
 */
export function preparePaper() {
  const root = document.documentElement;
  const paper = h('div', { hidden: true, 'data-theme': 'light' });
  addEventListener('beforeprint', () => {
    root.classList.add('on-paper');
    document.body.append(paper);
    drawAll(PAPER_RATIO, paper);
  });
  addEventListener('afterprint', () => {
    root.classList.remove('on-paper');
    paper.remove();
    drawAll(null);
  });
}
