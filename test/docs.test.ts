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
