// Parameters of an edit of the scheduler as they are shown, as in twin/scenarios/scheduler_titles.py.

import { duration, lowered } from '../util/format.js';

const YES = ['true', 'yes', '1', 'on'];

/**
 * 'overhead_ms=3600000 fair=true' -> ['reload time 1h', 'fairness yes']; names where the scheduler is not known.
 *
 * @param {string} text
 * @param {{name: string, title: string, type: string, unit: string, titles?: Record<string, string>}[]} declared
 */
export function parameterTexts(text, declared) {
  return text
    .split(/\s+/)
    .filter(Boolean)
    .map((pair) => {
      const [name, value = ''] = pair.split(/=(.*)/, 2);
      const known = declared.find((one) => one.name === name);
      return known ? `${lowered(known.title)} ${valueText(known, value)}` : `${name} ${value}`;
    });
}

/**
 * @param {{type: string, unit: string, titles?: Record<string, string>}} declared
 * @param {string} value
 */
function valueText({ type, unit, titles }, value) {
  if (type === 'bool') return YES.includes(value.toLowerCase()) ? 'yes' : 'no';
  if (titles && value in titles) return titles[value];
  if (unit === 'ms' && /^\d+$/.test(value)) return duration(Number(value));
  return `${value} ${unit}`.trimEnd();
}
