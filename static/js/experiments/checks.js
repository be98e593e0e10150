// Checks of an experiment: our value, the band, and a picture of both.

import { h, s } from '../ui/dom.js';
import { bandText, quantityText, verdictMark } from './words.js';

const [WIDTH, HEIGHT, EDGE] = [150, 16, 6];

export const checkColumns = [
  { title: 'Check', wide: true, cell: ({ what }) => what },
  { title: 'Our result', number: true, cell: ({ value, unit }) => quantityText(value, unit) },
  { title: 'Band', number: true, cell: (check) => bandText(check) || h('span', { class: 'muted' }, 'reported only') },
  { title: 'Value and band', class: 'bullet', cell: bullet },
  {
    title: 'Verdict',
    cell: ({ holds }) => (holds === null ? '' : verdictMark(holds ? 'holds' : 'does not hold')),
  },
];

/** The scale from low to high with the band: [low, high, pixel of a value]. */
export function scaleOf({ value, bound }) {
  const known = [value, bound, 0].filter((number) => typeof number === 'number');
  const [least, most] = [Math.min(...known), Math.max(...known)];
  const margin = (most - least || 1) * 0.15;
  const [low, high] = [least < 0 ? least - margin : least, most + margin];
  return (number) =>
    number === 'infinite' ? WIDTH - EDGE : EDGE + ((number - low) / (high - low)) * (WIDTH - 2 * EDGE);
}

function bullet(check) {
  const { value, bound, at_least: atLeast, holds } = check;
  if (bound === null || value === null) return '';
  const at = scaleOf(check);
  const [from, to] = atLeast ? [at(bound), WIDTH - EDGE] : [EDGE, at(bound)];
  return s(
    'svg',
    {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      role: 'img',
      'aria-label': `${quantityText(value, check.unit)}; band ${bandText(check)}`,
    },
    s('line', { x1: EDGE, x2: WIDTH - EDGE, y1: HEIGHT / 2, y2: HEIGHT / 2, class: 'axis' }),
    s('rect', { x: from, y: 3, width: Math.max(0, to - from), height: HEIGHT - 6, class: 'band' }),
    s('line', { x1: at(bound), x2: at(bound), y1: 1, y2: HEIGHT - 1, class: 'bound' }),
    s('circle', { cx: at(value), cy: HEIGHT / 2, r: 4, class: holds ? 'kept' : 'missed' }),
  );
}
