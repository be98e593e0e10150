// Columns that the tables of open and of ended alerts share.

import { h } from '../ui/dom.js';
import { codeText } from '../ui/labels/code-text.js';
import { stateMark } from '../ui/labels/state-mark.js';
import { wall } from '../util/format.js';

export const level = {
  title: 'Urgency',
  value: (alert) => alert.level,
  cell: (alert) => levelCell(alert.level),
};

export const about = {
  title: 'Target',
  value: (alert) => alert.target,
  cell: (alert) => targetCell(alert.target, !alert.address), // which a deleted run has not
};

export const sentence = {
  title: 'Alert',
  wide: true,
  cell: (alert) => [
    alert.address ? h('a', { href: alert.address }, codeText(alert.sentence)) : codeText(alert.sentence),
    h('div', { class: 'muted small' }, alert.title),
  ],
};

export function levelCell(text) {
  return stateMark(text);
}

/** 'connection lab' or 'run 5' as a link to its page; as text where it was deleted. */
export function targetCell(target, deleted = false) {
  const [noun, name] = target.split(' ');
  const text = noun === 'connection' ? `live cluster ${name}` : target;
  if (deleted)
    return h('span', {}, h('s', { class: 'nowrap muted' }, text), h('span', { class: 'why small' }, 'deleted'));
  const address = noun === 'connection' ? `/live/${name}/` : `/runs/${name}/`;
  return h('a', { href: address, class: 'nowrap' }, noun === 'connection' ? name : target);
}

/** A wall-clock time that stays on one line. */
export const moment = (at) => h('span', { class: 'nowrap' }, wall(at));
