import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, it, expect } from 'vitest';
import { writeWav } from '../shared/audio/wav.ts';
import { loadAgentFile } from '../shared/config/load.ts';
import { describeAgentFile } from '../scripts/docs/describe.ts';
import { decisionsIndex } from '../scripts/docs/decisions-index.ts';
import { referenceFiles, withProviderChoices, withVersions } from '../scripts/docs/reference.ts';
import { wireFiles } from '../scripts/sdk/wire-types.ts';
import { commandsPage } from '../cli/commands/commands.ts';

const root = new URL('../', import.meta.url);
const readProjectFile = (path: string): string =>
  existsSync(new URL(path, root)) ? readFileSync(new URL(path, root), 'utf8') : 'missing';

const example = readProjectFile('docs/agent.example.toml');
const recording = writeWav(new Int16Array(8_000).fill(5_000), 8_000);
const load = (text: string): ReturnType<typeof loadAgentFile> =>
  loadAgentFile(text, {
    env: { PROVIDER_API_KEY: 'k' },
    readFile: () => 'A prompt.',
    readBytes: () => recording,
    requireSecrets: true,
  });

describe('generated documentation', () => {
  it.each([...referenceFiles(), ...wireFiles()].map(({ path, text }) => ({ path, text })))(
    '$path is what the declarations say (npm run docs writes it)',
    ({ path, text }) => {
      expect(readProjectFile(path)).toBe(text);
    },
  );

  it('holds the table of providers as the declarations have it (npm run docs writes it)', () => {
    const page = readProjectFile('docs/providers.md');
    expect(page).toContain('| stt | Deepgram (`deepgram`, `stt_cloud_a`) |');
    expect(page).toBe(withProviderChoices(page));
  });

  it('holds the versions of the packages as they are asked for (npm run docs writes them)', () => {
    const page = readProjectFile('docs/decisions/0007-dependencies.md');
    const { dependencies, devDependencies } = JSON.parse(readProjectFile('package.json')) as Readonly<
      Record<'dependencies' | 'devDependencies', Readonly<Record<string, string>>>
    >;
    expect(page).toBe(withVersions(page, { ...dependencies, ...devDependencies }));
  });

  it('has a page of the commands as their table says (npm run docs writes it)', () => {
    expect(readProjectFile('docs/reference/commands.md')).toBe(commandsPage());
  });

  it('has an index of the decisions, each with its status (npm run docs writes it)', () => {
    const names = readdirSync(new URL('docs/decisions', root)).filter((name) => name !== 'README.md');
    const records = names
      .map((name) => `docs/decisions/${name}`)
      .map((path) => ({ path, text: readProjectFile(path) }));
    const { path, text } = decisionsIndex(records);
    expect(readProjectFile(path)).toBe(text);
    expect(() => decisionsIndex([{ path: '0001-a.md', text: '# 0001: A\n' }])).toThrow(/Status/);
  });

  it('holds an example file without a single problem', () => {
    expect(load(example).problems).toEqual([]);
  });

  const comments = example.match(/^# [a-z_]+ = .*$/gm) ?? [];

  it('comments a sample of every key that the example does not set', () => {
    const shown = describeAgentFile().filter(({ isOfExample }) => isOfExample);
    expect(shown.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['stt.stt_local_ws', 'llm.chat_compatible', 'tts.speech_compatible']),
    );
    const acting = shown.flatMap(({ keys }) => keys);
    const set = example.match(/^[a-z_]+ = .*$/gm) ?? [];
    expect(comments.length + set.length).toBe(acting.length);
  });

  it.each([...new Set(comments)])(
    'shows %s, which is accepted or at odds with its neighbours only',
    (comment) => {
      // Each comment stands in for itself wherever it appears, one at a time.
      const { problems } = load(example.replace(comment, comment.slice(2)));
      const errors = problems.filter(({ severity }) => severity === 'error').map(({ message }) => message);
      for (const message of errors)
        expect(message).toMatch(
          /exclude each other|valid only with preset "openrouter"|is for the methods POST|is required beside|names the environment variable \w+, which is not set/,
        );
    },
  );
});

describe('figures that a page repeats', () => {
  const readme = readProjectFile('README.md');
  /** The cells of the row of a table that begins with this text. */
  const cellsOf = (page: string, begin: string): string[] =>
    (page.split('\n').find((line) => line.startsWith(begin)) ?? '')
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());

  it('are those of the newest table of the benchmark', () => {
    const bench = readProjectFile('docs/bench.md');
    const calls = bench.slice(bench.indexOf('| 100 calls,'));
    const cpu = Number.parseFloat(cellsOf(calls, '| 100 calls,').at(-1) ?? '');
    const late = (cellsOf(calls, '| | frame lateness').at(-1) ?? '').split(' / ')[1];
    const measured = /^AMD .*? (\d+ \w+ \d{4}),/ms.exec(bench)?.[1];
    expect([cpu > 0, Number(late) > 0]).toEqual([true, true]);
    expect(readme).toContain(`100 calls use ${cpu} % of one core`);
    expect(readme).toContain(`a frame is at most ${Math.ceil(Number(late))} ms late`);
    expect(readme).toContain(`([benchmark](docs/bench.md), ${measured})`);
  });

  it('are those of the comparison', () => {
    const beside = readProjectFile('docs/beside-others.md');
    for (const begin of ['| 1 |', '| 10 |', '| the most that held |']) {
      const [, here, one, each, other] = cellsOf(beside, begin).map((cell) =>
        cell.replace(/ calls at/, ' at'),
      );
      const [, hereToo = '', both, otherToo] = cellsOf(readme, begin);
      expect([hereToo.replace(/ calls at/, ' at'), both, otherToo]).toEqual([here, `${one}; ${each}`, other]);
    }
    const [, pipecat = '', here = ''] = cellsOf(beside, '| a caller talks over the agent');
    const [, soft, silent] = /^(\d+ ms).* silent (\d+ ms) later/.exec(here) ?? [];
    expect(readme).toContain(
      `gives way after ${soft} at the median (Pipecat is silent after ${pipecat.split(':')[0]})`,
    );
    expect(readme).toContain(`silent ${silent} later`);
  });

  it('count the providers that there are', () => {
    const rows = readProjectFile('docs/providers.md').match(/^\| (?:stt|llm|tts|realtime) \| /gm) ?? [];
    for (const name of ['README.md', 'docs/beside-others.md', 'docs/measurements/pipecat.md'])
      expect(readProjectFile(name), name).toContain(`${rows.length} providers`);
  });
});
