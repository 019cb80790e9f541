/** Recordings that are encrypted: what a disk holds of them, and who can read it. */
import { createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  openRecordingFile,
  wholeRecordingFile,
  type RecordingFile,
} from '../../../shared/installation/recording-file.ts';
import { keyOf, readKeys, type RecordingKeys } from '../../../shared/recording/keys.ts';
import { recordingBytes, RecordingRing } from '../../../shared/recording/ring.ts';
import { fixedChunk } from '../../../shared/recording/sealed.ts';
import { writeOutput } from '../../../worker/recording/file-output.ts';
import { finishRecording, keepDaysOf } from '../../../worker/recording/finish.ts';
import { RecordingWriter } from '../../../worker/recording/writer.ts';

const keys: RecordingKeys = [keyOf(randomBytes(32))];
const others: RecordingKeys = [keyOf(randomBytes(32))];
let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-sealed-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

const bytesOf = (length: number): Buffer =>
  Buffer.from(Uint8Array.from({ length }, (_, at) => (at * 7 + (at >> 8)) & 255));

async function sealed(content: Uint8Array): Promise<string> {
  await writeOutput(join(dir, 'file'), keys[0], (out) => out.write(content));
  return join(dir, 'file.enc');
}

async function part(from: number, to: number): Promise<Buffer> {
  const file = (await openRecordingFile(dir, 'file', keys)) as RecordingFile;
  const parts: Uint8Array[] = [];
  for await (const one of file.read(from, to)) parts.push(one);
  await file.close();
  return Buffer.concat(parts);
}

