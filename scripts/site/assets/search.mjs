// The search of the documentation site: looks in an index that lies beside it and is loaded when somebody searches. Nothing is asked of any server.
{
  const base = document.documentElement.dataset.base;
  const query = document.getElementById('query');
  const hits = document.getElementById('hits');

  const load = (name) =>
    new Promise((resolve, reject) => {
      const script = document.createElement('script');
      script.src = `${base}/assets/${name}`;
      script.addEventListener('load', resolve);
      script.addEventListener('error', reject);
      document.head.append(script);
    });
  let loading;
  const ready = () =>
    (loading ??= Promise.all(['minisearch.js', 'search-index.js'].map(load)).then(() => {
      const { options, index } = window.searchIndex;
      return window.MiniSearch.loadJS(index, options);
    }));

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

  const nothing = () => {
    const item = document.createElement('li');
    item.textContent = 'Nothing found.';
    return item;
  };

  /** What has exactly this name comes first, and of an error code the page that says what to do. */
  const rankOf = (words) => {
    const name = words.trim().toLowerCase();
    return ({ title }) => {
      const other = title.toLowerCase().replace(/[[\]]/g, '');
      return other === `error ${name}` ? 0 : other === name ? 1 : 2;
    };
  };

  const look = async () => {
    const search = await ready();
    const words = query.value;
    const find = (combineWith) =>
      search.search(words, { prefix: true, fuzzy: 0.15, combineWith, boost: { title: 4 } });
    const all = find('AND');
    // Words of which one stands nowhere beside the others: what has most of them.
    const rank = rankOf(words);
    const found = (all.length > 0 ? all : find('OR')).sort((one, other) => rank(one) - rank(other));
    // Guides come before decisions and measurements, for which there is room behind them.
    const guides = found.filter(({ isGuide }) => isGuide);
    const others = found.filter(({ isGuide }) => !isGuide);
    const shown = [...guides.slice(0, others.length > 0 ? 9 : 12), ...others].slice(0, 12);
    hits.replaceChildren(...(shown.length > 0 ? shown.map(itemOf) : [nothing()]));
    hits.dataset.words = words;
    hits.hidden = words.trim() === '';
  };

  query.addEventListener('focus', ready, { once: true });
  query.addEventListener('input', look);
  document.addEventListener('keydown', (event) => {
    const isTyping = /^(input|textarea)$/i.test(document.activeElement?.tagName ?? '');
    if (event.key === '/' && !isTyping) {
      event.preventDefault();
      query.focus();
    } else if (event.key === 'Escape') {
      hits.hidden = true;
    } else if (event.key === 'Enter' && document.activeElement === query) {
      hits.querySelector('a')?.click();
    }
  });
}
