// Script before the first paint of the overview: it decides whether the card of first steps is shown, so that nothing
// moves. It is no module, because modules run too late. The same rule is in core/first-steps.js.
(function () {
  let kept = {};
  try {
    kept = JSON.parse(localStorage.getItem('first-steps')) ?? {};
  } catch {
    // without storage the card is shown
  }
  const over = kept.skipped || (Array.isArray(kept.done) && kept.done.length >= 6);
  document.documentElement.dataset.firstSteps = over ? 'off' : 'on';
})();
