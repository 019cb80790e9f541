/** The documentation site: every link of every page leads somewhere, and what is shown needs no network. */
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
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

  it('finds words where they stand', () => {
    const index = readFileSync(join(folder, 'assets/search-index.js'), 'utf8');
    for (const target of ['docs/scale.html#a-fleet', 'docs/operate/runbook.html#voiceagentnoworkers'])
      expect(index).toContain(target);
    // The brackets of a section are part of its name, those of a link are not.
    expect(index).toContain('"[turn.interrupt]"');
    expect(index).not.toMatch(/"[^"[]*\]"/);
  });

  it('shows ten whole agents', () => {
    const page = readFileSync(join(folder, 'docs/cookbook.html'), 'utf8');
    expect(page.match(/<h2 /g)?.length).toBeGreaterThanOrEqual(10);
    // Where the repository has a folder of files.
    expect(readFileSync(join(folder, 'docs/quick-start.html'), 'utf8')).toContain('href="cookbook.html"');
  });
});
