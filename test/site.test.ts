/** The documentation site: every link of every page leads somewhere, and what is shown needs no network. */
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chromium, type Browser } from 'playwright-core';
import { rmsDbfs } from '../shared/audio/pcm.ts';
import { parseWav } from '../shared/audio/wav.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

interface Built {
  readonly pages: number;
  readonly problems: readonly string[];
}
interface SiteModule {
  readonly buildSite: (folder: string) => Promise<Built>;
}

const script = fileURLToPath(new URL('../scripts/site/build-site.mjs', import.meta.url));
let folder: string;
let built: Built;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-site-'));
  const { buildSite } = (await import(pathToFileURL(script).href)) as SiteModule;
  built = await buildSite(folder);
}, 240_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** In a page: words of cells that are neither code nor links, and do not stand in one line. */
const brokenWords = `[...document.querySelectorAll('td')].flatMap((cell) => {
  const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  const broken = [];
  while (texts.nextNode()) {
    const { currentNode: text } = texts;
    if (text.parentElement.closest('code, a') !== null) continue;
    for (const { index, 0: word } of text.data.matchAll(/[a-z]+/gi)) {
      const range = document.createRange();
      range.setStart(text, index);
      range.setEnd(text, index + word.length);
      if (range.getClientRects().length > 1) broken.push(word);
    }
  }
  return broken;
})`;

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

  it('plays what the page about sound tells of', () => {
    const page = readFileSync(join(folder, 'docs/audio.html'), 'utf8');
    const sounds = [...page.matchAll(/<audio [^>]*src="([^"]*)"/g)].map(([, address = '']) => address);
    expect(sounds).toHaveLength(7);
    for (const address of sounds) {
      const { pcm, sampleRate } = parseWav(readFileSync(join(folder, 'docs', address)));
      expect(pcm.length / sampleRate).toBeGreaterThan(2);
      expect(rmsDbfs(pcm)).toBeGreaterThan(-35);
    }
  });

  it('shows each command of an agent in a line of its own', () => {
    const page = readFileSync(join(folder, 'docs/cookbook.html'), 'utf8');
    expect(page).not.toMatch(/<p>[^<]*(?:npx|node scripts|npm start)[^<]*<\/p>/);
    expect(page).toMatch(
      /<pre><code class="language-sh">[^<]*models pull zipformer-en\n[^<]*models pull piper-ljspeech\n/,
    );
  });

  it('has a page for each error code, which says what to do wherever the code is told', () => {
    const table = readFileSync('docs/reference/errors.md', 'utf8');
    const firsts = [...table.matchAll(/^\| (`\w+`|\d{3}) \|/gm)].map(([, first = '']) => first);
    expect(firsts.length).toBeGreaterThan(110);
    const rows = readFileSync(join(folder, 'docs/reference/errors.html'), 'utf8');
    for (const first of firsts) {
      const name = first.startsWith('`') ? first.slice(1, -1) : `sip-${first}`;
      const page = readFileSync(join(folder, `docs/reference/errors/${name}.md`), 'utf8');
      const told = firsts.filter((one) => one === first).length;
      expect(page.match(/^\*\*What to do\*\*: \S.+\.$/gm) ?? [], name).toHaveLength(told);
      expect(rows).toContain(`href="errors/${name}.html"`);
    }
    // They crowd neither the menu nor the list for language models.
    expect(rows).not.toMatch(/<li><a href="errors\//);
    expect(readFileSync(join(folder, 'llms.txt'), 'utf8')).not.toContain('errors/busy');
  });

  it('says what a page holds', () => {
    const page = readFileSync(join(folder, 'docs/providers.html'), 'utf8');
    const heads = [...page.matchAll(/<h[23] id="([^"]*)"/g)].map(([, slug]) => slug);
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
          await page.locator(`#hits[data-words="${words}"]`).waitFor();
          const hits = await page.evaluate<string[]>(
            `[...document.querySelectorAll('#hits a')].map((link) => link.getAttribute('href'))`,
          );
          const others = hits.map(
            (href) =>
              /decisions|measurements|architecture|bench/i.test(href) ||
              /CHANGELOG|CONTRIBUTING|AGENTS/.test(href),
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

  it.skipIf(browser === undefined)(
    'has no page that is wider than the smallest phone',
    async () => {
      const chrome = await chromium.launch({ executablePath: browser!, args: ['--no-sandbox'] });
      try {
        // Nothing that a script does makes a page wider.
        const page = await chrome.newPage({
          viewport: { width: 320, height: 700 },
          javaScriptEnabled: false,
        });
        // Pages of one kind are made alike.
        const names = htmlFiles().filter((name) => !/(?:decisions|reference\/errors)\/\w/.test(name));
        const wide: string[] = [];
        for (const name of names) {
          await page.goto(pathToFileURL(join(folder, name)).href);
          if (await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth'))
            wide.push(name);
        }
        expect(wide).toEqual([]);
      } finally {
        await chrome.close();
      }
    },
    60_000,
  );

  it.skipIf(browser === undefined)(
    'shows the heading that an address names, under its own head',
    async () => {
      const chrome = await chromium.launch({ executablePath: browser!, args: ['--no-sandbox'] });
      try {
        const page = await chrome.newPage();
        const hidden = `document.querySelector('header').getBoundingClientRect().bottom - document.querySelector(':target').getBoundingClientRect().top`;
        for (const width of [320, 340, 360, 390, 700, 1400]) {
          await page.setViewportSize({ width, height: 700 });
          const url = pathToFileURL(join(folder, 'docs/operate/runbook.html')).href;
          await page.goto('about:blank');
          await page.goto(`${url}#voiceagentrecordingsnotuploaded`);
          expect(await page.evaluate<number>(hidden), `${width}`).toBeLessThanOrEqual(0);
        }
      } finally {
        await chrome.close();
      }
    },
    60_000,
  );

  it.skipIf(browser === undefined)(
    'breaks no plain word of a table that fits',
    async () => {
      const chrome = await chromium.launch({ executablePath: browser!, args: ['--no-sandbox'] });
      try {
        const page = await chrome.newPage({ viewport: { width: 1400, height: 900 } });
        for (const name of [
          'docs/decisions/index',
          'docs/beside-others',
          'docs/stability',
          'docs/providers',
          'docs/reference/commands',
        ]) {
          await page.goto(pathToFileURL(join(folder, `${name}.html`)).href);
          expect(await page.evaluate<string[]>(brokenWords), name).toEqual([]);
        }
      } finally {
        await chrome.close();
      }
    },
    60_000,
  );

  /** Over HTTP, as readers have it. */
  async function served(use: (base: string, chrome: Browser) => Promise<void>): Promise<void> {
    const types: Readonly<Record<string, string>> = {
      mjs: 'text/javascript',
      js: 'text/javascript',
      css: 'text/css',
      svg: 'image/svg+xml',
    };
    const server = createServer(({ url = '/' }, response) => {
      const path = join(folder, new URL(url, 'http://site').pathname);
      if (!existsSync(path)) return void response.writeHead(404).end();
      response
        .writeHead(200, { 'Content-Type': types[/\w+$/.exec(path)?.[0] ?? ''] ?? 'text/html' })
        .end(readFileSync(path));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const chrome = await chromium.launch({ executablePath: browser!, args: ['--no-sandbox'] });
    try {
      await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, chrome);
    } finally {
      await chrome.close();
      server.close();
    }
  }

  it.skipIf(browser === undefined)(
    'has nothing that axe finds wrong, in light and dark, on a desk and on a phone',
    async () => {
      const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
      await served(async (base, chrome) => {
        // What colours do is the same at any width, and what widths do in any colour.
        for (const [colorScheme, width, height] of [
          ['light', 1500, 900],
          ['dark', 390, 844],
        ] as const) {
          const context = await chrome.newContext({
            ...{ colorScheme, viewport: { width, height }, bypassCSP: true },
          });
          const page = await context.newPage();
          for (const name of [
            'index',
            'docs/try',
            'docs/tools',
            'docs/reference/errors',
            'docs/reference/errors/busy',
            'docs/decisions/0045-webrtc',
          ]) {
            await page.goto(`${base}/${name}.html`);
            await page.evaluate(axe);
            const found = await page.evaluate<string[]>(
              `axe.run().then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => id + ' ' + target)))`,
            );
            expect(found, `${name}, ${colorScheme}, ${width}`).toEqual([]);
          }
          await context.close();
        }
      });
    },
    120_000,
  );

  it.skipIf(browser === undefined)(
    'finds a setting and a key by its name and leads to its row, and an error code and leads to its page',
    async () => {
      await served(async (base, chrome) => {
        const page = await chrome.newPage();
        for (const [name, target] of [
          ['SVC_WS_ADDR', 'docs/reference/server-settings.html#svc_ws_addr'],
          ['silence_end_ms', 'docs/reference/agent-file.html#turnsilence_end_ms'],
          ['SVC_RELOAD_DRAIN_TIMEOUT', 'docs/reference/server-settings.html#svc_reload_drain_timeout'],
          ['SVC_DRAIN_TIMEOUT', 'docs/reference/server-settings.html#svc_drain_timeout'],
          ['SVC_SIP_USER', 'docs/reference/server-settings.html#svc_sip_user'],
          ['after_call.url', 'docs/reference/agent-file.html#after_callurl'],
          ['address_full', 'docs/reference/errors/address_full.html'],
          ['busy', 'docs/reference/errors/busy.html'],
          ['carrier', 'docs/reference/errors/carrier.html'],
          ['invalid_json', 'docs/reference/errors/invalid_json.html'],
        ] as const) {
          await page.goto(`${base}/index.html`);
          await page.keyboard.press('/');
          await page.keyboard.type(name);
          await page.locator(`#hits[data-words="${name}"]`).waitFor();
          await page.keyboard.press('Enter');
          await page.waitForURL(`${base}/${target}`);
          const shown = page.locator(target.includes('#') ? 'tr:target' : 'h1');
          expect(await shown.innerText()).toContain(name.replace('after_call.', ''));
        }
      });
    },
    60_000,
  );

  it.skipIf(browser === undefined)(
    'begins on the first screen of a phone, with its outline folded, and shows the outline elsewhere',
    async () => {
      await served(async (base, chrome) => {
        const page = await chrome.newPage();
        const outline = page.locator('.contents li').first();
        const text = page.locator('main > p').first();
        for (const [width, isFolded] of [
          [390, true],
          [1100, false],
          [1600, false],
        ] as const) {
          await page.setViewportSize({ width, height: 844 });
          await page.goto(`${base}/docs/reference/agent-file.html`);
          expect(await outline.isVisible(), `${width}`).toBe(!isFolded);
          if (isFolded) expect((await text.boundingBox())?.y).toBeLessThan(400);
          await page.getByText('On this page').click();
          expect(await outline.isVisible(), `${width}`).toBe(isFolded);
        }
      });
    },
    60_000,
  );

  it.skipIf(browser === undefined)(
    'stays where it is when its scripts and images come late',
    async () => {
      const tops = `[...document.querySelectorAll('header > *, main > *:not(.copy)')].map((one) => Math.round(one.getBoundingClientRect().top))`;
      await served(async (base, chrome) => {
        for (const [width, isMobile] of [
          [412, true],
          [1350, false],
        ] as const) {
          const context = await chrome.newContext({
            ...{ viewport: { width, height: 823 }, hasTouch: isMobile, isMobile, bypassCSP: true },
          });
          for (const name of ['index', 'docs/try', 'docs/reference/agent-file']) {
            const page = await context.newPage();
            let come = (): void => undefined;
            const late = new Promise<void>((resolve) => (come = resolve));
            await page.route(/page\.mjs|widget\.js|\.png$/, async (route) => {
              await late;
              await route.continue();
            });
            await page.goto(`${base}/${name}.html`, { waitUntil: 'commit' });
            await page.waitForFunction(`document.readyState === 'interactive'`);
            const before = await page.evaluate<number[]>(tops);
            come();
            await page.waitForLoadState();
            expect(await page.evaluate<number[]>(tops), `${name}, ${width}`).toEqual(before);
            await page.close();
          }
          await context.close();
        }
      });
    },
    60_000,
  );

  it.skipIf(browser === undefined)(
    'hides no code behind a button',
    async () => {
      await served(async (base, chrome) => {
        const page = await chrome.newPage();
        const button = page.locator('.copy').first();
        const opacity = (): Promise<string> =>
          page.evaluate<string>(`getComputedStyle(document.querySelector('.copy')).opacity`);
        await page.goto(`${base}/docs/quick-start.html`);
        expect(await opacity()).toBe('0');
        await page.locator('pre').first().hover();
        expect(await opacity()).toBe('1');
        await page.setViewportSize({ width: 390, height: 844 });
        const [above, code] = await Promise.all([
          button.boundingBox(),
          page.locator('pre code').first().boundingBox(),
        ]);
        expect(code!.y).toBeGreaterThanOrEqual(above!.y + above!.height);
      });
    },
    60_000,
  );

  it.skipIf(browser === undefined)(
    'copies code, and remembers whether it is light or dark',
    async () => {
      await served(async (base, chrome) => {
        const context = await chrome.newContext({ colorScheme: 'light' });
        await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: base });
        const page = await context.newPage();
        await page.goto(`${base}/index.html`);
        const code = await page.locator('pre').nth(1).innerText();
        await page.getByRole('button', { name: 'Copy' }).nth(1).click();
        expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(`${code.trimEnd()}\n`);
        await page.getByRole('button', { name: 'Dark' }).click();
        await page.goto(`${base}/docs/tools.html`);
        await page.getByRole('button', { name: 'Light' }).waitFor();
        const background = await page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
        expect(background).toBe('rgb(20, 23, 27)');
        await context.close();
      });
    },
    60_000,
  );

  it('says its version on every page, and folds away what is not for users', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    const page = readFileSync(join(folder, 'docs/tools.html'), 'utf8');
    expect(page).toContain(`title="What is new">${version}</a>`);
    const inside = /<details><summary>Inside the project<\/summary>.*<\/nav>/s.exec(page)?.[0] ?? '';
    for (const name of ['decisions/0045-webrtc', 'measurements/pipecat']) expect(inside).toContain(name);
    const decision = readFileSync(join(folder, 'docs/decisions/0045-webrtc.html'), 'utf8');
    expect(decision).toContain('<details open><summary>Inside the project</summary>');
  });

  it('has an address for every setting, key and error code', () => {
    for (const [name, least] of [
      ['server-settings', 120],
      ['agent-file', 200],
      ['errors', 80],
    ] as const) {
      const page = readFileSync(join(folder, `docs/reference/${name}.html`), 'utf8');
      const rows = [...page.matchAll(/<tr id="([^"]+)">/g)].map(([, id = '']) => id);
      expect(rows.length).toBeGreaterThan(least);
      expect(new Set(rows).size).toBe(rows.length);
    }
  });

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
    expect([...list.matchAll(/^- .*\.md\)(?!: \S).*$/gm)].map(([row]) => row)).toEqual([]);
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
