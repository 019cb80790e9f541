/** What is told to the service manager arrives at the socket that it names; without one nothing happens. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { newSystemd } from '../../../shared/runtime/systemd.ts';
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
    const systemd = newSystemd(name);
    expect(systemd.tell('READY=1')).toBe(true);
    expect(systemd.tell('STATUS=it is\u00e4', 'MAINPID=4711')).toBe(true);
    expect(socket.take()).toEqual(['READY=1', 'STATUS=it is\u00e4\nMAINPID=4711']);
  });

  it('that is not there, or has a name that is no address, is not told, and no descriptor is left', () => {
    const before = readdirSync('/proc/self/fd').length;
    expect(newSystemd(join(folder, 'nobody')).tell('READY=1')).toBe(false);
    expect(newSystemd(`/${'x'.repeat(200)}`).tell('READY=1')).toBe(false);
    expect(readdirSync('/proc/self/fd').length).toBe(before);
  });

  it('that does not exist is told nothing', () => {
    expect(newSystemd(undefined).tell('READY=1')).toBe(true);
    expect(newSystemd('').tell('READY=1')).toBe(true);
  });
});