describe('an encrypted file', () => {
  it.each([0, 1, fixedChunk - 1, fixedChunk, fixedChunk + 1, 3 * fixedChunk])(
    'of %i bytes is read whole',
    async (length) => {
      await sealed(bytesOf(length));
      expect(readdirSync(dir)).toEqual(['file.enc']);
      const file = await openRecordingFile(dir, 'file', keys);
      expect([file?.size, file?.isCut]).toEqual([length, false]);
      await file?.close();
      expect((await wholeRecordingFile(dir, 'file', keys)).equals(bytesOf(length))).toBe(true);
    },
  );

  it('is read at any place', async () => {
    const content = bytesOf(3 * fixedChunk + 100);
    await sealed(content);
    for (const [from, to] of [
      [0, 1],
      [fixedChunk - 1, fixedChunk + 1],
      [fixedChunk, 2 * fixedChunk],
      [3 * fixedChunk + 50, 1e9],
      [10, 10],
      [1e9, 2e9],
    ] as const)
      expect((await part(from, to)).equals(content.subarray(from, to)), `${from} to ${to}`).toBe(true);
  });

  it('that breaks off is read up to its last whole chunk, and says so', async () => {
    const content = bytesOf(3 * fixedChunk);
    const path = await sealed(content);
    for (const [left, whole] of [
      [2 * fixedChunk + 1_000, 2],
      [fixedChunk + 52 + 20, 1],
      [60, 0],
    ] as const) {
      truncateSync(path, left);
      const file = await openRecordingFile(dir, 'file', keys);
      expect([file?.size, file?.isCut]).toEqual([whole * fixedChunk, true]);
      await file?.close();
      expect((await part(0, 1e9)).equals(content.subarray(0, whole * fixedChunk))).toBe(true);
    }
  });

  it('in which a byte is another, or two chunks have changed places, is damaged there and nowhere else', async () => {
    const content = bytesOf(3 * fixedChunk);
    const path = await sealed(content);
    const [first, second] = [52, 52 + fixedChunk + 20];
    const bytes = readFileSync(path);
    const swapped = Buffer.from(bytes);
    bytes.copy(swapped, first, second, second + fixedChunk + 20);
    bytes.copy(swapped, second, first, second);
    const flipped = Buffer.from(bytes);
    flipped.writeUInt8(flipped.readUInt8(second + 500) ^ 1, second + 500);
    writeFileSync(path, flipped);
    expect((await part(0, fixedChunk)).equals(content.subarray(0, fixedChunk))).toBe(true);
    await expect(part(fixedChunk, fixedChunk + 1)).rejects.toThrow('a part of it is not what was written');
    writeFileSync(path, swapped);
    await expect(part(0, 1)).rejects.toThrow('a part of it is not what was written');
    expect((await part(2 * fixedChunk, 1e9)).equals(content.subarray(2 * fixedChunk))).toBe(true);
  });

  it('names the setting and the key to a reader that lacks it', async () => {
    await sealed(bytesOf(10));
    const [{ id }] = keys;
    await expect(openRecordingFile(dir, 'file', undefined)).rejects.toThrow(
      `it is encrypted with the key ${id}, and SVC_RECORDING_KEY_FILE is not set`,
    );
    await expect(openRecordingFile(dir, 'file', others)).rejects.toThrow(
      `it is encrypted with the key ${id}, which the file of SVC_RECORDING_KEY_FILE does not have`,
    );
    const file = await openRecordingFile(dir, 'file', [...others, ...keys]);
    expect(file?.size).toBe(10);
    await file?.close();
    writeFileSync(join(dir, 'file.enc'), 'something else, and not even short enough to be a head of one');
    await expect(openRecordingFile(dir, 'file', keys)).rejects.toThrow('its beginning is not that of');
  });

  it('is what the page on privacy says, byte by byte', async () => {
    const content = bytesOf(fixedChunk + 5);
    const file = readFileSync(await sealed(content));
    expect(file.subarray(0, 8).toString()).toBe('SVCSEAL1');
    expect(file.subarray(8, 16).toString('hex')).toBe(keys[0].id);
    const key = hkdfSync(
      'sha256',
      Buffer.from(keys[0].secret, 'base64'),
      file.subarray(20, 52),
      file.subarray(0, 20),
      32,
    );
    const read: Buffer[] = [];
    let at = 52;
    for (let number = 0; at < file.length; number += 1) {
      const length = file.readUInt32LE(at);
      const end = at + 4 + (length % 2 ** 31);
      const nonce = Buffer.alloc(12);
      nonce.writeUInt32LE(number);
      nonce.writeUInt8(length >= 2 ** 31 ? 1 : 0, 11);
      const opening = createDecipheriv('aes-256-gcm', Buffer.from(key), nonce);
      opening.setAuthTag(file.subarray(end, end + 16));
      read.push(opening.update(file.subarray(at + 4, end)), opening.final());
      at = end + 16;
    }
    expect(Buffer.concat(read).equals(content)).toBe(true);
  });
});

describe('the file of keys', () => {
  const key = randomBytes(32);

  it('has a key a line, in base64 or hexadecimal, and remarks', () => {
    const old = randomBytes(32);
    const text = `# since May\n${key.toString('base64')}\n\n  ${old.toString('hex')}  \r\n${old.toString('base64url')}`;
    expect(readKeys(text)).toEqual({ ok: true, value: [keyOf(key), keyOf(old), keyOf(old)] });
  });

  it.each([
    ['', 'it must hold a key'],
    ['# nothing\n', 'it must hold a key'],
    ['hunter2', 'line 1 must be a key of 32 bytes, in base64 or as hexadecimal digits'],
    [
      `${key.toString('base64')}\n${randomBytes(16).toString('hex')}`,
      'line 2 must be a key of 32 bytes, in base64 or as hexadecimal digits',
    ],
    [
      randomBytes(31).toString('base64'),
      'line 1 must be a key of 32 bytes, in base64 or as hexadecimal digits',
    ],
    [Array.from({ length: 33 }, () => key.toString('hex')).join('\n'), 'it must hold at most 32 keys'],
  ])('is refused by the line and the rule', (text, error) => {
    expect(readKeys(text)).toEqual({ ok: false, error });
  });
});

