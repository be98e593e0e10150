// Notes beside charts and tables that compare jobs with speeds of different origins.

import { $$, setText } from '../ui/dom.js';

/** text: the note of the answer, shown in every element of the class speeds; null for none. */
export function paintSpeeds(text) {
  for (const note of $$('.speeds')) {
    note.hidden = !text;
    setText(note, text ?? '');
  }
}
