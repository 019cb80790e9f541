/**
 * A connection that holds little: with a small window and small segments both kernels keep few bytes, so a caller that
 * stops reading is noticed soon. Linux alone; the options have to be set before connecting, which Node does not offer.
 */
import koffi from 'koffi';
import { Socket } from 'node:net';

const afInet = 2;
const sockStream = 1;
const solSocket = 1;
const soRcvbuf = 8;
const ipprotoTcp = 6;
const tcpMaxseg = 2;

export function connectNarrow(port: number): Socket {
  const libc = koffi.load(null);
  const socket = libc.func('int socket(int domain, int type, int protocol)');
  const setsockopt = libc.func('int setsockopt(int fd, int level, int name, int *value, uint32_t length)');
  const connect = libc.func('int connect(int fd, uint8_t *address, uint32_t length)');
  const fd = Number(socket(afInet, sockStream, 0));
  const results: unknown[] = [
    setsockopt(fd, solSocket, soRcvbuf, Int32Array.of(4096), 4),
    setsockopt(fd, ipprotoTcp, tcpMaxseg, Int32Array.of(536), 4),
  ];
  const address = Buffer.alloc(16);
  address.writeUInt16LE(afInet, 0);
  address.writeUInt16BE(port, 2);
  address.set([127, 0, 0, 1], 4);
  results.push(connect(fd, address, address.length));
  if (results.some((result) => result !== 0)) throw new Error('the narrow socket cannot be made');
  return new Socket({ fd, readable: true, writable: true });
}
