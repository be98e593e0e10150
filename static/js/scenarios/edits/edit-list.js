// Edits in their order: one line each, which can be switched off, moved, changed and removed.

import { fill, h } from '../../ui/dom.js';
import { capital, percent, plural } from '../../util/format.js';

const UNITS = { gpu: 'GPU', cpu: 'vCPU', memory: 'memory', storage: 'storage', bandwidth: 'bandwidth' };

/**
 * Effects of an edit, as chips: 'GPU +12 %', '3 jobs changed'.
 *
 * nameOf: the title of a scheduler
 */
export function effectWords(effect = {}, nameOf = (name) => name) {
  const words = [];
  const signed = (count, what) => `${count > 0 ? '+' : '−'}${plural(Math.abs(count), what)}`;
  if (effect.servers) words.push(signed(effect.servers, 'server'));
  const shares = Object.entries(effect.capacity ?? {});
  const same = shares.length === 5 && new Set(shares.map(([, share]) => share)).size === 1;
  if (same) words.push(`capacity ${sign(shares[0][1])}`);
  else for (const [name, share] of shares) words.push(`${UNITS[name]} ${sign(share)}`);
  if (effect.away) words.push(`${plural(effect.away, 'server')} unavailable`);
  if (effect.cloud !== undefined) words.push(effect.cloud ? 'unlimited cloud on' : 'unlimited cloud off');
  for (const [key, what] of [
    ['jobs_added', 'added'],
    ['jobs_dropped', 'removed'],
    ['jobs_touched', 'changed'],
  ])
    if (effect[key]) words.push(`${plural(effect[key], 'job')} ${what}`);
  if (effect.scheduler) words.push(`scheduler ${nameOf(effect.scheduler)}`);
  return words;
}

function sign(share) {
  return `${share >= 0 ? '+' : '−'}${percent(Math.abs(share), Math.abs(share) < 0.1 ? 1 : 0)}`;
}

/** True if an edit took effect before the fork, according to the server. */
export function wasPlayed(edit, { fork_ms: forkMs, edits: stored }) {
  if (forkMs === null || edit.off || (edit.at_ms ?? 0) >= forkMs) return false;
  return stored.some((kept) => JSON.stringify(kept) === JSON.stringify(edit));
}

/**
 * edits: in the form of the API; rows: results of /api/scenarios/N/edits/, or null while they load; titles: {verb:
 * title}, shown while the sentence of an edit loads; nameOf: the title of a scheduler; isPast(edit): whether it took
 * effect before the fork and cannot be changed; ofFork: whether the scenario is a fork, which cannot run without
 * an edit. onChange(edits), onPick(edit, place).
 */
export function paintEdits(list, { edits, rows, titles = {}, nameOf, isPast, editable, ofFork, onChange, onPick }) {
  const replaced = (place, edit) => edits.map((other, i) => (i === place ? edit : other));
  const moved = (place, by) => {
    const order = [...edits];
    [order[place], order[place + by]] = [order[place + by], order[place]];
    return order;
  };
  const button = (text, title, action, off = false) =>
    h('button', { type: 'button', class: 'quiet', title, 'aria-label': title, disabled: off, onclick: action }, text);
  fill(
    list,
    edits.length
      ? edits.map((edit, place) => {
          const row = rows?.[place] ?? {};
          const past = isPast(edit);
          const number_ = place + 1;
          return h(
            'li',
            { class: edit.off ? 'off' : null, 'data-place': place },
            h(
              'span',
              { class: 'sentence' },
              row.sentence || `${titles[edit.verb] ?? capital(edit.verb.replaceAll('_', ' '))} …`,
            ),
            h(
              'span',
              { class: 'chips' },
              effectWords(row.effect, nameOf).map((word) => h('span', { class: 'chip' }, word)),
              edit.off ? h('span', { class: 'chip' }, 'off') : null,
              past ? h('span', { class: 'chip', title: 'This edit took effect before the fork.' }, 'past') : null,
            ),
            editable && !past
              ? h(
                  'span',
                  { class: 'buttons' },
                  button(
                    edit.off ? 'Switch on' : 'Switch off',
                    `Switch edit ${number_} ${edit.off ? 'on' : 'off'}`,
                    () => onChange(replaced(place, { ...edit, off: !edit.off })),
                  ),
                  button('↑', `Move edit ${number_} up`, () => onChange(moved(place, -1)), place === 0),
                  button('↓', `Move edit ${number_} down`, () => onChange(moved(place, 1)), place === edits.length - 1),
                  button('Change', `Change edit ${number_}`, () => onPick(edit, place)),
                  button('Remove', `Remove edit ${number_}`, () => onChange(edits.filter((_, i) => i !== place))),
                )
              : null,
            row.error ? h('span', { class: 'error', role: 'alert' }, row.error) : null,
          );
        })
      : h(
          'li',
          { class: 'muted none' },
          ofFork && editable ? 'No edits yet. A run of this fork needs one.' : 'No edits.',
        ),
  );
}
