// The second click of a double click submits no form: the first has sent it, and may have emptied it.

/** Takes the second click of a double click from the buttons of the page that submit a form. */
export function submitOnce() {
  document.addEventListener('click', (event) => {
    const button = /** @type {Element} */ (event.target).closest('button');
    if (event.detail > 1 && button?.form && button.type === 'submit') event.preventDefault();
  });
}
