/** Fetching a pinned model, from a real server on this machine. */
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { downloadFile } from '../../../cli/commands/models/model-download.ts';

const content = Buffer.from(Array.from({ length: 100_000 }, (_, i) => (i * 7919) % 251));
const sha256 = createHash('sha256').update(content).digest('hex');
const model = { file: 'model.onnx', bytes: content.length, sha256, path: 'a/model.onnx' };

let folder: string;
let server: Server;
let served: Buffer;
let stopAfter: number;
const ranges: (string | undefined)[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-pull-'));
  served = content;
  stopAfter = Number.POSITIVE_INFINITY;
  ranges.length = 0;
  server = createServer((request, response) => {
    ranges.push(request.headers.range);
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
    const body = served.subarray(from);
    const range = `bytes ${from}-${served.length - 1}/${served.length}`;
    response.writeHead(from > 0 ? 206 : 200, {
      'content-length': body.length,
      ...(from > 0 && { 'content-range': range }),
    });
    if (stopAfter >= body.length) response.end(body);
    else response.write(body.subarray(0, stopAfter), () => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterEach(async () => {
  await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true, force: true });
});

const path = (): string => join(folder, 'model.onnx');
const source = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const fetchIt = (from = source()) =>
  downloadFile(model, path(), { clock: systemClock, source: from, progress: () => undefined });

describe('fetching a model', () => {
  it('puts the pinned bytes in their place and leaves nothing else', async () => {
    expect(await fetchIt()).toEqual({ ok: true, value: undefined });
    expect(readFileSync(path()).equals(content)).toBe(true);
    expect(existsSync(`${path()}.part`)).toBe(false);
  });

  it('goes on where an attempt broke off', async () => {
    writeFileSync(`${path()}.part`, content.subarray(0, 40_000));
    expect((await fetchIt()).ok).toBe(true);
    expect(ranges).toEqual(['bytes=40000-']);
    expect(readFileSync(path()).equals(content)).toBe(true);
  });

  it('keeps what came before the connection broke', async () => {
    stopAfter = 30_000;
    expect((await fetchIt()).ok).toBe(false);
    expect(existsSync(path())).toBe(false);
    stopAfter = Number.POSITIVE_INFINITY;
    expect((await fetchIt()).ok).toBe(true);
  });

  it('takes no other bytes than the pinned ones', async () => {
    served = Buffer.from(content).fill(1, 500, 501);
    expect(await fetchIt()).toMatchObject({ ok: false });
    expect([existsSync(path()), existsSync(`${path()}.part`)]).toEqual([false, false]);
  });

  it('keeps nothing of a page that comes in the place of the file, as where a network wants a login', async () => {
    served = Buffer.from('<html>Please log in</html>');
    expect(await fetchIt()).toEqual({
      ok: false,
      error: `${new URL(source()).host} sends something else than the file: 26 bytes`,
    });
    expect(existsSync(`${path()}.part`)).toBe(false);
  });

  it('refuses plain http to another machine', async () => {
    expect(await fetchIt('http://models.example')).toEqual({
      ok: false,
      error: 'the source must be an https address',
    });
  });
});
