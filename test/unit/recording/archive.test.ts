import { createHash, createHmac, randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { keyOf } from '../../../shared/recording/keys.ts';
import { recordingFolders } from '../../../shared/recording/layout.ts';
import { finishRecording } from '../../../worker/recording/finish.ts';
import {
  RecordingArchive,
  type ArchiveEvent,
  type RecordingArchiveOptions,
} from '../../../worker/recording/archive.ts';
import { SealedLog } from '../../../worker/recording/sealed-log.ts';
import { superfluous } from '../../../worker/recording/retention.ts';

let dir: string;
let news: ArchiveEvent[];
let now: number;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-archive-'));
  news = [];
  now = Date.now();
});

afterEach(() => rmSync(dir, { recursive: true, force: true }));

const newArchive = (options: Partial<RecordingArchiveOptions> = {}): RecordingArchive =>
  new RecordingArchive({ dir, mostBytes: 1e9, now: () => now, told: (one) => news.push(one), ...options });

const first =
  '{"at":0,"type":"call","call":"c","agent":"desk","started":"2026-03-01T10:00:00.000Z","rate":8000}\n';

/** WAV, waveform and transcript of what is left. */
const bytesOfOne = 56 + 4_000 + first.length;

/** What the writer leaves of a call. */
function leave(name: string, state: keyof typeof recordingFolders = 'ended'): string {
  const folder = join(dir, recordingFolders[state], name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'lines-000000000000.jsonl'), first);
  writeFileSync(join(folder, 'heard.pcm'), Buffer.from(Int16Array.of(1, 2, 3).buffer));
  writeFileSync(join(folder, 'sent.pcm'), Buffer.from(Int16Array.of(9).buffer));
  return folder;
}

const kept = (call: string): string => join(dir, 'kept', '2026-03-01', call);

describe('a recording that is put together', () => {
  it('is one WAV with the caller left, silence where a side has none, and the lines of all workers in order', async () => {
    const folder = leave('c');
    writeFileSync(join(folder, 'lines-000000002000.jsonl'), '{"at":2000,"type":"taken_up"}\n{"at":2100,"ty');
    expect(await finishRecording(folder)).toEqual({ rate: 8000, day: '2026-03-01', agent: 'desk' });
    expect(readdirSync(folder).toSorted()).toEqual(['audio.wav', 'audio.waveform', 'call.jsonl']);
    const wav = readFileSync(join(folder, 'audio.wav'));
    expect(wav.length).toBe(44 + 12);
    expect(wav.readUInt32LE(24)).toBe(8000);
    expect(wav.readUInt32LE(40)).toBe(12);
    expect(Array.from({ length: 6 }, (_, index) => wav.readInt16LE(44 + index * 2))).toEqual([
      1, 9, 2, 0, 3, 0,
    ]);
    expect(readFileSync(join(folder, 'call.jsonl'), 'utf8')).toBe(`${first}{"at":2000,"type":"taken_up"}\n`);
  });
});

describe('the archive of recordings', () => {
  it('keeps what has ended, by day, and takes up what another process left half done', async () => {
    leave('a');
    const half = leave('99-b', 'work');
    utimesSync(half, now / 1000 - 3600, now / 1000 - 3600);
    const archive = newArchive();
    await archive.look();
    await archive.look();
    expect([existsSync(kept('a')), existsSync(kept('b'))]).toEqual([true, true]);
    expect(news.map(({ type }) => type)).toEqual(['finished', 'finished']);
  });

  it('finishes a call that nobody ends any more, and says in it that it was lost', async () => {
    const lost = leave('gone', 'open');
    leave('alive', 'open');
    utimesSync(lost, now / 1000 - 3600, now / 1000 - 3600);
    await newArchive().look();
    expect(readFileSync(join(kept('gone'), 'call.jsonl'), 'utf8')).toContain('{"type":"ended","end":"lost"}');
    expect(readdirSync(join(dir, 'open'))).toEqual(['alive']);
  });

  it('makes WAVs of what the codec has no time for, so that recordings never pile up', async () => {
    const names = Array.from({ length: 22 }, (_, index) => `c${index}`);
    for (const name of names) leave(name);
    await newArchive({ format: 'opus' }).look();
    const formats = names.map((name) => readdirSync(kept(name)).find((file) => file.startsWith('audio')));
    expect(formats.filter((name) => name === 'audio.wav')).toHaveLength(2);
    expect(formats.filter((name) => name === 'audio.opus')).toHaveLength(20);
  });

  it('does not take running calls for lost ones when the clock is set, or nobody has looked for a while', async () => {
    const alive = leave('alive', 'open');
    const archive = newArchive();
    await archive.look();
    now += 3_600_000;
    await archive.look();
    utimesSync(alive, now / 1000, now / 1000);
    const lost = leave('gone', 'open');
    utimesSync(lost, now / 1000 - 3600, now / 1000 - 3600);
    for (let second = 0; second < 130; second += 1) {
      now += 1000;
      await archive.look();
    }
    expect(readdirSync(join(dir, 'open'))).toEqual(['alive']);
    expect(existsSync(kept('gone'))).toBe(true);
  });

  it('makes room beside files that somebody has put there', async () => {
    for (const name of ['a', 'b', 'c']) leave(name);
    for (const place of ['kept/2026-03-01', 'outbox', 'open'])
      mkdirSync(join(dir, place), { recursive: true });
    for (const place of ['kept', 'kept/2026-03-01', 'outbox', 'open'])
      writeFileSync(join(dir, place, 'notes.txt'), 'somebody was here');
    await newArchive({ mostBytes: 2 * bytesOfOne }).look();
    expect(news.map(({ type }) => type)).toEqual(['finished', 'finished', 'finished', 'deleted']);
  });

  it('tells which key it lacks, and keeps the recording until the key is there', async () => {
    leave('c');
    const keys = [keyOf(randomBytes(32))] as const;
    const lines = new SealedLog(join(dir, 'ended', 'c', 'lines-000000000500'), keys[0]);
    lines.append(Buffer.from('{"type":"secret"}\n'));
    lines.close();
    await newArchive().look();
    expect(news).toMatchObject([
      {
        type: 'failed',
        call: 'c',
        error: { message: expect.stringContaining('SVC_RECORDING_KEY_FILE is not set') as string },
      },
    ]);
    now += 3_600_000;
    const archive = newArchive({ keys });
    await archive.look();
    now += 1_000;
    await archive.look();
    expect(existsSync(join(kept('c'), 'call.jsonl.enc'))).toBe(true);
  });

  it('deletes the oldest where there is no room for all', async () => {
    for (const name of ['a', 'b', 'c']) leave(name);
    const archive = newArchive({ mostBytes: 2 * bytesOfOne });
    await archive.look();
    expect(news.filter(({ type }) => type === 'deleted')).toHaveLength(1);
    expect(readdirSync(join(dir, 'kept', '2026-03-01'))).toHaveLength(2);
  });
});

