/** The documentation site: every link of every page leads somewhere, and what is shown needs no network. */
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

interface Built {
  readonly pages: number;
  readonly problems: readonly string[];
}
interface SiteModule {
  readonly buildSite: (folder: string) => Built;
}

const script = fileURLToPath(new URL('../scripts/site/build-site.mjs', import.meta.url));
let folder: string;
let built: Built;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-site-'));
  const { buildSite } = (await import(pathToFileURL(script).href)) as SiteModule;
  built = buildSite(folder);
}, 240_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const htmlFiles = (): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.html'));

describe('the documentation site', () => {
  it('has no link that leads nowhere', () => {
    expect(built.problems).toEqual([]);
    expect(built.pages).toBeGreaterThan(50);
    expect(htmlFiles()).toHaveLength(built.pages);
  });

  it('loads nothing from elsewhere', () => {
    const loads = htmlFiles().flatMap((name) =>
      [...readFileSync(join(folder, name), 'utf8').matchAll(/(?:src|<link[^>]* href)="([^"]*)"/g)].map(
        ([, address = '']) => ({ name, address }),
      ),
    );
    expect(loads.length).toBeGreaterThan(200);
    const missing = loads.filter(
      ({ name, address }) => /^([a-z]+:|\/)/.test(address) || !existsSync(join(folder, name, '..', address)),
    );
    expect(missing).toEqual([]);
  });

  it('shows each command of an agent in a line of its own', () => {
    const page = readFileSync(join(folder, 'docs/cookbook.html'), 'utf8');
    expect(page).not.toMatch(/<p>[^<]*(?:npx|node scripts|npm start)[^<]*<\/p>/);
    expect(page).toMatch(
      /<pre><code class="language-sh">[^<]*models pull zipformer-en\n[^<]*models pull piper-ljspeech\n/,
    );
  });

  it('says what a page holds', () => {
    const page = readFileSync(join(folder, 'docs/providers.html'), 'utf8');
    const heads = [...page.matchAll(/<h2 id="([^"]*)"/g)].map(([, slug]) => slug);
    const contents = /<details class="contents".*?<\/details>/s.exec(page)?.[0] ?? '';
    expect(heads.length).toBeGreaterThan(2);
    expect([...contents.matchAll(/href="#([^"]*)"/g)].map(([, slug]) => slug)).toEqual(heads);
  });

  const browser = ['/usr/bin/chromium', '/usr/bin/chromium-headless-shell'].find((path) => existsSync(path));
  it.skipIf(browser === undefined)(
    'shows whole tables at any width, and guides before decisions',
    async () => {
      const chrome = await chromium.launch({ executablePath: browser!, args: ['--no-sandbox'] });
      try {
        const page = await chrome.newPage();
        for (const width of [1400, 1100, 900, 400]) {
          await page.setViewportSize({ width, height: 900 });
          for (const name of [
            'docs/reference/server-settings.html',
            'docs/reference/errors.html',
            'docs/providers.html',
          ]) {
            await page.goto(pathToFileURL(join(folder, name)).href);
            const beyond = await page.evaluate<string[]>(
              `[...document.querySelectorAll('.wide')].filter((t) => t.scrollWidth > t.clientWidth + 1).map((t) => t.textContent)`,
            );
            expect(beyond, `${name} at ${width}`).toEqual([]);
          }
          await page.goto(pathToFileURL(join(folder, 'docs/reference/server-settings.html')).href);
          for (const cell of [3, 4])
            expect(await page.locator(`tr:nth-child(2) td:nth-child(${cell})`).first().isVisible()).toBe(
              true,
            );
        }
        for (const words of ['failover', 'restart', 'webrtc']) {
          await page.fill('#query', words);
          const hits = await page.evaluate<string[]>(
            `[...document.querySelectorAll('#hits a')].map((link) => link.getAttribute('href'))`,
          );
          const others = hits.map((href) =>
            /decisions|measurements|CHANGELOG|architecture|bench/i.test(href),
          );
          expect([others[0], others.at(-1)], words).toEqual([false, true]);
          expect(others).toEqual(others.toSorted());
        }
      } finally {
        await chrome.close();
      }
    },
    60_000,
  );

  it('finds words where they stand', () => {
    const index = readFileSync(join(folder, 'assets/search-index.js'), 'utf8');
    for (const target of ['docs/scale.html#a-fleet', 'docs/operate/runbook.html#voiceagentnoworkers'])
      expect(index).toContain(target);
    // The brackets of a section are part of its name, those of a link are not.
    expect(index).toContain('"[turn.interrupt]"');
    expect(index).not.toMatch(/"[^"[]*\]"/);
  });

  it('holds every page as Markdown too, whose links lead to Markdown', () => {
    for (const name of htmlFiles())
      expect(existsSync(join(folder, name.replace(/html$/, 'md'))), name).toBe(true);
    const page = readFileSync(join(folder, 'index.md'), 'utf8');
    const links = [...page.matchAll(/\]\(([^)#]+\.md)/g)].map(([, href = '']) => href);
    expect(links).toContain('sdk/typescript/index.md');
    expect(links.filter((href) => !existsSync(join(folder, href)))).toEqual([]);
  });

  it('is there for language models: a list of pages with a sentence each, and all that users read in one file', () => {
    const list = readFileSync(join(folder, 'llms.txt'), 'utf8');
    const rows = [...list.matchAll(/^- \[[^\]]+\]\(([^)]+\.md)\): \S/gm)].map(([, href = '']) => href);
    expect(rows.length).toBeGreaterThan(100);
    expect(rows.filter((href) => !existsSync(join(folder, href)))).toEqual([]);
    const full = readFileSync(join(folder, 'llms-full.txt'), 'utf8');
    for (const name of ['docs/tools.md', 'docs/reference/agent-file.md', 'docs/rehearsal.md'])
      expect(full).toContain(`<!-- ${name} -->`);
    expect(full).not.toContain('<!-- docs/decisions/');
    // The agent that was written from it alone uses nothing that is not in the rest of it.
    const rest = full.replace(/^## dentist\.toml$[\s\S]*?(?=^## )/m, '');
    expect(rest.length).toBeLessThan(full.length);
    const keys = ['dentist.toml', 'dentist.rehearsal.toml'].flatMap((name) => {
      const text = readFileSync(join('examples/agents', name), 'utf8');
      return [...text.matchAll(/(?:^|[{,] )([a-z_]+) = /gm)].map(([, key = '']) => key);
    });
    const own = ['born', 'day', 'time', 'at', 'source', 'practice', 'status'];
    const unknown = keys.filter(
      (key) => !own.includes(key) && !new RegExp(`\`${key}\\b|\\b${key} = `).test(rest),
    );
    expect(keys.length).toBeGreaterThan(60);
    expect(unknown).toEqual([]);
  });

  it('shows every whole agent', () => {
    const page = readFileSync(join(folder, 'docs/cookbook.html'), 'utf8');
    const agents = readdirSync('examples/agents').filter((name) => /^[^.]+\.toml$/.test(name));
    expect(page.match(/<h2 /g)).toHaveLength(agents.length);
    // Where the repository has a folder of files.
    expect(readFileSync(join(folder, 'docs/quick-start.html'), 'utf8')).toContain('href="cookbook.html"');
  });
});
