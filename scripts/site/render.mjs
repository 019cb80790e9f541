// Markdown to HTML, with every link looked up: to a page, to a file that is copied along, or to a heading. A link that leads nowhere is a problem.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import MarkdownIt from 'markdown-it';

/** As code hosts make them of headings, so that links work there and here. */
export const slugOf = (text) =>
  text
    .toLowerCase()
    .replace(/<[^>]*>/g, '')
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');

/** Text without the marks of Markdown. */
const plainOf = (text) => text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/[`*]/g, '');

const isElsewhere = (href) => /^[a-z][a-z0-9+.-]*:/i.test(href) || href.startsWith('//');

function newParser() {
  const parser = new MarkdownIt({ html: true, linkify: false });
  // Tables and code are wider than a phone: they scroll by themselves.
  parser.renderer.rules.table_open = () => '<div class="wide"><table>';
  parser.renderer.rules.table_close = () => '</table></div>';
  // Long names may break where their parts meet.
  parser.renderer.rules.code_inline = (tokens, index) =>
    `<code>${parser.utils.escapeHtml(tokens[index].content).replace(/[_./=|](?=\w)/g, '$&<wbr>')}</code>`;
  return parser;
}
const parser = newParser();

/** Names each cell by the head of its column: where a table is wider than the screen its rows stand below one another. */
function labelCells(tokens) {
  let heads = [];
  let column = 0;
  tokens.forEach((token, index) => {
    if (token.type === 'thead_open') heads = [];
    else if (token.type === 'tr_open') column = 0;
    else if (token.type === 'th_open') {
      const head = plainOf(tokens[index + 1].content);
      heads.push(head);
      // A corner without words heads nothing.
      if (head.trim() === '') for (const cell of [token, tokens[index + 2]]) cell.tag = 'td';
    } else if (token.type === 'td_open') {
      token.attrSet('data-label', heads[column] ?? '');
      column += 1;
    }
  });
}

/** What a row of a reference is found by: the name in its first cell, in the agent file with its table in front. */
function rowName(page, heading, first) {
  const name = /^`([\w.-]+)`$/.exec(first)?.[1];
  if (name === undefined || !page.path.startsWith('docs/reference/')) return undefined;
  const table = page.path.endsWith('agent-file.md') ? /\[+([\w.]+)\]+/.exec(heading)?.[1] : undefined;
  return table === undefined ? name : `${table}.${name}`;
}

/** A name that is a link: to a page of its own, or to itself, so that its address can be passed on. */
function linkName(inline, href, Token) {
  const open = new Token('link_open', 'a', 1);
  open.attrSet('href', href);
  inline.children = [open, ...inline.children, new Token('link_close', 'a', -1)];
}

/** Tokens of a page, its headings and rows with their addresses, and the plain text of each part of it. */
export function parsePage(page) {
  const tokens = parser.parse(page.text, {});
  labelCells(tokens);
  const taken = new Map();
  const slugFor = (text) => {
    const plain = slugOf(text);
    const count = taken.get(plain) ?? 0;
    taken.set(plain, count + 1);
    return count === 0 ? plain : `${plain}-${count}`;
  };
  const top = { slug: '', title: page.title, text: '' };
  const parts = [top];
  let section = top;
  let row;
  tokens.forEach((token, index) => {
    const { type } = token;
    if (type === 'heading_open') {
      const title = plainOf(tokens[index + 1].content);
      const slug = slugFor(title);
      token.attrSet('id', slug);
      if (token.tag === 'h1') return;
      section = { slug, title, text: '', level: Number(token.tag.slice(1)) };
      parts.push(section);
    } else if (type === 'tr_open') {
      const inline = tokens[index + 2];
      if (tokens[index + 1].type !== 'td_open') return;
      const ownPage = page.ofRow?.get(inline.content);
      const name = rowName(page, section.title, inline.content);
      if (name !== undefined) token.attrSet('id', slugFor(name));
      const slug = token.attrGet('id');
      if (ownPage !== undefined || slug !== null) linkName(inline, ownPage ?? `#${slug}`, token.constructor);
      // A term with a page of its own is found there.
      if (slug === null || ownPage !== undefined) return;
      row = { slug, title: name, text: '' };
      parts.push(row);
    } else if (type === 'tr_close') {
      row = undefined;
    } else if (type === 'inline' || type === 'fence') {
      (row ?? section).text += ` ${token.content}`;
    }
  });
  return { ...page, tokens, parts, slugs: new Set(tokens.flatMap((token) => token.attrGet?.('id') ?? [])) };
}

/** Where a link of a page leads on the site. Files that are no pages are told to `copied`; what leads nowhere is a problem. */
function linksOf(page, { root, pages, copied, problems }) {
  const folder = posix.dirname(page.path);
  const here = posix.dirname(page.target);
  const up = (target) => posix.relative(here, target) || posix.basename(target);
  return (href) => {
    if (isElsewhere(href)) return href;
    const [path, anchor] = href.split('#');
    const wanted =
      path === '' ? page.path : posix.normalize(posix.join(folder, decodeURI(path))).replace(/\/$/, '');
    const other = pages.get(wanted) ?? pages.get(posix.join(wanted, 'README.md'));
    if (other !== undefined) {
      if (anchor !== undefined && anchor !== '' && !other.slugs.has(anchor))
        problems.push(`${page.path}: ${href} names no heading`);
      return path === '' ? href : `${up(other.target)}${anchor === undefined ? '' : `#${anchor}`}`;
    }
    const file = join(root, wanted);
    if (wanted.startsWith('..') || !existsSync(file)) {
      problems.push(`${page.path}: ${href} leads nowhere`);
      return undefined;
    }
    // Folders of the repository are not on the site.
    if (statSync(file).isDirectory()) return undefined;
    copied.add(wanted);
    return up(wanted);
  };
}

/** The page as Markdown whose links lead to the other pages as Markdown. */
export function markdownOf(page, site) {
  const lookUp = linksOf(page, { ...site, copied: new Set(), problems: [] });
  const relink = (text) =>
    text.replace(/\]\(([^)\s]+)\)/g, (whole, href) => {
      const found = lookUp(href);
      return found === undefined
        ? whole
        : `](${isElsewhere(found) ? found : found.replace(/\.html(?=#|$)/, '.md')})`;
    });
  // Code stays as it is: every other piece between its fences.
  const pieces = page.text.split(/(^```[\s\S]*?^```)/m);
  return pieces.map((piece, index) => (index % 2 === 0 ? relink(piece) : piece)).join('');
}

/** An image has its place before it comes: its width and height stand in the head of a PNG. */
function sizeImage(image, page, root) {
  const file = join(root, posix.dirname(page.path), decodeURI(image.attrGet('src')));
  if (!file.endsWith('.png') || !existsSync(file)) return;
  const bytes = readFileSync(file);
  image.attrSet('width', String(bytes.readUInt32BE(16)));
  image.attrSet('height', String(bytes.readUInt32BE(20)));
}

/** Turns links into those of the site. */
export function renderPage(page, site) {
  const lookUp = linksOf(page, site);
  const fix = (tokens) => {
    for (const token of tokens) {
      if (token.type === 'image') sizeImage(token, page, site.root);
      for (const name of ['href', 'src']) {
        const value = token.attrGet?.(name);
        if (value === null || value === undefined) continue;
        const found = lookUp(value);
        if (found === undefined) token.attrs = token.attrs.filter(([attribute]) => attribute !== name);
        else token.attrSet(name, found);
      }
      if (token.children) fix(token.children);
    }
  };
  fix(page.tokens);
  return parser.renderer.render(page.tokens, parser.options, {});
}
