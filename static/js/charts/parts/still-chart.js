// Colours of the theme and the tooltip at the pointer, which charts without a time axis share.

import { onTheme } from '../../util/colors.js';
import { applyTheme } from './time-chart.js';

/** Draws the chart in the colours of the theme, now and when the theme changes. */
export function followTheme(chart) {
  const draw = () => {
    if (!chart.canvas) return; // the chart has been replaced
    applyTheme(chart);
    chart.update('none');
  };
  draw();
  onTheme(draw);
}

/**
 * Calls show(x, y) with the position of the pointer on the canvas, and hides the tooltip when the pointer leaves.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {import('../../ui/tooltip.js').Tip} tip
 * @param {(x: number, y: number) => void} show
 */
export function onHover(canvas, tip, show) {
  canvas.addEventListener('pointermove', ({ clientX, clientY }) => {
    const { left, top } = canvas.getBoundingClientRect();
    show(clientX - left, clientY - top);
  });
  canvas.addEventListener('pointerleave', () => tip.hide());
}
