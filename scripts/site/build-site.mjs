// Makes the documentation site: static pages with a search. Tells of every link that leads nowhere.
import { copyFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import MiniSearch from 'minisearch';
import { errorsPath, insideSections, readPages, sectionNames } from './pages.mjs';
import { buildWidget } from '../build/widget.mjs';
import { firstSentence, llmsFull, llmsList } from './llms.mjs';
import { buildSounds } from './sounds.mjs';
import { markdownOf, parsePage, renderPage } from './render.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const searchOptions = { fields: ['title', 'text'], storeFields: ['title', 'page', 'target', 'isGuide'] };
const escapeHtml = (text) => text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);

/** The menu as one page sees it: its own section is open, and what users do not need lies together behind the rest. */
function menuFor(page, pages) {
  const here = posix.dirname(page.target);
  const fold = (name, isOpen, inner) =>
    `<details${isOpen ? ' open' : ''}><summary>${name}</summary>${inner}</details>`;
  const sectionOf = (name) => {
    const items = pages
      .filter((one) => one.section === name && !one.isUnlisted)
      .map((one) => {
        const current =
          one === page || (page.isUnlisted && one.path === errorsPath) ? ' aria-current="page"' : '';
        const href = posix.relative(here, one.target) || posix.basename(one.target);
        return `<li><a href="${href}"${current}>${escapeHtml(one.title)}</a></li>`;
      });
    return items.length === 0 ? '' : fold(name, name === page.section, `<ul>${items.join('')}</ul>`);
  };
  const first = sectionNames.filter((name) => !insideSections.includes(name)).map(sectionOf);
  const inside = insideSections.map(sectionOf).join('');
  return [...first, fold('Inside the project', insideSections.includes(page.section), inside)].join('');
}

/** What the page holds, where that is more than a screen shows. */
function contentsOf({ parts }) {
  const heads = parts.filter(({ level }) => level === 2 || level === 3);
  if (heads.filter(({ level }) => level === 2).length < 3) return '';
  const items = heads.map(
    ({ slug, title, level }) => `<li class="level-${level}"><a href="#${slug}">${escapeHtml(title)}</a></li>`,
  );
  return `<details class="contents"><summary>On this page</summary><ul>${items.join('')}</ul></details>`;
}

/** The page that calls a service on the reader's machine has to reach it. */
const policyOf = ({ hasCall }) =>
  [
    "default-src 'self'",
    "style-src 'self'",
    `script-src 'self'${hasCall ? ' blob:' : ''}`,
    "img-src 'self' data:",
    ...(hasCall ? ["connect-src 'self' ws://127.0.0.1:8088 http://127.0.0.1:8088"] : []),
  ].join('; ');

function pageHtml(page, body, { pages, version }) {
  const base = posix.relative(posix.dirname(page.target), '.') || '.';
  const about = firstSentence(page.text) || page.title;
  return `<!doctype html>
<html lang="en" data-base="${base}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policyOf(page)}">
<title>${escapeHtml(page.title)} · Voice agent service</title>
<meta name="description" content="${escapeHtml(about)}">
<link rel="icon" href="${base}/assets/icon.svg">
<link rel="alternate" type="text/markdown" href="${posix.basename(page.target).replace(/html$/, 'md')}">
<link rel="stylesheet" href="${base}/assets/style.css">
<script src="${base}/assets/theme.mjs"></script>
<script defer src="${base}/assets/page.mjs"></script>
<script defer src="${base}/assets/search.mjs"></script>
${page.hasCall ? `<script defer src="${base}/assets/widget.js"></script>` : ''}
<body>
<a class="skip" href="#content">To the text</a>
<header><a class="home" href="${base}/index.html">Voice agent service</a>
<a class="version" href="${base}/CHANGELOG.html" title="What is new">${version}</a><a class="menu" href="#pages">Menu</a>
<search><input id="query" type="search" placeholder="Search ( / )" aria-label="Search" autocomplete="off"><ol id="hits" hidden></ol></search>
<button id="theme" type="button" hidden>Dark</button></header>
<div class="columns"><nav id="pages" aria-label="Pages">${menuFor(page, pages)}</nav>
<main id="content">${body.replace('</h1>', `</h1>${contentsOf(page)}`)}</main></div>
`;
}

/** One entry for each heading and each name of a reference, and one for the whole page of an error code, so that a hit opens at its place. */
function searchIndex(pages) {
  const search = new MiniSearch(searchOptions);
  const whole = ({ title, parts }) => [{ slug: '', title, text: parts.map(({ text }) => text).join(' ') }];
  const parts = pages.flatMap((page) =>
    (page.isUnlisted ? whole(page) : page.parts).map(({ slug, title, text }) => ({
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

export async function buildSite(folder) {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
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
    writeFileSync(file, pageHtml(page, renderPage(page, site), { pages, version }));
    writeFileSync(file.replace(/html$/, 'md'), markdownOf(page, site));
  }
  writeFileSync(join(folder, 'llms.txt'), llmsList(pages));
  writeFileSync(join(folder, 'llms-full.txt'), llmsFull(pages));
  for (const path of copied) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    copyFileSync(join(root, path), join(folder, path));
  }
  cpSync(join(root, 'scripts/site/assets'), join(folder, 'assets'), { recursive: true });
  copyFileSync(join(root, 'web/icon.svg'), join(folder, 'assets/icon.svg'));
  await buildSounds(join(folder, 'docs/sounds'));
  await buildWidget(join(folder, 'assets/widget.js'));
  copyFileSync(join(root, 'node_modules/minisearch/dist/umd/index.js'), join(folder, 'assets/minisearch.js'));
  const index = JSON.stringify({ options: searchOptions, index: searchIndex(pages) });
  writeFileSync(join(folder, 'assets/search-index.js'), `window.searchIndex = ${index};\n`);
  return { pages: pages.length, files: copied.size, problems };
}
