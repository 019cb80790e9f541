/** The socket for SIP over UDP. */
import { createSocket, type Socket } from 'node:dgram';
import type { HostPort } from '../../../shared/net/address.ts';
import type { Source } from '../message/write.ts';

/** More is no message of a phone. */
const mostBytes = 48 * 1024;

export interface Datagrams {
  readonly port: number;
  readonly send: (bytes: Buffer, to: Source) => void;
  readonly close: () => void;
}

/** Rejects when the address cannot be bound. */
export function openDatagrams(
  at: HostPort,
  received: (bytes: Buffer, source: Source) => void,
): Promise<Datagrams> {
  const socket: Socket = createSocket({ type: at.host.includes(':') ? 'udp6' : 'udp4' });
  socket.on('message', (bytes, { address, port }) => {
    if (bytes.length <= mostBytes) received(bytes, { address: plain(address), port });
  });
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.bind(at.port, at.host, () => {
      socket.off('error', reject);
      // A peer that is not there answers by ICMP; its transaction runs into its time limit.
      socket.on('error', () => undefined);
      resolve({
        port: socket.address().port,
        send: (bytes, to) => socket.send(bytes, to.port, to.address, () => undefined),
        close: () => socket.close(),
      });
    });
  });
}

/** IPv4 as it is written everywhere else. */
export const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '');
