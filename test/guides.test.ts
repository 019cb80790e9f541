/** Guides that walk through code show it as it is, and what they show works. */
import { existsSync, readFileSync } from 'node:fs';
import { transform } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { loadAgentFile } from '../shared/config/load.ts';
import { fillBody } from '../worker/tools/http-tool.ts';

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');

const blocksOf = (page: string): { readonly path: string; readonly code: string }[] =>
  [...page.matchAll(/<!-- (\S+) -->\n```\w+\n([\s\S]*?)\n```/g)].map(([, path = '', code = '']) => ({
    path,
    code,
  }));

const guide = read('docs/architecture/adding-a-provider.md');
const blocks = blocksOf(guide);

describe('the guide to adding a provider', () => {
  it('shows code of the example', () => {
    expect(blocks.map(({ path }) => path)).toContain('examples/provider-package/index.mjs');
    expect(blocks.length).toBe(guide.match(/^```(js|ts|json)$/gm)?.length);
  });

  it.each(blocks)('shows $path as it is', ({ path, code }) => {
    expect(read(path)).toContain(code);
  });
});

it('the page of webhooks shows the receiver of the example as it is', () => {
  const [receiver, ...others] = blocksOf(read('docs/webhooks.md'));
  expect([receiver?.path, others]).toEqual(['examples/webhooks/receiver.mjs', []]);
  expect(read('examples/webhooks/receiver.mjs')).toContain(receiver?.code);
});

describe('the guide to moving from jambonz', () => {
  const page = read('docs/agent-link/from-jambonz.md');
  const block = (language: string): string =>
    new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(page)?.[1] ?? '';

  it('has an agent file without a problem, whose tool is asked for as a toolHook is', () => {
    const env = { DEEPGRAM_API_KEY: 'k', OPENAI_API_KEY: 'k', CARTESIA_API_KEY: 'k' };
    const nothing = (): never => expect.fail('no other file is named');
    const read = { env, readFile: nothing, readBytes: nothing, requireSecrets: true };
    const { problems, definition } = loadAgentFile(block('toml'), read);
    expect(problems).toEqual([]);
    const [tool] = definition?.tools ?? [];
    const given = { day: '2026-12-01', time: '19:00', people: 4, name: 'Ada' };
    expect(fillBody(tool?.http.body, given)).toEqual({ name: 'book_table', arguments: given });
    expect(block('ts')).toContain(`toolHook: '${tool?.http.url}'`);
  });

  it('has a program that can be read', async () => {
    const { warnings } = await transform(block('ts'), { loader: 'ts' });
    expect([block('ts').length > 0, warnings]).toEqual([true, []]);
    expect(JSON.parse(block(' *json'))).toMatchObject({ verb: 'dial' });
  });
});

describe.each(['CONTRIBUTING.md', 'AGENTS.md'])('%s', (name) => {
  const page = read(name);

  it('is one page', () => {
    expect(page.split('\n').length).toBeLessThan(90);
  });

  it('names only files, folders and commands that there are', () => {
    const named = [...page.matchAll(/`([^`\n]+)`/g)].map(([, inside = '']) => inside);
    const paths = named.filter((one) => /^[.\w-]+(\/[.\w-]+)+$/.test(one) && !one.endsWith('dist/'));
    expect(paths.length).toBeGreaterThan(5);
    expect(paths.filter((path) => !existsSync(new URL(`../${path}`, import.meta.url)))).toEqual([]);
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Readonly<Record<string, string>> };
    const run = [...page.matchAll(/npm run ([a-z:-]+)/g)].map(([, script = '']) => script);
    expect(run.filter((script) => scripts[script] === undefined)).toEqual([]);
  });
});

describe('the front page', () => {
  const page = read('README.md');

  it('shows an agent of fifteen lines in its first screen, and ten of the SDK as they are checked', () => {
    const [agent = ''] = [...page.matchAll(/```toml\n([^`]*)```/g)].map(([, text = '']) => text);
    expect(agent.trim().split('\n').length).toBeLessThanOrEqual(15);
    expect(page.slice(0, page.indexOf(agent)).split('\n').length).toBeLessThan(35);
    const [program = ''] = [...page.matchAll(/```ts\n([^`]*)```/g)].map(([, text = '']) => text);
    expect(program.trim().split('\n').length).toBeLessThanOrEqual(10);
    expect(program).toBe(read('sdk/typescript/examples/bakery.ts'));
  });

  it('stays short', () => {
    expect(page.split(/\s+/).length).toBeLessThan(1_500);
  });
});
