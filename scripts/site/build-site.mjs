// Makes the documentation site: static pages with a search. Tells of every link that leads nowhere.
import { copyFileSync, cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import MiniSearch from 'minisearch';
import { readPages, sectionNames } from './pages.mjs';
import { llmsFull, llmsList } from './llms.mjs';
import { markdownOf, parsePage, renderPage } from './render.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const searchOptions = { fields: ['title', 'text'], storeFields: ['title', 'page', 'target', 'isGuide'] };
const escapeHtml = (text) => text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);

/** The menu as one page sees it: its own section is open. */
function menuFor(page, pages) {
  const here = posix.dirname(page.target);
  return sectionNames
    .map((section) => {
      const items = pages
        .filter((one) => one.section === section)
        .map((one) => {
          const current = one === page ? ' aria-current="page"' : '';
          const href = posix.relative(here, one.target) || posix.basename(one.target);
          return `<li><a href="${href}"${current}>${escapeHtml(one.title)}</a></li>`;
        });
      const open = section === page.section ? ' open' : '';
      return items.length === 0
        ? ''
        : `<details${open}><summary>${section}</summary><ul>${items.join('')}</ul></details>`;
    })
    .join('');
}

/** What the page holds, where that is more than a screen shows. */
function contentsOf({ parts }) {
  const heads = parts.filter(({ level }) => level === 2);
  if (heads.length < 3) return '';
  const items = heads.map(({ slug, title }) => `<li><a href="#${slug}">${escapeHtml(title)}</a></li>`);
  return `<details class="contents" open><summary>On this page</summary><ul>${items.join('')}</ul></details>`;
}

function pageHtml(page, body, pages) {
  const base = posix.relative(posix.dirname(page.target), '.') || '.';
  return `<!doctype html>
<html lang="en" data-base="${base}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'self'; style-src 'self'; script-src 'self'; img-src 'self' data:">
<title>${escapeHtml(page.title)} · Voice agent service</title>
<link rel="stylesheet" href="${base}/assets/style.css">
<body>
<a class="skip" href="#content">To the text</a>
<header><a class="home" href="${base}/index.html">Voice agent service</a><a class="menu" href="#pages">Menu</a>
<search><input id="query" type="search" placeholder="Search" aria-label="Search" autocomplete="off"><ol id="hits" hidden></ol></search></header>
<div class="columns"><nav id="pages" aria-label="Pages">${menuFor(page, pages)}</nav>
<main id="content">${body.replace('</h1>', `</h1>${contentsOf(page)}`)}</main></div>
<script src="${base}/assets/minisearch.js"></script>
<script src="${base}/assets/search-index.js"></script>
<script src="${base}/assets/search.mjs"></script>
`;
}

/** One entry for each heading, so that a hit opens at its place. */
function searchIndex(pages) {
  const search = new MiniSearch(searchOptions);
  const parts = pages.flatMap((page) =>
    page.parts.map(({ slug, title, text }) => ({
      title,
      text,
      page: page.title,
      isGuide: page.isGuide,
      target: `${page.target}${slug === '' ? '' : `#${slug}`}`,
    })),
  );
  search.addAll(parts.map((part, id) => ({ id, ...part })));
  return search;
}

export function buildSite(folder) {
  const pages = readPages(root).map(parsePage);
  const byPath = new Map(
    pages.flatMap((page) => [page.path, page.folder ?? []].flat().map((path) => [path, page])),
  );
  const copied = new Set();
  const problems = [];
  const site = { root, pages: byPath, copied, problems };
  for (const page of pages) {
    const file = join(folder, page.target);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, pageHtml(page, renderPage(page, site), pages));
    writeFileSync(file.replace(/html$/, 'md'), markdownOf(page, site));
  }
  writeFileSync(join(folder, 'llms.txt'), llmsList(pages));
  writeFileSync(join(folder, 'llms-full.txt'), llmsFull(pages));
  for (const path of copied) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    copyFileSync(join(root, path), join(folder, path));
  }
  cpSync(join(root, 'scripts/site/assets'), join(folder, 'assets'), { recursive: true });
  copyFileSync(join(root, 'node_modules/minisearch/dist/umd/index.js'), join(folder, 'assets/minisearch.js'));
  const index = JSON.stringify({ options: searchOptions, index: searchIndex(pages) });
  writeFileSync(join(folder, 'assets/search-index.js'), `window.searchIndex = ${index};\n`);
  return { pages: pages.length, files: copied.size, problems };
}
