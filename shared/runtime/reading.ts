/**
 * Whether a process reads from a socket that it has, at the kernel's end: what is not read stays there for the process that reads next,
 * be it another process. Node's own `pause` reads on until its buffer is full.
 */
import type { Socket as DatagramSocket } from 'node:dgram';
import type { Socket } from 'node:net';
import { assert } from '../base/assert.ts';

/** The part of Node's socket that is not public. */
interface Readable {
  readonly _handle?: { reading?: boolean; readStop?: () => number; readStart?: () => number } | null;
}

/** Stops at once, also a socket that another process has just given to this one. */
export function stopReading(socket: Socket): void {
  const handle = (socket as Readable)._handle;
  assert(typeof handle?.readStop === 'function', 'this version of Node can stop reading a socket');
  handle.readStop();
}

/** Goes on after {@link stopReading}. Does nothing for a socket that is closed. */
export function startReading(socket: Socket): void {
  const handle = (socket as Readable)._handle;
  if (handle === null || handle === undefined) return;
  assert(typeof handle.readStart === 'function', 'this version of Node can start reading a socket');
  // Node starts on its own what it believes to be stopped, and takes it for an error that it was not.
  handle.reading = true;
  handle.readStart();
}

/** The part of Node's datagram socket that is not public. */
interface Receiver {
  readonly handle?: { recvStop?: () => number; recvStart?: () => number } | null;
}

/** Leaves the datagrams of a bound socket in the kernel, for a process that is given a duplicate of it. */
export function stopReceiving(socket: DatagramSocket): void {
  const handle = receiverOf(socket);
  assert(typeof handle?.recvStop === 'function', 'this version of Node can stop receiving on a socket');
  handle.recvStop();
}

/** Goes on after {@link stopReceiving}. Does nothing for a socket that is closed. */
export function startReceiving(socket: DatagramSocket): void {
  const handle = receiverOf(socket);
  if (handle === null || handle === undefined) return;
  assert(typeof handle.recvStart === 'function', 'this version of Node can start receiving on a socket');
  handle.recvStart();
}

function receiverOf(socket: DatagramSocket): Receiver['handle'] {
  const symbol = Object.getOwnPropertySymbols(socket).find(
    ({ description }) => description === 'state symbol',
  );
  const state: unknown = symbol && Reflect.get(socket, symbol);
  return (state as Receiver | undefined)?.handle;
}
