// Errors shown as a line of text on the page.

import { logError } from '../../core/client-errors.js';
import { errorLine } from '../dom.js';
import { sentence } from '../../util/format.js';

/**
 * A function that logs an error and shows its message in the element; null hides it.
 *
 * @param {HTMLElement} element
 * @returns {(error: any) => void}
 */
export function failureLine(element) {
  const say = errorLine(element);
  return (error) => {
    if (error) logError(error);
    say(sentence(error?.message ?? ''));
  };
}
