/** Connections of SIP peers on real sockets: those that calls need stay, and a peer that has let go of its own is called. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import type { Log } from '../../../shared/runtime/log.ts';
import { Certificate } from '../../../supervisor/sip/wire/certificate.ts';
import { Connections, type ConnectionsOptions } from '../../../supervisor/sip/wire/connections.ts';
import { openDatagrams } from '../../../supervisor/sip/wire/datagrams.ts';
import { selfSigned } from '../../support/self-signed.ts';
import { newVirtualClock, type VirtualClock } from '../../support/core/virtual-clock.ts';

const ping = 'OPTIONS sip:a@b SIP/2.0\r\nContent-Length: 0\r\n\r\n';
const quietLog = { warn: () => undefined } as unknown as Log;
const opened: { close: () => void }[] = [];
afterEach(() => {
  for (const one of opened.splice(0)) one.close();
});

function connections(options: Partial<ConnectionsOptions> = {}): {
  all: Connections;
  clock: VirtualClock;
  heard: () => Promise<number>;
} {
  const clock = newVirtualClock();
  let tell: (connection: number) => void = () => undefined;
  const all = new Connections({
    ...{ clock, maxConnections: 4, handshakeTimeoutMs: 1_000, idleTimeoutMs: 10_000 },
    ...{
      closed: () => undefined,
      late: () => undefined,
      full: () => undefined,
      isNeeded: () => false,
      log: quietLog,
    },
    received: (_parsed, flow) => tell(flow.connection),
    ...options,
  });
  opened.push(all);
  const heard = (): Promise<number> => new Promise((resolve) => (tell = resolve));
  return { all, clock, heard };
}

async function peer(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  opened.push({ close: () => socket.destroy() });
  return socket;
}

describe('a connection of a SIP peer', () => {
  it('is closed when it says nothing whole in time, and when it is idle', async () => {
    const { all, clock, heard } = connections();
    const port = await all.listen({ host: '127.0.0.1', port: 0 });
    const socket = await peer(port);
    const first = heard();
    socket.write(ping);
    await first;
    const gone = once(socket, 'close');
    clock.advance(10_001);
    await gone;
    expect(all.send(1, Buffer.from('x'))).toBe(false);
  });

  it('is closed when it only pings until then, and kept by pings afterwards', async () => {
    const { all, clock, heard } = connections();
    const port = await all.listen({ host: '127.0.0.1', port: 0 });
    const [stranger, known] = [await peer(port), await peer(port)];
    const first = heard();
    known.write(ping);
    await first;
    for (const socket of [stranger, known]) {
      socket.write('\r\n\r\n');
      expect(String((await once(socket, 'data'))[0])).toBe('\r\n');
    }
    const gone = once(stranger, 'close');
    clock.advance(1_001);
    await gone;
    known.write('\r\n\r\n');
    expect(String((await once(known, 'data'))[0])).toBe('\r\n');
  });

  it('stays open for as long as a call runs over it', async () => {
    const { all, clock, heard } = connections({ isNeeded: () => true });
    const port = await all.listen({ host: '127.0.0.1', port: 0 });
    const socket = await peer(port);
    const first = heard();
    socket.write(ping);
    const connection = await first;
    for (let hour = 0; hour < 60; hour += 1) clock.advance(60_000);
    const said = once(socket, 'data') as Promise<[Buffer]>;
    expect(all.send(connection, Buffer.from('BYE'))).toBe(true);
    expect((await said)[0].toString()).toBe('BYE');
  });

  it('is made to a peer that has closed its own, once for all that it is told', async () => {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    opened.push(server);
    const { port } = server.address() as { port: number };
    const { all } = connections();
    const arrived = once(server, 'connection') as Promise<[Socket]>;
    all.call({ address: '127.0.0.1', port }, { protocol: 'TCP', bytes: Buffer.from('BYE 1') });
    const [socket] = await arrived;
    opened.push({ close: () => socket.destroy() });
    expect(String((await once(socket, 'data'))[0])).toBe('BYE 1');
    all.call({ address: '127.0.0.1', port }, { protocol: 'TCP', bytes: Buffer.from('BYE 2') });
    expect(String((await once(socket, 'data'))[0])).toBe('BYE 2');
    expect(all.count).toBe(1);
  });

  it('is not made beyond the number that there may be', async () => {
    let full = 0;
    const { all } = connections({ maxConnections: 0, full: () => (full += 1) });
    all.call({ address: '127.0.0.1', port: 1 }, { protocol: 'TCP', bytes: Buffer.from('BYE') });
    await Promise.resolve();
    expect([all.count, full]).toEqual([0, 1]);
  });
});

it('shows a renewed certificate to whoever comes next, once both of its files are there', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sips-'));
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  opened.push({ close: () => rmSync(folder, { recursive: true }) });
  const [first, second] = [selfSigned('first'), selfSigned('second')];
  let written = 0;
  // File systems tell times in steps of milliseconds, and this test takes no more.
  const write = (file: string, text: string): void => {
    writeFileSync(file, text);
    utimesSync(file, 0, (written += 1));
  };
  write(certFile, first.cert);
  write(keyFile, first.key);
  const lines: string[] = [];
  const log = (_fields: object, line: string): void => void lines.push(line);
  const { all } = connections();
  const certificate = new Certificate({ certFile, keyFile }, { info: log, warn: log } as unknown as Log);
  const port = await all.listen({ host: '127.0.0.1', port: 0 }, certificate);
  const shown = async (): Promise<string | undefined> => {
    const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    opened.push({ close: () => socket.destroy() });
    return socket.getPeerX509Certificate()?.subject;
  };
  expect(await shown()).toBe('CN=first');
  write(certFile, second.cert);
  expect([await shown(), await shown()]).toEqual(['CN=first', 'CN=first']);
  write(keyFile, second.key);
  expect(await shown()).toBe('CN=second');
  expect(lines).toEqual([
    'the changed certificate cannot be used, and the one before stays in force',
    'a renewed certificate is in force',
  ]);
});

it('answers IPv4 by the socket for datagrams of both families', async () => {
  const { send, socket, port } = await openDatagrams({ host: '::', port: 0 }, (bytes, source) => {
    expect(source.address).toBe('127.0.0.1');
    send(bytes, source);
  });
  const phone = createSocket('udp4').bind(0, '127.0.0.1');
  opened.push(socket, phone);
  const heard = once(phone, 'message');
  phone.send('hello', port, '127.0.0.1');
  expect(String((await heard)[0])).toBe('hello');
});

it('says why there is none to a peer, so that a certificate that is not trusted is not taken for a machine that is down', async () => {
  const secure = createTlsServer(selfSigned()).listen(0, '127.0.0.1');
  opened.push(secure);
  await once(secure, 'listening');
  const { port } = secure.address() as AddressInfo;
  const lines: unknown[] = [];
  const { all } = connections({ log: { warn: (fields: object) => lines.push(fields) } as unknown as Log });
  const at = { address: '127.0.0.1', port };
  expect(await all.dial(at, { protocol: 'TLS', name: 'localhost' })).toBeUndefined();
  secure.close();
  await once(secure, 'close');
  expect(await all.dial(at, { protocol: 'TCP', name: 'localhost' })).toBeUndefined();
  expect(lines).toEqual([
    { peer: 'localhost', reason: 'DEPTH_ZERO_SELF_SIGNED_CERT' },
    { peer: 'localhost', reason: 'ECONNREFUSED' },
  ]);
});
