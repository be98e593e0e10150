// Speeds of a clock in simulated seconds per second: those that controls offer, and their text.

import { duration } from './format.js';

export const PLAYBACK_SPEEDS = [1, 60, 600, 3600, 21600, 86400, 604800]; // of the time shown
export const CLOCK_SPEEDS = [1, 60, 600, 1800, 3600, 21600, 86400]; // of a live run

/**
 * Text of a speed: '10 min/s'.
 *
 * @param {number} speed
 */
export function speedText(speed) {
  const spaced = duration(speed * 1000).replace(/(?<=\d)(?=[a-z])/g, ' ');
  return `${spaced.replace(/\bm\b/, 'min')}/s`;
}
