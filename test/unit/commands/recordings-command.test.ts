/** `svc-supervisor recordings`: what is encrypted comes back with the key alone. */
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  runRecordings,
  type RecordingsCommand,
} from '../../../cli/commands/recordings/recordings-command.ts';
import { keyOf, readKeys } from '../../../shared/recording/keys.ts';
import { writeOutput } from '../../../worker/recording/file-output.ts';

const key = keyOf(randomBytes(32));
const sound = randomBytes(200_000);
let dir: string;
let out: string[];
let errors: string[];

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'svc-recordings-command-'));
  [out, errors] = [[], []];
  writeFileSync(join(dir, 'key'), key.secret);
  for (const call of ['a', 'b']) {
    const folder = join(dir, 'recordings/kept/2026-03-01', call);
    mkdirSync(folder, { recursive: true });
    await writeOutput(join(folder, 'audio.wav'), key, (file) => file.write(sound));
    await writeOutput(join(folder, 'call.jsonl'), key, (file) => file.write(Buffer.from(`of ${call}\n`)));
  }
});
afterEach(() => rmSync(dir, { recursive: true }));

const run = (name: RecordingsCommand, args: readonly string[], keyFile: string | undefined = 'key') =>
  runRecordings(name, args, {
    env: {
      SVC_RECORDING_DIR: join(dir, 'recordings'),
      ...(keyFile !== '' && { SVC_RECORDING_KEY_FILE: join(dir, keyFile) }),
    },
    randomBytes,
    write: (line) => out.push(line),
    writeError: (line) => errors.push(line),
  });
const kept = (...names: readonly string[]): string => join(dir, 'recordings/kept/2026-03-01', ...names);

it('makes a key that the file of keys takes', async () => {
  expect(await run('recordings key', [])).toBe(0);
  expect(readKeys(out[0] ?? '').ok).toBe(true);
});

it('writes the files of one call beside the encrypted ones', async () => {
  expect(await run('recordings decrypt', ['a'])).toBe(0);
  expect(readFileSync(kept('a', 'audio.wav')).equals(sound)).toBe(true);
  expect(readFileSync(kept('a', 'call.jsonl'), 'utf8')).toBe('of a\n');
  expect(existsSync(kept('b', 'call.jsonl'))).toBe(false);
  expect(out).toEqual([kept('a', 'audio.wav'), kept('a', 'call.jsonl')]);
});

it('writes a whole tree elsewhere, and one file', async () => {
  const to = join(dir, 'plain');
  expect(await run('recordings decrypt', [join(dir, 'recordings'), '--to', to])).toBe(0);
  expect(readFileSync(join(to, 'kept/2026-03-01/b/call.jsonl'), 'utf8')).toBe('of b\n');
  expect(existsSync(kept('b', 'call.jsonl'))).toBe(false);
  expect(await run('recordings decrypt', [kept('b', 'call.jsonl.enc'), '--to', join(dir, 'one')])).toBe(0);
  expect(readFileSync(join(dir, 'one/call.jsonl'), 'utf8')).toBe('of b\n');
});

it('goes on behind a file that cannot be read, keeps what stands before the damage, and ends with 1', async () => {
  truncateSync(kept('a', 'audio.wav.enc'), 150_000);
  const bytes = readFileSync(kept('b', 'audio.wav.enc'));
  bytes.writeUInt8(bytes.readUInt8(140_000) ^ 1, 140_000);
  writeFileSync(kept('b', 'audio.wav.enc'), bytes);
  const to = join(dir, 'plain');
  expect(await run('recordings decrypt', [kept(), '--to', to])).toBe(1);
  expect(errors).toEqual([
    expect.stringContaining('a/audio.wav.enc: it breaks off; what is there stands in'),
    expect.stringContaining(
      'b/audio.wav.enc: it is damaged: a part of it is not what was written; what stands before',
    ),
  ]);
  expect(readFileSync(join(to, 'a/audio.wav')).equals(sound.subarray(0, 131_072))).toBe(true);
  expect(readFileSync(join(to, 'b/audio.wav')).equals(sound.subarray(0, 131_072))).toBe(true);
  expect(readFileSync(join(to, 'b/call.jsonl'), 'utf8')).toBe('of b\n');
});

it('overwrites nothing', async () => {
  writeFileSync(kept('a', 'call.jsonl'), 'mine');
  expect(await run('recordings decrypt', ['a'])).toBe(1);
  expect(errors).toEqual([expect.stringContaining('is there already')]);
  expect(readFileSync(kept('a', 'call.jsonl'), 'utf8')).toBe('mine');
});

it('names the setting where a key is missing, another, or no key', async () => {
  writeFileSync(join(dir, 'other'), keyOf(randomBytes(32)).secret);
  writeFileSync(join(dir, 'wrong'), 'hunter2');
  for (const [file, error] of [
    ['', `call.jsonl.enc: it is encrypted with the key ${key.id}, and SVC_RECORDING_KEY_FILE is not set`],
    [
      'other',
      `call.jsonl.enc: it is encrypted with the key ${key.id}, which the file of SVC_RECORDING_KEY_FILE does not have`,
    ],
    [
      'wrong',
      'SVC_RECORDING_KEY_FILE: its file is not valid: line 1 must be a key of 32 bytes, in base64 or as hexadecimal digits',
    ],
    ['none', 'SVC_RECORDING_KEY_FILE must name a file that can be read: there is no such file'],
  ] as const) {
    errors = [];
    expect(await run('recordings decrypt', ['a'], file)).toBe(1);
    expect(errors.at(-1)).toContain(error);
  }
  expect(existsSync(kept('a', 'call.jsonl'))).toBe(false);
});

it('says that there is nothing to decrypt', async () => {
  expect(await run('recordings decrypt', ['nobody'])).toBe(1);
  expect(await run('recordings decrypt', [join(dir, 'key')])).toBe(1);
  expect(errors).toEqual([
    'there is no such file or folder, and no recording of such a call in SVC_RECORDING_DIR',
    'the file is not encrypted',
  ]);
});