describe('retention', () => {
  const one = (path: string, at: number, isWaiting = false) => ({ path, at, isWaiting, bytes: 10 });
  const day = 86_400_000;

  it('lets go of what is too old, and not of what waits for its upload', () => {
    const all = [one('old', 0), one('new', 9 * day), one('waiting', 0, true)];
    const gone = superfluous(all, { keepDays: 5, mostBytes: 1000 }, 10 * day);
    expect(gone.map(({ path }) => path)).toEqual(['old']);
  });

  it('lets go of the oldest first, and of what waits last', () => {
    const all = [one('waiting', 0, true), one('b', 2), one('a', 1)];
    const gone = (mostBytes: number): string[] => superfluous(all, { mostBytes }, 3).map(({ path }) => path);
    expect(gone(30)).toEqual([]);
    expect(gone(20)).toEqual(['a']);
    expect(gone(5)).toEqual(['a', 'b', 'waiting']);
  });
});

/** The signature of a request, made anew from what came over the wire. */
function signatureOf({ method, url, headers }: IncomingMessage, secret: string): string {
  const authorization = headers.authorization ?? '';
  const [, scope = '', signed = ''] =
    /Credential=[^/]+\/([^,]+), SignedHeaders=([^,]+)/.exec(authorization) ?? [];
  const canonical = [
    ...[method, url, ''],
    ...signed.split(';').map((name) => `${name}:${String(headers[name])}`),
    ...['', signed, headers['x-amz-content-sha256']],
  ].join('\n');
  const text = [
    'AWS4-HMAC-SHA256',
    headers['x-amz-date'],
    scope,
    createHash('sha256').update(canonical).digest('hex'),
  ];
  const key = scope
    .split('/')
    .reduce<string | Buffer>(
      (last, part) => createHmac('sha256', last).update(part).digest(),
      `AWS4${secret}`,
    );
  return createHmac('sha256', key).update(text.join('\n')).digest('hex');
}

