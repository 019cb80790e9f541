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
    const found = search.search(query.value, {
      prefix: true,
      fuzzy: 0.15,
      combineWith: 'AND',
      boost: { title: 4 },
    });
    hits.replaceChildren(...found.slice(0, 12).map(itemOf));
    hits.hidden = found.length === 0;
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
