/** What is told to the service manager arrives at the socket that it names; without one nothing happens. */
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { newSystemd } from '../../../shared/runtime/systemd.ts';
import { Presence } from '../../../supervisor/service/presence.ts';
import { Datagrams } from '../../support/datagrams.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-notify-'));
const sockets: Datagrams[] = [];

function listenAt(name: string): Datagrams {
  const socket = new Datagrams(name);
  sockets.push(socket);
  return socket;
}

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('the service manager', () => {
  it.each([
    ['a path', join(folder, 'notify')],
    ['an abstract name', `@svc-test-${process.pid}`],
  ])('is told at %s', (_kind, name) => {
    const socket = listenAt(name);
    const systemd = newSystemd({ NOTIFY_SOCKET: name });
    expect(systemd.tell('READY=1')).toBe(true);
    expect(systemd.tell('STATUS=it is\u00e4', 'MAINPID=4711')).toBe(true);
    expect(socket.take()).toEqual(['READY=1', 'STATUS=it is\u00e4\nMAINPID=4711']);
  });

  it('that is not there, or has a name that is no address, is not told, and no descriptor is left', () => {
    const before = readdirSync('/proc/self/fd').length;
    expect(newSystemd({ NOTIFY_SOCKET: join(folder, 'nobody') }).tell('READY=1')).toBe(false);
    expect(newSystemd({ NOTIFY_SOCKET: `/${'x'.repeat(200)}` }).tell('READY=1')).toBe(false);
    expect(readdirSync('/proc/self/fd').length).toBe(before);
  });

  it.each([
    ['30000000', 30_000],
    ['0', undefined],
    ['soon', undefined],
    [undefined, undefined],
  ])('asks with WATCHDOG_USEC=%s to hear from the service every %s ms', (text, ms) => {
    const env = { NOTIFY_SOCKET: '@x', ...(text !== undefined && { WATCHDOG_USEC: text }) };
    expect(newSystemd(env).watchdogMs).toBe(ms);
  });

  it('is told three times in each of its intervals that the supervisor is alive, and not without asking', () => {
    const heard: string[] = [];
    const log = pino({ level: 'silent' });
    const presence = (watchdogMs: number | undefined) =>
      new Presence({
        log,
        systemd: { watchdogMs, tell: (...lines) => heard.push(...lines) > 0 },
        ...{ settings: {}, pid: 1, isFirst: true },
      });
    const [watched, free] = [presence(30_000), presence(undefined)];
    for (let now = 0; now < 60_000; now += 200) {
      watched.isAlive(now);
      free.isAlive(now);
    }
    expect(heard).toEqual(Array<string>(6).fill('WATCHDOG=1'));
  });

  it('is told that the service is ready where the file of its process id is a folder, beside which nothing is left', () => {
    const pidFile = mkdtempSync(join(tmpdir(), 'svc-pid-'));
    const heard: string[] = [];
    const warned: string[] = [];
    const log = pino({ level: 'warn' }, { write: (line: string) => void warned.push(line) });
    const systemd = { watchdogMs: undefined, tell: (...lines: string[]) => heard.push(...lines) > 0 };
    new Presence({ log, systemd, settings: { pidFile }, pid: 4711, isFirst: true }).serves();
    expect([heard, warned.join('')]).toEqual([['READY=1'], expect.stringContaining('SVC_PID_FILE')]);
    expect(existsSync(`${pidFile}.4711`)).toBe(false);
    rmSync(pidFile, { recursive: true });
  });

  it('that does not exist is told nothing', () => {
    expect(newSystemd({}).tell('READY=1')).toBe(true);
    expect(newSystemd({ NOTIFY_SOCKET: '' }).tell('READY=1')).toBe(true);
  });
});
