// Messages whose commands, in backquotes, are shown as code, and whose dates are not broken.

import { h, wholeDates } from '../dom.js';

/** Parts of a message, as children of an element: texts, dates, and its commands as code. @param {string} text */
export const codeText = (text) =>
  text.split('`').map((part, i, parts) => (i % 2 && i < parts.length - 1 ? h('code', {}, part) : wholeDates(part)));
