/** What a telephone's messages go by: a socket for datagrams, or a connection, which is cut into messages by their length. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

export interface PhoneWire {
  readonly protocol: 'UDP' | 'TCP' | 'TLS';
  readonly port: number;
  readonly send: (text: string | Buffer) => void;
  readonly close: () => void;
  /** Called with each whole message. */
  heard: (text: string) => void;
  /** The other side has closed it. */
  isClosed: boolean;
}

export async function openWire(protocol: PhoneWire['protocol'], server: number): Promise<PhoneWire> {
  if (protocol !== 'UDP') return await connection(protocol, server);
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const wire: PhoneWire = {
    ...{ protocol, port: socket.address().port, heard: () => undefined, isClosed: false },
    send: (text) => socket.send(text, server, '127.0.0.1'),
    close: () => void socket.close(),
  };
  socket.on('message', (bytes) => wire.heard(bytes.toString('latin1')));
  return wire;
}

async function connection(protocol: 'TCP' | 'TLS', server: number): Promise<PhoneWire> {
  const to = { host: '127.0.0.1', port: server };
  const socket: Socket =
    protocol === 'TCP' ? connectTcp(to) : connectTls({ ...to, rejectUnauthorized: false });
  socket.on('error', () => undefined);
  await once(socket, protocol === 'TCP' ? 'connect' : 'secureConnect');
  const wire: PhoneWire = {
    ...{ protocol, port: socket.localPort ?? 0, heard: () => undefined, isClosed: false },
    send: (text) => void socket.write(text),
    close: () => void socket.destroy(),
  };
  cutMessages(socket, (text) => wire.heard(text));
  socket.on('close', () => (wire.isClosed = true));
  return wire;
}

/** Tells each whole message of a connection. */
export function cutMessages(socket: Socket, heard: (text: string) => void): void {
  let rest = '';
  socket.on('data', (bytes: Buffer) => {
    rest += bytes.toString('latin1');
    // A message may follow a sign of life.
    for (rest = rest.replace(/^(\r\n)+/, ''); ;) {
      const head = rest.indexOf('\r\n\r\n');
      const length = Number(/^content-length:\s*(\d+)/im.exec(rest.slice(0, Math.max(0, head)))?.[1] ?? 0);
      if (head < 0 || rest.length < head + 4 + length) return;
      const text = rest.slice(0, head + 4 + length);
      rest = rest.slice(text.length);
      heard(text);
    }
  });
}
