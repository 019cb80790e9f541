/** What axe finds wrong with a page, in dark and light, on a desk and on a phone. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** @param look finds more in each of these forms of the page. */
export async function violationsOf(
  page: Page,
  look: (width: number) => Promise<readonly string[]> = () => Promise.resolve([]),
): Promise<string[]> {
  const found: string[] = [];
  for (const colorScheme of ['dark', 'light'] as const) {
    for (const width of [1_280, 380]) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.setViewportSize({ width, height: 800 });
      await page.evaluate(axeSource);
      found.push(
        ...(await page.evaluate<string[]>(
          `axe.run().then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => id + ' ' + target)))`,
        )),
        ...(await look(width)),
      );
    }
  }
  return found;
}
