/** The sockets of SIP, real ones: where the system chooses the port, it is one that UDP and TCP both have. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Log } from '../../../shared/runtime/log.ts';
import { Connections } from '../../../supervisor/sip/wire/connections.ts';
import { SipSockets } from '../../../supervisor/sip/wire/sockets.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';

const inUse = Object.assign(new Error('in use'), { code: 'EADDRINUSE' });

function newSockets(port: number): { sockets: SipSockets; told: unknown[] } {
  const told: unknown[] = [];
  const sockets = new SipSockets({
    settings: {
      addr: { host: '127.0.0.1', port },
      ...{ srtp: 'off', rtpPorts: { first: 10_000, last: 10_010 }, allow: [], refers: false },
      ...{ maxConnections: 4, handshakeTimeoutMs: 1_000, idleTimeoutMs: 10_000 },
    },
    clock: newVirtualClock(),
    log: { info: (fields: unknown) => void told.push(fields) } as unknown as Log,
    received: () => undefined,
    closed: () => undefined,
    isNeeded: () => false,
    late: () => undefined,
    full: () => undefined,
  });
  return { sockets, told };
}

afterEach(() => void vi.restoreAllMocks());

describe('SVC_SIP_ADDR with port 0', () => {
  it('takes another port where the one that UDP got is in use for TCP', async () => {
    const asked = vi.spyOn(Connections.prototype, 'listen').mockRejectedValueOnce(inUse);
    const { sockets, told } = newSockets(0);
    await sockets.bind();
    sockets.close();
    // The next port may be in use as well.
    const ports = asked.mock.calls.map(([at]) => at.port);
    expect(ports.at(-1)).not.toBe(ports[0]);
    expect(told).toEqual([{ listener: 'sip', address: `127.0.0.1:${ports.at(-1)}` }]);
  });

  it('gives up after ten, and at once where the port was asked for', async () => {
    const asked = vi.spyOn(Connections.prototype, 'listen').mockRejectedValue(inUse);
    const any = newSockets(0);
    await expect(any.sockets.bind()).rejects.toBe(inUse);
    any.sockets.close();
    expect(asked).toHaveBeenCalledTimes(10);
    const { port } = asked.mock.calls[9]![0];
    const one = newSockets(port);
    await expect(one.sockets.bind()).rejects.toBe(inUse);
    one.sockets.close();
    expect(asked).toHaveBeenCalledTimes(11);
  });
});
