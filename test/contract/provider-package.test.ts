/** A provider from a package: the worked example against its own server, by the checks that are published for all packages. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadAgentPackages } from '../../shared/installation/agent-packages.ts';
import { stageDefinitions } from '../../worker/host/definition.ts';
import { voiceChecks } from '../../worker/stages/contract-checks.ts';
import { loadAdapters, openStages, ownStageServices } from '../../worker/stages/registry.ts';
import type { LlmEvent, TtsEvent, TtsStage } from '../../worker/stages/stage.ts';
import { Events, newStageContext } from '../support/core/stage-context.ts';
import { newVirtualClock } from '../support/core/virtual-clock.ts';
import { changed, errorsOf, load } from '../unit/config/agent-text.ts';

const example = fileURLToPath(new URL('../../examples/provider-package/', import.meta.url));
const { toneServer } = (await import(join(example, 'server.mjs'))) as { toneServer: Server };
const portOf = (server: Server): number => (server.address() as AddressInfo).port;

let folder: string;
const agentPath = (): string => join(folder, 'agent.toml');

/** An agent file whose voice is that of a package. */
const withVoice = (name: string, lines: string): string =>
  changed(
    ['provider = "speech_compatible"\nvoice = "af_heart"', `provider = "npm:${name}"`],
    [
      '[tts.speech_compatible]\nbase_url = "http://127.0.0.1:8880/v1"\npreset = "local_b"',
      `[tts.options]\n${lines}`,
    ],
  );

/** Installs a package whose module is this text. */
function install(name: string, module: string, manifest: object = { exports: './index.mjs' }): void {
  const at = join(folder, 'node_modules', name);
  mkdirSync(at, { recursive: true });
  writeFileSync(join(at, 'package.json'), JSON.stringify({ name, ...manifest }));
  writeFileSync(join(at, 'index.mjs'), module);
}

async function errorsWith(text: string): Promise<string[]> {
  const { packages } = await loadAgentPackages(text, agentPath());
  return errorsOf(text, { packages });
}

