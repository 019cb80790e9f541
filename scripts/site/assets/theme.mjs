// Light or dark as the reader has chosen it here, before anything is drawn; otherwise as the system has it.
(() => {
  const root = document.documentElement;
  try {
    root.dataset.theme = localStorage.getItem('theme') ?? '';
  } catch {
    // A browser that keeps nothing for this page: the system decides.
    root.dataset.theme = '';
  }
})();
