// Utility of a job by its completion time: the curve, the marked finish, and the price of its plan as a line.

import { h, s } from '../ui/dom.js';
import { amount, clock, number, plural } from '../util/format.js';

const [MAX_WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [520, 150, 40, 10, 10, 24];
const POINTS = 120;

/** priority / (1 + exp(sensitivity (slots − target))), as in scheduling/model/utility.py. */
export function utilityAt({ priority, sensitivity, target_slots: target }, slots) {
  const exponent = sensitivity * (slots - target);
  return exponent > 700 ? 0 : priority / (1 + Math.exp(exponent));
}

/** Slots from the first slot that a job may use to that of a completion: the argument of the utility. */
export function slotsUntil({ slot_ms: slotMs, from_slot: fromSlot }, completionMs) {
  return Math.max(0, Math.ceil(completionMs / slotMs) - 1 - fromSlot);
}

const MARK = { done: 'completion', planned: 'planned finish', found: 'best schedule found' };
const SAYS = { done: 'Completed', planned: 'Planned finish', found: 'Best schedule found: finish' };

/**
 * worth: from the API's job story; finishMs: actual, planned or possible completion, null without one; kind: which of
 * these; price: null or the cost of its plan; room: px for it, so that its letters keep their size.
 */
export function utilityCurve(worth, { finishMs, kind, price, room = MAX_WIDTH }) {
  const width = Math.min(MAX_WIDTH, room);
  const done = kind === 'done';
  const at = finishMs === null ? null : slotsUntil(worth, finishMs);
  const most = Math.max(4, Math.ceil(1.15 * (at ?? 0)), Math.ceil(2 * worth.target_slots));
  const top = Math.max(utilityAt(worth, 0), price ?? 0) * 1.08 || 1;
  const x = (slots) => LEFT + (slots / most) * (width - LEFT - RIGHT);
  const y = (value) => HEIGHT - BOTTOM - (value / top) * (HEIGHT - TOP - BOTTOM);
  const points = Array.from({ length: POINTS + 1 }, (_, i) => (i / POINTS) * most).map(
    (slots) => `${x(slots).toFixed(1)},${y(utilityAt(worth, slots)).toFixed(1)}`,
  );
  const value = at === null ? null : utilityAt(worth, at);
  const text = (cx, cy, words, properties = {}) => s('text', { x: cx, y: cy, class: 'axis', ...properties }, words);
  const says = [
    worth.sensitivity === 0
      ? `Utility ${amount(worth.priority / 2)} whenever the job completes.`
      : `Utility ${amount(utilityAt(worth, 0))} if the job completes in the first slot that it may use; ` +
        `${amount(worth.priority / 2)}, half of the priority, if it completes ` +
        `${number(worth.target_slots)} slots later.`,
    at === null
      ? 'No completion is planned.'
      : `${SAYS[kind]} at ${clock(finishMs)}, ${plural(at, 'slot')} ` +
        `after the first slot that the job may use: utility ${amount(value)}.`,
    price === null ? '' : `Cost of the plan: ${amount(price)}.`,
  ]
    .filter(Boolean)
    .join(' ');
  const drawing = s(
    'svg',
    { viewBox: `0 0 ${width} ${HEIGHT}`, class: 'utility', role: 'img', 'aria-label': says },
    s('line', { x1: LEFT, x2: width - RIGHT, y1: y(0), y2: y(0), class: 'base' }),
    [0, Math.round(most / 2), most].map((slots) =>
      text(x(slots), HEIGHT - 8, slots === most ? plural(slots, 'slot') : number(slots, 0), {
        'text-anchor': slots === 0 ? 'start' : slots === most ? 'end' : 'middle',
      }),
    ),
    text(LEFT - 6, y(top / 1.08) + 4, number(top / 1.08, 1), { 'text-anchor': 'end' }),
    text(LEFT - 6, y(0) + 1, '0', { 'text-anchor': 'end' }),
    s('polyline', { points: points.join(' '), class: 'curve' }),
    price === null
      ? null
      : [
          s('line', { x1: LEFT, x2: width - RIGHT, y1: y(price), y2: y(price), class: 'price' }),
          // where the curve, which falls, is far from it
          price < top / 2
            ? text(LEFT + 4, y(price) - 4, 'cost', { 'text-anchor': 'start' })
            : text(width - RIGHT, y(price) - 4, 'cost', { 'text-anchor': 'end' }),
        ],
    at === null
      ? null
      : [
          s('line', { x1: x(at), x2: x(at), y1: y(0), y2: y(value), class: 'finish' }),
          s('circle', { cx: x(at), cy: y(value), r: 4, class: done ? 'finish done' : 'finish' }),
          text(x(at) + (at > most * 0.7 ? -8 : 8), y(value) - 6, MARK[kind], {
            'text-anchor': at > most * 0.7 ? 'end' : 'start',
          }),
        ],
  );
  return h('section', {}, h('h2', {}, 'Utility by completion time'), drawing, h('p', { class: 'muted small' }, says));
}
