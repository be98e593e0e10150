// Axis of shares from 0 to 100 %, or beyond: jobs of live clusters can hold more than there is.

const WHOLE = 1;
const STEPS = [0.25, 0.5, 1, 2, 5, 10, 20, 50, 100];
const MAX_STEPS = 5; // on an axis

/** Marks from 0 to `max`: 100 % is among them, except on an axis on which it would be close to 0. */
export function shareTicks(max) {
  const step = STEPS.find((each) => max <= MAX_STEPS * each) ?? max;
  const ticks = Array.from({ length: Math.floor(max / step) + 1 }, (_, i) => i * step);
  return step === 2 ? [0, WHOLE, ...ticks.slice(1)] : ticks;
}

export const SHARE_AXIS = {
  min: 0,
  suggestedMax: WHOLE,
  border: { display: false },
  afterBuildTicks: (axis) => {
    axis.ticks = shareTicks(axis.max).map((value) => ({ value }));
  },
  ticks: { callback: (v) => `${Math.round(v * 100)} %` },
  grid: { lineWidth: ({ tick, scale }) => (tick?.value === WHOLE && scale.max > WHOLE ? 2 : 1) },
};
