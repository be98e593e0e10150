// The tiles of a server: its jobs, how much of each resource they hold, and what the cluster measured there; and what
// the head of its page says of its state.

import { capacityAt, stepsAt } from '../../util/capacity.js';
import { capital, number, percent } from '../../util/format.js';
import { $, fill, h, setText } from '../../ui/dom.js';
import { tile } from '../../ui/labels/tile.js';
import { barsAt } from './jobs.js';

/**
 * source: the bars on the server; p: the time shown; measures: of the execution models; capacityThen(measure, p) ->
 * its capacity with outages; restriction: of the server (restrictionOf); measured: further tiles; isSeen: false before
 * a real cluster was observed for the first time.
 */
export function paintServerTiles(box, { source, p, measures, capacityThen, restriction, measured, isSeen }) {
  const now = barsAt(source, p);
  const jobs = new Set(now.map((bar) => source.bars.job[bar]));
  fill(
    box,
    tile('Jobs here', number(isSeen ? jobs.size : NaN, 0)),
    measures
      .filter(({ capacity }) => capacity !== null)
      .map((measure) => {
        const { title, unit, amountOf } = measure;
        const held = isSeen ? now.reduce((sum, bar) => sum + amountOf(bar), 0) : NaN;
        const away = restriction?.state === 'unavailable';
        const whole = capacityAt(away ? stepsAt(measure.capacity, p) : capacityThen(measure, p), p);
        return tile(
          title.toLowerCase() === unit.toLowerCase() ? capital(title) : `${capital(title)}, ${unit}`,
          [number(held, 2), h('small', {}, ` of ${number(whole, 2)}${away ? ', unavailable' : ''}`)],
          { more: meter(whole && isSeen ? held / whole : 0) },
        );
      }),
    measured,
  );
}

/** Shows the state of the server at the time shown beside its name, and offers a drain only where it can change it. */
export function paintRestriction(name, restriction) {
  const state = $('#server-state');
  state.hidden = !restriction;
  state.dataset.state = restriction?.state === 'unavailable' ? 'failed' : 'paused';
  setText(state, restriction?.text ?? '');
  const drain = /** @type {HTMLButtonElement | null} */ ($('#drain'));
  if (!drain) return;
  drain.disabled = Boolean(restriction);
  drain.title = restriction
    ? `${name} takes no new jobs at the time shown: it is ${restriction.state}.`
    : 'Create a scenario that continues from the time shown and drains this server';
}

const meter = (share) =>
  h(
    'span',
    { class: 'meter', title: percent(share, 1), 'aria-hidden': 'true' },
    h('i', { css: { width: `${100 * Math.min(1, share)}%` } }),
  );
