// The search of the documentation site: looks in an index that lies beside it, so nothing is asked of any server.
(() => {
  const { options, index } = window.searchIndex;
  const search = window.MiniSearch.loadJS(index, options);
  const base = document.documentElement.dataset.base;
  const query = document.getElementById('query');
  const hits = document.getElementById('hits');

  const itemOf = ({ title, page, target }) => {
    const item = document.createElement('li');
    const link = document.createElement('a');
    link.href = `${base}/${target}`;
    link.textContent = title;
    const where = document.createElement('span');
    where.textContent = title === page ? '' : page;
    link.append(where);
    item.append(link);
    return item;
  };

  query.addEventListener('input', () => {
    const look = (combineWith) =>
      search.search(query.value, { prefix: true, fuzzy: 0.15, combineWith, boost: { title: 4 } });
    const all = look('AND');
    // Words of which one stands nowhere beside the others: what has most of them.
    const found = all.length > 0 ? all : look('OR');
    // Guides come before decisions and measurements, for which there is room behind them.
    const guides = found.filter(({ isGuide }) => isGuide);
    const others = found.filter(({ isGuide }) => !isGuide);
    const shown = [...guides.slice(0, others.length > 0 ? 9 : 12), ...others].slice(0, 12);
    if (shown.length > 0) hits.replaceChildren(...shown.map(itemOf));
    else hits.textContent = 'Nothing found.';
    hits.hidden = query.value.trim() === '';
  });
  document.addEventListener('keydown', (event) => {
    if (event.key === '/' && document.activeElement !== query) {
      event.preventDefault();
      query.focus();
    } else if (event.key === 'Escape') {
      hits.hidden = true;
    } else if (event.key === 'Enter' && document.activeElement === query) {
      hits.querySelector('a')?.click();
    }
  });
})();
