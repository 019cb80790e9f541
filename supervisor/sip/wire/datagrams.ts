/** The socket for SIP over UDP. */
import { createSocket, type Socket } from 'node:dgram';
import { isIPv4 } from 'node:net';
import type { HostPort } from '../../../shared/net/address.ts';
import type { Source } from '../../../shared/sip/message/write.ts';

/** More is no message of a phone. */
const mostBytes = 48 * 1024;

export interface Datagrams {
  readonly port: number;
  /** For a process that takes over; this one keeps its own. */
  readonly socket: Socket;
  readonly send: (bytes: Buffer, to: Source) => void;
  readonly close: () => void;
}

type Received = (bytes: Buffer, source: Source) => void;

/** Rejects when the address cannot be bound. */
export function openDatagrams(at: HostPort, received: Received): Promise<Datagrams> {
  const socket: Socket = createSocket({ type: at.host.includes(':') ? 'udp6' : 'udp4' });
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.bind(at.port, at.host, () => {
      socket.off('error', reject);
      resolve(datagramsOf(socket, received));
    });
  });
}

/** A socket that is bound. */
export function datagramsOf(socket: Socket, received: Received): Datagrams {
  socket.on('message', (bytes, { address, port }) => {
    if (bytes.length <= mostBytes) received(bytes, { address: plain(address), port });
  });
  // A peer that is not there answers by ICMP; its transaction runs into its time limit.
  socket.on('error', () => undefined);
  const { port, family } = socket.address();
  return {
    port,
    socket,
    send: (bytes, to) => {
      const address = family === 'IPv6' && isIPv4(to.address) ? `::ffff:${to.address}` : to.address;
      socket.send(bytes, to.port, address, () => undefined);
    },
    close: () => socket.close(),
  };
}

/** IPv4 as it is written everywhere else. */
export const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '');
