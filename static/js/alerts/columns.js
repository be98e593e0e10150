// Columns that the tables of open and of ended alerts share.

import { h } from '../ui/dom.js';
import { wall } from '../util/format.js';

export const level = {
  title: 'Level',
  value: (alert) => alert.level,
  cell: (alert) => levelCell(alert.level),
};

export const about = {
  title: 'Target',
  value: (alert) => alert.target,
  cell: (alert) => targetCell(alert.target),
};

export const sentence = {
  title: 'Alert',
  wide: true,
  cell: (alert) => [
    alert.address ? h('a', { href: alert.address }, alert.sentence) : alert.sentence,
    h('div', { class: 'muted small' }, alert.title),
  ],
};

export function levelCell(text) {
  return h('span', { class: 'state', 'data-state': text }, text);
}

/** 'connection lab' or 'run 5' as a link to its page. */
export function targetCell(target) {
  const [noun, name] = target.split(' ');
  const address = noun === 'connection' ? `/live/${name}/` : `/runs/${name}/`;
  return h('a', { href: address, class: 'nowrap' }, noun === 'connection' ? name : target);
}

/** A wall-clock time that stays on one line. */
export const moment = (at) => h('span', { class: 'nowrap' }, wall(at));