async function openVoice(address: string): Promise<TtsStage> {
  const text = withVoice('@example/tone-tts', `url = "${address}"`);
  const { packages } = await loadAgentPackages(text, agentPath());
  const { definition, problems } = load(text, { packages });
  expect(problems).toEqual([]);
  const stages = stageDefinitions(definition!);
  return openStages(stages, await loadAdapters(stages, packages), ownStageServices()).tts;
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agent-'));
  mkdirSync(join(folder, 'node_modules/@example'), { recursive: true });
  symlinkSync(example, join(folder, 'node_modules/@example/tone-tts'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('the example of a voice in a package', () => {
  beforeAll(() => new Promise<void>((resolve) => void toneServer.listen(0, '127.0.0.1', resolve)));
  afterAll(() => void toneServer.close());

  it.each(voiceChecks)('$name', async ({ run }) => {
    const stage = await openVoice(`http://127.0.0.1:${portOf(toneServer)}`);
    await run(stage);
    await stage.close();
  });

  it('plays 60 ms for each letter, at the rate of the call', async () => {
    const stage = await openVoice(`http://127.0.0.1:${portOf(toneServer)}`);
    const events = new Events<TtsEvent>();
    const session = stage.open(newStageContext(), events.sink);
    session.speak(1, 'A b c');
    session.flush(1);
    await events.seen('flushed');
    const samples = events.of('audio').reduce((sum, { pcm }) => sum + pcm.length, 0);
    expect(samples).toBe((3 * 60 * 24_000) / 1_000);
    session.close();
  });

  it('compiles against the published types', () => {
    const tsc = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url));
    expect(execFileSync(process.execPath, [tsc, '-p', example], { encoding: 'utf8' })).toBe('');
  });
});

describe('a voice in a package that fails', () => {
  it('is told with its status, and with a wait that is over', async () => {
    const refusing = createServer((_request, response) => void response.writeHead(503).end());
    await new Promise<void>((resolve) => void refusing.listen(0, '127.0.0.1', resolve));
    const { tts } = (await import(join(example, 'index.mjs'))) as {
      tts: { open(options: object, access: object): TtsStage };
    };
    const options = { url: `http://127.0.0.1:${portOf(refusing)}`, lowestHz: 220 };
    const events = new Events<TtsEvent>();
    const clock = newVirtualClock();
    const stage = tts.open(options, { language: 'en', sampleRate: 16_000 });
    stage.open(newStageContext(clock), events.sink).speak(1, 'Hi.');
    clock.advance(0);
    await events.seen('error');
    expect(events.all).toEqual([{ type: 'error', error: { kind: 'rejected', status: 503 } }]);
    refusing.close();
  });
});

describe('an LLM in a package', () => {
  it('says nothing of what leaks of its model, and calls what stands in its text', async () => {
    const answer =
      'One moment. <think>The hours?</think><tool_call>{"name":"hours","arguments":{}}</tool_call>';
    const module = `export const llm = { contract: 1, open: () => ({
      provider: 'npm:plain-llm',
      open: () => ({
        start: (request, sink) => {
          for (const text of ${JSON.stringify(answer.match(/.{1,5}/g))}) sink({ type: 'text', text });
          sink({ type: 'done', finish: 'stop', usage: undefined });
          return { cancel() {} };
        },
        close() {},
      }),
      close: () => Promise.resolve(),
    }) };`;
    install('plain-llm', module);
    const text = changed(
      ['provider = "chat_compatible"', 'provider = "npm:plain-llm"'],
      ['[llm.chat_compatible]\nbase_url = "http://127.0.0.1:11434/v1"\nmodel = "small"\n', ''],
    );
    const { packages } = await loadAgentPackages(text, agentPath());
    const { definition, problems } = load(text, { packages });
    expect(problems).toEqual([]);
    const stages = stageDefinitions(definition!);
    const { llm } = openStages(stages, await loadAdapters(stages, packages), ownStageServices());
    const events = new Events<LlmEvent>();
    const hours = { name: 'hours', description: 'd', parameters: { type: 'object' } };
    llm
      .open(newStageContext(), {})
      .start({ messages: [{ role: 'user', text: 'Hi' }], tools: [hours] }, events.sink);
    await events.seen('done');
    const said = events.of('text').map((event) => event.text);
    expect(said.join('').trim()).toBe('One moment.');
    expect(events.of('tool-call').map(({ name }) => name)).toContain('hours');
    expect(events.of('done')).toMatchObject([{ finish: 'tool_calls' }]);
  });
});

describe('a package that an agent file names', () => {
  const good = 'export const tts = { contract: 1, rates: [16000, 24000], open: () => ({}) };';

  it('reads its options by its own rules, and says where they are broken', async () => {
    expect(
      await errorsWith(withVoice('@example/tone-tts', 'url = "ftp://a"\nlowest_hz = 5\npitch = 1')),
    ).toEqual([
      'tts.options.url must be an http:// or https:// address',
      'tts.options.lowest_hz must be a number of 50 to 1000',
      'tts.options.pitch is not a known key',
    ]);
  });

  it.each([
    ['is not installed', undefined, 'is not installed beside this file or beside the service'],
    ['breaks when it is loaded', 'throw new TypeError("sk-secret");', 'cannot be loaded: TypeError'],
    ['has no such stage', 'export const stt = {};', 'exports no "tts"'],
    [
      'is for another version',
      good.replace('contract: 1', 'contract: 2'),
      'for version 2 of the contract of stages; this service has version 1',
    ],
    [
      'names no version',
      good.replace('contract: 1, ', ''),
      'without a version of the contract of stages; this service has version 1',
    ],
    ['opens nothing', good.replace('open: () => ({})', ''), 'whose "tts" has no function "open"'],
    [
      'has no rates',
      good.replace('[16000, 24000]', '[]'),
      'whose "tts" has no "rates", a list of sample rates of 8000 to 48000 Hz',
    ],
    [
      'has odd options',
      good.replace('contract: 1', 'contract: 1, options: 5'),
      'whose "tts" has "options" that are neither a function nor a Standard Schema',
    ],
    [
      'has an odd key',
      good.replace('contract: 1', 'contract: 1, apiKey: "maybe"'),
      'whose "tts" has an "apiKey" that is neither "required" nor "optional"',
    ],
  ])('and that %s is refused', async (_what, module, rule) => {
    if (module !== undefined) install('our-tts', module);
    const bad =
      rule.startsWith('for') ||
      rule.startsWith('without') ||
      rule.startsWith('whose') ||
      rule.startsWith('exports');
    const joined =
      bad && !rule.startsWith('exports') ? `names a package ${rule}` : `names a package that ${rule}`;
    expect(await errorsWith(withVoice('our-tts', ''))).toEqual([`tts.provider ${joined}`]);
  });

  it('and that has no entry for every loader is told apart from one that is not installed', async () => {
    install('our-tts', good, { exports: { browser: './index.mjs' } });
    expect(await errorsWith(withVoice('our-tts', ''))).toEqual([
      'tts.provider names a package that has no module under "exports" or "main" that can be loaded',
    ]);
  });

  it('may have no options, and then takes none', async () => {
    install('our-tts', good);
    expect(await errorsWith(withVoice('our-tts', ''))).toEqual([]);
    expect(await errorsWith(withVoice('our-tts', 'x = 1'))).toEqual([
      'tts.options.x is not a known key; this package has no options',
    ]);
  });

  it('may bring any validator with the interface of Standard Schema', async () => {
    const validate = `(table) => table.x === 1 ? { value: table } : { issues: [{ message: 'must be 1', path: [{ key: 'x' }] }] }`;
    const options = `{ '~standard': { version: 1, vendor: 'v', validate: ${validate} } }`;
    install('our-tts', good.replace('contract: 1', `contract: 1, options: ${options}`));
    expect(await errorsWith(withVoice('our-tts', 'x = 1'))).toEqual([]);
    expect(await errorsWith(withVoice('our-tts', 'x = 2'))).toEqual(['tts.options.x must be 1']);
  });

  it.each([
    ['throws', '() => { throw new Error("sk-secret"); }', 'cannot be read: the package failed at it'],
    ['gives nothing', '() => undefined', 'cannot be read: the package gave no options back'],
    ['answers later', 'async () => ({ value: {} })', 'cannot be read: the package gave no options back'],
    ['says no rule', '() => ({ issues: [5] })', 'breaks a rule that the package does not name'],
  ])('and whose reading of options %s is refused', async (_what, options, rule) => {
    install('our-tts', good.replace('contract: 1', `contract: 1, options: ${options}`));
    expect(await errorsWith(withVoice('our-tts', ''))).toEqual([`tts.options ${rule}`]);
  });

  it('judges rate, voice and key of its stage', async () => {
    install('our-tts', good.replace('contract: 1', 'contract: 1, needsVoice: true, apiKey: "required"'));
    const text = withVoice('our-tts', '').replace('[tts.options]', 'sample_rate = 8000\n[tts.options]');
    expect((await errorsWith(text)).toSorted()).toEqual([
      'tts.api_key_env is required for this provider',
      'tts.sample_rate must be one of 16000, 24000 for npm:our-tts',
      'tts.voice is required for this provider',
    ]);
  });

  it('keeps its options table to itself', async () => {
    const text = changed(['[tts.speech_compatible]', '[tts.options]\nx = 1\n[tts.speech_compatible]']);
    expect(await errorsWith(text)).toEqual(['tts.options is for a provider from a package']);
    install('our-tts', good);
    const other = withVoice('our-tts', '').replace('[tts.options]', '[tts.tts_cloud_a]');
    expect(await errorsWith(other)).toEqual([
      'tts.tts_cloud_a belongs to another provider than the chosen npm:our-tts',
    ]);
  });

  it.each([
    'npm:',
    'npm:../x',
    'npm:@a',
    'npm:/etc/x',
    'npm:a b',
    'npm:https://a.example/x.js',
    'npm:node:fs',
  ])('is no path and no address: %s', async (provider) => {
    const text = withVoice('our-tts', '').replace('npm:our-tts', provider);
    expect(await errorsWith(text)).toEqual(['tts.provider names a package that is not installed']);
  });
});
