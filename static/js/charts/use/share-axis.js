// Axis of shares from 0 to 100 %.

export const SHARE_AXIS = {
  min: 0,
  max: 1,
  border: { display: false },
  ticks: { stepSize: 0.25, callback: (v) => `${Math.round(v * 100)} %` },
};
