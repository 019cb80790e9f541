/** Guides that walk through code show it as it is. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');

const guide = read('docs/architecture/adding-a-provider.md');
const blocks = [...guide.matchAll(/<!-- (\S+) -->\n```\w+\n([\s\S]*?)\n```/g)].map(
  ([, path = '', code = '']) => ({
    path,
    code,
  }),
);

describe('the guide to adding a provider', () => {
  it('shows code of the example', () => {
    expect(blocks.map(({ path }) => path)).toContain('examples/provider-package/index.mjs');
    expect(blocks.length).toBe(guide.match(/^```(js|ts|json)$/gm)?.length);
  });

  it.each(blocks)('shows $path as it is', ({ path, code }) => {
    expect(read(path)).toContain(code);
  });
});
