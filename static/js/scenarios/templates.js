// Templates of runs: a click starts one and opens its page.

import { post } from '../core/api.js';
import { $$, errorLine, $ } from '../ui/dom.js';

/** Makes the cards of the page start their templates. */
export function startTemplates() {
  const buttons = $$('[data-template]').filter((button) => !button.disabled); // the others have the reason below
  if (!buttons.length) return;
  const say = errorLine($('#templates-error'));
  for (const button of buttons) button.addEventListener('click', () => start(button, buttons, say));
}

async function start(button, buttons, say) {
  say('');
  for (const one of buttons) one.disabled = true;
  button.setAttribute('aria-busy', 'true');
  try {
    const { page } = await post(`/api/templates/${button.dataset.template}/start/`);
    location.assign(page);
  } catch (error) {
    for (const one of buttons) one.disabled = false;
    button.removeAttribute('aria-busy');
    say(error.message);
  }
}
