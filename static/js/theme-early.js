// Runs before the first paint, so that a saved theme does not flash. Not a module: modules run too late.
(function () {
  try {
    const saved = localStorage.getItem('theme');
    if (saved === 'light' || saved === 'dark') document.documentElement.dataset.theme = saved;
  } catch {
    // Without storage the system's theme stays.
  }
})();
