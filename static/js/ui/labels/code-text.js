// Messages whose commands, in backquotes, are shown as code.

import { h } from '../dom.js';

/** Parts of a message, as children of an element: texts, and its commands as code. @param {string} text */
export const codeText = (text) =>
  text.split('`').map((part, i, parts) => (i % 2 && i < parts.length - 1 ? h('code', {}, part) : part));
