/** The commands `models list` and `models pull`, as a user sees them. */
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { takeLock } from '../../../shared/runtime/file-lock.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { runModels } from '../../../cli/commands/models/models-command.ts';
import { models } from '../../../shared/installation/model-registry.ts';

let folder: string;
let server: Server;
const asked: string[] = [];
const output: string[] = [];
const errors: string[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-models-'));
  for (const list of [asked, output, errors]) list.length = 0;
  server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.end('not the model');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterEach(async () => {
  await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true, force: true });
});

const run = (...args: string[]): Promise<0 | 1 | 2> =>
  runModels(args, {
    env: { SVC_MODELS_DIR: folder },
    clock: systemClock,
    write: (line) => output.push(line),
    writeError: (line) => errors.push(line),
  });
const mirror = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
const [{ file, path }] = models['smart-turn'].files;

describe('models list', () => {
  it('shows the folder, and of each model its licence and whether it is there whole', async () => {
    expect(await run('list')).toBe(0);
    expect(output[0]).toBe(`folder: ${folder}`);
    expect(output[1]).toMatch(/^smart-turn 3\.2 {2}not there .*BSD-2-Clause/);
    writeFileSync(join(folder, file), 'half a model');
    await run('list');
    expect(output[Object.keys(models).length + 2]).toContain('damaged');
  });
});

/** A voice as its archive holds it, and one model in two files. */
describe('models pull of what is more than a file', () => {
  const archive = Buffer.from(
    'QlpoOTFBWSZTWXglNF8AAJX7gMmQAARAAeeAQBDqKZ9ABAggAHISlAAB6gANPKCRSm9U9R6T1APKAxNNcqY8cSEgKT' +
      'SQiOfIoHCTMCBCGge4+ku7y9EVmIkwRa8wKstA3U7XN+G0YzVlj4dnkEVieB8w+5BnHWtRED8XckU4UJB4JTRf',
    'base64',
  );
  const [ear, tokens] = [Buffer.from('the ear'), Buffer.from('tokens')];
  const row = { version: '1', licence: 'CC0-1.0', source: 'https://models.example', use: 'tests' };
  const pinned = (file: string, bytes: Buffer) => ({
    file,
    bytes: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    path: `files/${file}`,
  });
  const registry = {
    voice: { ...row, files: [pinned('voice.tar.bz2', archive)], unpacksTo: 'voice' },
    ear: { ...row, files: [pinned('ear/model.onnx', ear), pinned('ear/tokens.txt', tokens)] },
  };
  const pull = (name: string): Promise<0 | 1 | 2> =>
    runModels(['pull', name, '--from', mirror()], {
      env: { SVC_MODELS_DIR: folder },
      clock: systemClock,
      models: registry,
      write: (line) => output.push(line),
      writeError: (line) => errors.push(line),
    });
  const files: Record<string, Buffer> = {
    '/files/voice.tar.bz2': archive,
    '/files/ear/model.onnx': ear,
    '/files/ear/tokens.txt': tokens,
  };

  beforeEach(() => {
    server.removeAllListeners('request');
    server.on('request', (request, response) => {
      asked.push(request.url ?? '');
      response.end(files[request.url ?? '']);
    });
  });

  it('shows the licence, unpacks an archive, leaves nothing else, and knows it again', async () => {
    expect(await pull('voice')).toBe(0);
    expect(output[0]).toBe('voice 1, licence: CC0-1.0');
    expect(readFileSync(join(folder, 'voice', 'tokens.txt'), 'utf8')).toBe('_ 0\n');
    expect(readdirSync(folder)).toEqual(['voice']);
    expect(await pull('voice')).toBe(0);
    expect(asked).toHaveLength(1);
    rmSync(join(folder, 'voice', '.unpacked-from'));
    expect(await pull('voice')).toBe(0);
    expect(asked).toHaveLength(2);
  });

  it('fetches every file of a model, and only those that are not whole', async () => {
    expect(await pull('ear')).toBe(0);
    writeFileSync(join(folder, 'ear', 'tokens.txt'), 'damage');
    expect(await pull('ear')).toBe(0);
    expect(asked).toEqual(['/files/ear/model.onnx', '/files/ear/tokens.txt', '/files/ear/tokens.txt']);
    expect(readFileSync(join(folder, 'ear', 'tokens.txt'))).toEqual(tokens);
  });
});

describe('models pull', () => {
  it('fetches a pinned path of the source and keeps nothing that has other bytes', async () => {
    expect(await run('pull', 'smart-turn', '--from', mirror())).toBe(1);
    expect(asked).toEqual([`/${path}`]);
    expect(errors).toEqual([expect.stringContaining('something else than the file')]);
    expect([existsSync(join(folder, file)), existsSync(join(folder, `${file}.lock`))]).toEqual([
      false,
      false,
    ]);
  });

  it('leaves the model to a process that fetches it already, and takes over from one that died', async () => {
    const lock = join(folder, `${file}.lock`);
    const unlock = takeLock(lock);
    expect(await run('pull', '--from', mirror())).toBe(1);
    expect(errors[0]).toContain('another process fetches this model');
    expect(asked).toEqual([]);
    unlock?.();
    // The file of a process that died.
    writeFileSync(lock, '');
    await run('pull', '--from', mirror());
    expect(asked).toHaveLength(1);
  });

  it('says which host does not answer, and that there are mirrors', async () => {
    const address = mirror();
    const { host } = new URL(address);
    await new Promise((resolve) => server.close(resolve));
    expect(await run('pull', 'smart-turn', '--from', address)).toBe(1);
    expect(errors.join()).toBe(
      `smart-turn: ${host} cannot be reached, or broke off; try again, or name a mirror with --from`,
    );
  });

  it.each(['list', 'pull'])('%s says why its folder cannot be used', async (command) => {
    const outer = folder;
    folder = join(outer, 'file');
    writeFileSync(folder, '');
    expect(await run(command)).toBe(1);
    expect(errors.join()).toMatch(/^SVC_MODELS_DIR: .*\/file cannot be used: .* \(E[A-Z]+\)$/);
    folder = outer;
  });

  it.each([
    ['pull', 'no-such-model'],
    ['pull', '--from'],
    ['push'],
    [],
    ['list', 'more'],
    ['pull', 'toString'],
  ])('explains itself when asked for %s %s', async (...args) => {
    expect(await run(...args.filter((arg) => arg !== undefined))).toBe(2);
    expect(errors[0]).toContain('usage: svc-supervisor models');
    expect(asked).toEqual([]);
  });
});
