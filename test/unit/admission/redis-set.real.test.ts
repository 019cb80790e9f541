/** Single use between two supervisors, against a real server. Skips where there is no redis-server. */
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, it, expect } from 'vitest';
import { parseRedisUrl } from '../../../shared/net/redis-url.ts';
import { systemClock, systemWallClock } from '../../../shared/runtime/clock.ts';
import { RedisSet } from '../../../supervisor/admission/redis-set.ts';
import { RedisLine } from '../../../supervisor/fleet/redis-line.ts';
import { TokenLedger } from '../../../supervisor/admission/token-ledger.ts';
import { TokenStore } from '../../../supervisor/admission/token-store.ts';

const isThere = spawnSync('redis-server', ['--version']).status === 0;
const password = 'canary-password';

const undo: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step();
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function startRedis(port: number, more: string[] = []): Promise<ChildProcess> {
  const args = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const child = spawn('redis-server', [...args, '--requirepass', password, ...more], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  undo.push(() => stop(child));
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (text: Buffer) => {
      if (text.includes('Ready to accept connections')) resolve();
    });
    child.once('exit', () => reject(new Error('redis-server ended')));
  });
  return child;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

function openStore(port: number, { secret = password, timeoutMs = 2_000 } = {}) {
  const target = parseRedisUrl(`redis://:${secret}@127.0.0.1:${port}/1`);
  if (!target.ok) throw new Error(target.error);
  const warnings: string[] = [];
  const line = new RedisLine(target.value, { clock: systemClock, timeoutMs });
  const shared = new RedisSet(line);
  const store = new TokenStore({
    ledger: new TokenLedger(),
    wallClock: systemWallClock,
    log: { warn: (fields, sentence) => void warnings.push(JSON.stringify({ fields, sentence })) },
    shared,
  });
  undo.push(() => store.close());
  return { store, shared, line, warnings };
}

/** Looks again until it holds; the limit is that of the test. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await pause(5);
}

const expS = (): number => Math.floor(systemWallClock.now() / 1000) + 60;

describe.skipIf(!isThere)(
  'two supervisors with one redis-server (skipped where the program is absent)',
  () => {
    async function twoStores() {
      const port = await freePort();
      const child = await startRedis(port);
      const stores = [openStore(port), openStore(port)] as const;
      await until(() => stores.every(({ line }) => line.isReady));
      return { port, child, stores };
    }

    it('accept a token once between them', async () => {
      const { stores } = await twoStores();
      const token = { sid: 'ü once', expS: expS() };
      expect(await stores[0].store.use(token)).toEqual({ ok: true, value: undefined });
      expect(await stores[1].store.use(token)).toEqual({ ok: false, error: 'reused' });
    });

    it('accept a token that one of them has given back', async () => {
      const { stores } = await twoStores();
      const token = { sid: 'given back', expS: expS() };
      await stores[0].store.use(token);
      await stores[0].store.giveBack(token);
      expect((await stores[1].store.use(token)).ok).toBe(true);
      expect(await stores[0].store.use(token)).toEqual({ ok: false, error: 'reused' });
    });

    it('accept one of 1000 simultaneous presentations of a token', async () => {
      const { stores } = await twoStores();
      const token = { sid: 'race', expS: expS() };
      const uses = await Promise.all(
        Array.from({ length: 1_000 }, (_, index) => stores[index % 2]!.store.use(token)),
      );
      expect(uses.filter(({ ok }) => ok)).toHaveLength(1);
      expect(new Set(uses.map((use) => (use.ok ? 'fine' : use.error)))).toEqual(new Set(['fine', 'reused']));
    });

    it('accept each of 1000 tokens once when both get all of them at the same time', async () => {
      const { stores } = await twoStores();
      const at = expS();
      const uses = await Promise.all(
        Array.from({ length: 1_000 }, async (_, index) => {
          const token = { sid: `t${index}`, expS: at };
          const both = await Promise.all(stores.map(({ store }) => store.use(token)));
          return both
            .map((use) => (use.ok ? 'fine' : use.error))
            .toSorted()
            .join();
        }),
      );
      expect(new Set(uses)).toEqual(new Set(['fine,reused']));
    });

    it('refuse while it is gone, say why once and never the password, and go on when it is back', async () => {
      const { port, child, stores } = await twoStores();
      const [{ store, line, warnings }] = stores;
      await stop(child);
      await until(() => !line.isReady);
      for (let count = 0; count < 50; count += 1)
        expect(await store.use({ sid: `gone${count}`, expS: expS() })).toEqual({
          ok: false,
          error: 'store_unavailable',
        });
      expect(warnings).toHaveLength(1);
      expect(warnings[0]).toMatch(/"reason":"[\w ]+"/);
      expect(warnings.join()).not.toContain('canary');
      await startRedis(port);
      await until(() => line.isReady);
      expect(await store.use({ sid: 'gone0', expS: expS() })).toEqual({ ok: true, value: undefined });
    });

    it('refuse when it goes away in the middle', async () => {
      const { child, stores } = await twoStores();
      child.kill('SIGSTOP');
      const uses = Array.from({ length: 20 }, (_, index) =>
        stores[0].store.use({ sid: `m${index}`, expS: expS() }),
      );
      await stop(child);
      for (const use of await Promise.all(uses))
        expect(use).toEqual({ ok: false, error: 'store_unavailable' });
    });

    it('refuse in time when it is silent, and find it again with a new connection', async () => {
      const port = await freePort();
      const child = await startRedis(port);
      const { store, line } = openStore(port, { timeoutMs: 50 });
      await until(() => line.isReady);
      child.kill('SIGSTOP');
      const uses = Array.from({ length: 8 }, (_, index) => store.use({ sid: `s${index}`, expS: expS() }));
      for (const use of await Promise.all(uses))
        expect(use).toEqual({ ok: false, error: 'store_unavailable' });
      child.kill('SIGCONT');
      await until(async () => (await store.use({ sid: `${Math.random()}`, expS: expS() })).ok);
    });

    it('refuse when it does not know the password or cannot write', async () => {
      const port = await freePort();
      await startRedis(port, ['--maxmemory', '1']);
      const wrong = openStore(port, { secret: 'wrong-canary' });
      await until(async () => {
        expect(await wrong.store.use({ sid: 'w', expS: expS() })).toEqual({
          ok: false,
          error: 'store_unavailable',
        });
        return !(await wrong.shared.add('w', 1)).ok && wrong.warnings.length > 0;
      });
      expect(wrong.warnings.join()).not.toContain('canary');
      const full = openStore(port);
      await until(() => full.line.isReady);
      expect(await full.shared.add('x', 1_000)).toEqual({ ok: false, error: 'OOM' });
    });
  },
);

describe('a store that cannot be reached', () => {
  it('refuses at once from the start', async () => {
    const { store, warnings } = openStore(await freePort());
    expect(await store.use({ sid: 'a', expS: expS() })).toEqual({ ok: false, error: 'store_unavailable' });
    expect(warnings).toHaveLength(1);
  });

  it('refuses when something else listens there', async () => {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    undo.push(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    const { store } = openStore((server.address() as AddressInfo).port);
    await once(server, 'connection');
    expect(await store.use({ sid: 'a', expS: expS() })).toEqual({ ok: false, error: 'store_unavailable' });
  });
});