describe('an upload', () => {
  let bucket: Server;
  let objects: Map<string, Buffer>;
  let fails: number;
  /** What the bucket says when it refuses. */
  let refusal: string;
  /** Objects that it never takes, by a part of their names. */
  let never: string | undefined;
  /** Answers wait for it. */
  let held: Promise<void> | undefined;
  let asked: number;
  /** Session tokens of requests that were signed. */
  let tokens: Set<unknown>;

  beforeEach(async () => {
    objects = new Map();
    tokens = new Set();
    fails = asked = 0;
    refusal = '';
    never = held = undefined;
    bucket = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        asked += 1;
        const isSigned = request.headers.authorization?.endsWith(
          `Signature=${signatureOf(request, 'secret')}`,
        );
        if (isSigned !== true) response.writeHead(403).end(refusal);
        else if (fails > 0) response.writeHead(503).end(String(fails--));
        else if (never !== undefined && request.url?.includes(never) === true) response.writeHead(400).end();
        else if (held !== undefined) void held.then(() => response.writeHead(200).end());
        else {
          objects.set(String(request.url), Buffer.concat(parts));
          tokens.add(request.headers['x-amz-security-token']);
          response.writeHead(200).end();
        }
      });
    });
    await new Promise<void>((resolve) => bucket.listen(0, '127.0.0.1', resolve));
  });

  afterEach(() => bucket.close());

  const target = (secret = 'secret') => ({
    url: `http://127.0.0.1:${(bucket.address() as AddressInfo).port}/calls/eu`,
    ...{ region: 'eu-1', keys: { keyId: 'key', secret } },
  });

  it('moves a recording into the bucket, signed, the transcript last', async () => {
    leave('c');
    await newArchive({ upload: target() }).look();
    expect([...objects.keys()]).toEqual([
      '/calls/eu/2026-03-01/c/audio.wav',
      '/calls/eu/2026-03-01/c/audio.waveform',
      '/calls/eu/2026-03-01/c/call.jsonl',
    ]);
    expect(objects.get('/calls/eu/2026-03-01/c/call.jsonl')?.toString()).toBe(first);
    expect(news.map(({ type }) => type)).toEqual(['finished', 'uploaded']);
    expect(readdirSync(join(dir, 'outbox'))).toEqual([]);
  });

  it('moves an encrypted recording as it is, the transcript last', async () => {
    leave('c');
    const keys = [keyOf(randomBytes(32))] as const;
    await newArchive({ upload: target(), keys }).look();
    expect([...objects.keys()].map((name) => name.split('/').at(-1))).toEqual([
      'audio.wav.enc',
      'audio.waveform.enc',
      'call.jsonl.enc',
    ]);
    for (const object of objects.values()) expect(object.toString('latin1')).toMatch(/^SVCSEAL1/);
  });

  it('is tried again after a pause, with nothing lost', async () => {
    leave('c');
    fails = 1;
    const archive = newArchive({ upload: target() });
    await archive.look();
    await archive.look();
    expect(objects.size).toBe(0);
    expect(readdirSync(join(dir, 'outbox'))).toEqual(['2026-03-01_c']);
    now += 2_000;
    await archive.look();
    expect(objects.size).toBe(3);
    expect(news.map(({ type }) => type)).toEqual(['finished', 'upload.failed', 'uploaded']);
  });

  it('with a wrong key keeps the recording, and says why the bucket refused it, without what else it said', async () => {
    leave('c');
    const key = '<AWSAccessKeyId>key</AWSAccessKeyId>';
    refusal = `<Error><Code>SignatureDoesNotMatch</Code><Message>no</Message>${key}</Error>`;
    await newArchive({ upload: target('other') }).look();
    expect(news.at(-1)).toMatchObject({
      ...{ type: 'upload.failed', call: 'c', waiting: 1 },
      error: { message: 'the bucket answered 403 (SignatureDoesNotMatch)' },
    });
    expect(readdirSync(join(dir, 'outbox'))).toHaveLength(1);
  });

  it('is signed with the keys that a file holds at that moment, and their session token', async () => {
    const file = join(dir, 'keys.json');
    const archive = newArchive({ upload: { ...target(), keys: { file } } });
    leave('c');
    await archive.look();
    expect(news.at(-1)).toMatchObject({
      ...{ type: 'upload.failed', call: 'c' },
      error: { message: 'SVC_RECORDING_UPLOAD_KEYS_FILE cannot be read as JSON' },
    });
    const keys = { Version: 1, AccessKeyId: 'key', SecretAccessKey: 'secret', SessionToken: 'of a role' };
    writeFileSync(file, JSON.stringify(keys));
    now += 2_000;
    await archive.look();
    expect(objects.size).toBe(3);
    expect(tokens).toEqual(new Set(['of a role']));
  });

  it('that never succeeds holds up no other', async () => {
    for (const name of ['a', 'b', 'c']) leave(name);
    never = '/a/';
    const archive = newArchive({ upload: target() });
    for (let look = 0; look < 3; look += 1, now += 10_000) await archive.look();
    expect(readdirSync(join(dir, 'outbox'))).toEqual(['2026-03-01_a']);
    expect(news.filter(({ type }) => type === 'uploaded')).toHaveLength(2);
  });

  it('that is slow keeps no call from being put together, and what is deleted for want of room before its own is told', async () => {
    leave('a');
    let letGo = (): void => undefined;
    held = new Promise<void>((resolve) => (letGo = resolve));
    const archive = newArchive({ upload: target(), mostBytes: bytesOfOne });
    const slow = archive.look();
    await vi.waitFor(() => expect(asked).toBe(1));
    leave('b');
    now += 61_000;
    const second = archive.look();
    await vi.waitFor(() => expect(news).toContainEqual({ type: 'deleted', call: 'b', wasWaiting: true }));
    letGo();
    await Promise.all([slow, second]);
    expect(readdirSync(join(dir, 'outbox'))).toEqual([]);
  });

  it('of what another process has just uploaded is no failure', async () => {
    leave('a');
    let letGo = (): void => undefined;
    held = new Promise<void>((resolve) => (letGo = resolve));
    const look = newArchive({ upload: target() }).look();
    await vi.waitFor(() => expect(asked).toBe(1));
    rmSync(join(dir, 'outbox', '2026-03-01_a'), { recursive: true });
    letGo();
    await look;
    expect(news.map(({ type }) => type)).toEqual(['finished']);
  });
});
