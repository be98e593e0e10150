// Submission of a form: the button is disabled meanwhile, and a failure is shown in the form.

import { failureLine } from '../failures/failure-line.js';

/**
 * @param {HTMLElement} form
 * @param {HTMLButtonElement} button
 * @param {HTMLElement} problem line for the failure
 * @param {() => Promise<void>} send
 */
export function onSubmit(form, button, problem, send) {
  const fail = failureLine(problem);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    fail(null);
    button.disabled = true;
    try {
      await send();
    } catch (error) {
      fail(error);
    } finally {
      button.disabled = false;
    }
  });
}