const layout = { slots: 1, ringBytes: 65_536 };
const textOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const head =
  '{"at":0,"type":"call","call":"c","agent":"desk","started":"2026-03-01T10:00:00.000Z","rate":8000,"keep_days":7}\n';
const loud = (from: number, length: number): Uint8Array =>
  new Uint8Array(Int16Array.from({ length }, (_, at) => 1_000 + from + at).buffer);

/** A call in which a worker dies, as it is written with a key and without. */
class WrittenCall {
  readonly #ring = new RecordingRing(new ArrayBuffer(recordingBytes(layout)), 0, layout);
  readonly #dir: string;
  readonly #keys: RecordingKeys | undefined;
  failures = 0;

  constructor(name: string, ofKeys: RecordingKeys | undefined) {
    this.#dir = join(dir, name);
    this.#keys = ofKeys;
    mkdirSync(this.#dir);
  }

  get open(): string {
    return join(this.#dir, 'open', 'call-1');
  }

  get ended(): string {
    return join(this.#dir, 'ended', 'call-1');
  }

  writer(): RecordingWriter {
    return new RecordingWriter({
      ...{ dir: this.#dir, rings: [this.#ring], isAfterDeath: false, key: this.#keys?.[0] },
      failed: () => (this.failures += 1),
    });
  }

  begin(): this {
    this.#ring.push('open', 0, textOf('call-1'));
    this.#ring.push('line', 0, textOf(head));
    this.#ring.push('heard', 0, loud(0, 160));
    this.#ring.push('line', 0, textOf('{"at":1,"type":"caller","text":"my secret word"}\n'));
    this.#ring.push('fact', 0, textOf('{"type":"step","words":"my secret word"}\n'));
    this.writer().write();
    // Two pieces with a hole, and one that a second worker writes over the end of the first.
    this.#ring.push('heard', 400, loud(400, 160));
    this.#ring.push('sent', 240, loud(7_000, 160));
    const next = this.writer();
    next.write();
    this.#ring.push('open', 500, textOf('call-1'));
    this.#ring.push('heard', 500, loud(20_000, 160));
    this.#ring.push('line', 500, textOf('{"at":500,"type":"taken_up"}\n'));
    next.write();
    return this;
  }

  end(): void {
    this.#ring.push('end', 0, new Uint8Array());
    this.writer().write();
  }
}

/** Everything that the files of a folder hold. */
const onDisk = (folder: string): Buffer =>
  Buffer.concat(readdirSync(folder).map((name) => readFileSync(join(folder, name))));

describe('a recording with a key', () => {
  it('has neither words nor sound on the disk, while the call runs and afterwards', async () => {
    const call = new WrittenCall('sealed', keys).begin();
    const holds = (folder: string): readonly boolean[] =>
      [textOf('secret'), loud(8, 4), loud(7_008, 4)].map((bytes) =>
        onDisk(folder).includes(Buffer.from(bytes)),
      );
    expect(holds(call.open)).toEqual([false, false, false]);
    call.end();
    await finishRecording(call.ended, { keys });
    expect(holds(call.ended)).toEqual([false, false, false]);
    expect(readdirSync(call.ended).toSorted()).toEqual(
      ['audio.waveform.enc', 'audio.wav.enc', 'call.jsonl.enc', 'facts.jsonl.gz.enc'].toSorted(),
    );
    expect(call.failures).toBe(0);
    // So that the test can fail.
    const plain = new WrittenCall('plain', undefined).begin();
    expect(holds(plain.open)).toEqual([true, true, true]);
  });

  it('is the same as without one, across writers and holes', async () => {
    const [plain, secret] = [
      new WrittenCall('plain', undefined).begin(),
      new WrittenCall('sealed', keys).begin(),
    ];
    plain.end();
    secret.end();
    await finishRecording(plain.ended);
    await finishRecording(secret.ended, { keys });
    for (const name of ['audio.wav', 'audio.waveform', 'call.jsonl']) {
      const before = readFileSync(join(plain.ended, name));
      expect((await wholeRecordingFile(secret.ended, name, keys)).equals(before), name).toBe(true);
    }
    const facts = await wholeRecordingFile(secret.ended, 'facts.jsonl.gz', keys);
    expect(gunzipSync(facts).toString()).toContain('my secret word');
    expect(await keepDaysOf(secret.ended, keys)).toBe(7);
    expect(await keepDaysOf(secret.ended, others)).toBeUndefined();
  });

  it('has what was whole when its writer was killed in the middle of a chunk', async () => {
    const call = new WrittenCall('sealed', keys).begin();
    const [heard = ''] = readdirSync(call.open).filter((name) => name.startsWith('heard-'));
    const [lines = ''] = readdirSync(call.open).filter((name) => name.startsWith('lines-'));
    truncateSync(join(call.open, heard), readFileSync(join(call.open, heard)).length - 5);
    writeFileSync(join(call.open, lines), Buffer.alloc(100), { flag: 'a' });
    // Its head was not whole yet.
    writeFileSync(join(call.open, 'sent-000000000900-000.enc'), 'SVCSEAL1');
    call.end();
    await finishRecording(call.ended, { keys, wasCut: true });
    const transcript = (await wholeRecordingFile(call.ended, 'call.jsonl', keys)).toString();
    expect(transcript.split('\n').map((line) => /"type":"(\w+)"/.exec(line)?.[1])).toEqual([
      ...['call', 'caller', 'taken_up', 'ended'],
      undefined,
    ]);
    const wav = await wholeRecordingFile(call.ended, 'audio.wav', keys);
    // The caller's last piece is of the writer that was not killed.
    expect(wav.readInt16LE(44 + 4 * 500)).toBe(21_000);
    expect(wav.readInt16LE(44 + 4 * 240 + 2)).toBe(8_000);
  });

  it('is whole where a key came or went in the middle of the call', async () => {
    const call = new WrittenCall('mixed', keys).begin();
    writeFileSync(join(call.open, 'heard.pcm'), loud(0, 8));
    writeFileSync(join(call.open, 'lines-000000000000.jsonl'), '{"type":"first"}\n');
    call.end();
    await finishRecording(call.ended, { keys });
    expect((await wholeRecordingFile(call.ended, 'call.jsonl', keys)).toString()).toContain('"first"');
  });

  it('waits for its key, and is put together when that is there', async () => {
    const call = new WrittenCall('sealed', keys).begin();
    call.end();
    await expect(finishRecording(call.ended, { keys: others })).rejects.toThrow(
      'SVC_RECORDING_KEY_FILE does not have',
    );
    await finishRecording(call.ended, { keys: [...others, ...keys] });
    expect((await wholeRecordingFile(call.ended, 'call.jsonl', others)).toString()).toContain('taken_up');
  });
});

describe('a recording that a process put together and did not tidy', () => {
  it('stays as it is', async () => {
    const call = new WrittenCall('plain', undefined).begin();
    call.end();
    const kept = join(dir, 'copy');
    mkdirSync(kept);
    for (const name of readdirSync(call.ended)) copyFileSync(join(call.ended, name), join(kept, name));
    await finishRecording(kept);
    const wav = readFileSync(join(kept, 'audio.wav'));
    for (const name of ['sent.pcm', 'lines-000000000500.jsonl'])
      copyFileSync(join(call.ended, name), join(kept, name));
    expect((await finishRecording(kept)).day).toBe('2026-03-01');
    expect(readFileSync(join(kept, 'audio.wav')).equals(wav)).toBe(true);
    expect(readFileSync(join(kept, 'call.jsonl'), 'utf8')).toContain('my secret word');
    expect(readdirSync(kept).toSorted()).toEqual([
      'audio.wav',
      'audio.waveform',
      'call.jsonl',
      'facts.jsonl.gz',
    ]);
  });
});
