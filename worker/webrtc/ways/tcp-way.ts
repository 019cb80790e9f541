/**
 * One TCP connection of a client that carries the media of its call (RFC 4571, RFC 6544).
 *
 * Invariant: it holds at most so many frames as it may for a client that takes none, and drops the oldest; `closed` is told once.
 */
import type { Socket } from 'node:net';
import { framed, FrameReader } from '../../../shared/webrtc/framing.ts';
import { LoopbackSocket, type MuxPort } from './loopback-socket.ts';

export interface TcpWayOptions {
  readonly socket: Socket;
  /** What came before the connection was brought here, whole frames or not. */
  readonly head: Buffer;
  readonly mux: MuxPort;
  readonly maxFrameBytes: number;
  readonly queue: number;
  readonly closed: () => void;
}

export class TcpWay {
  readonly #socket: Socket;
  readonly #reader: FrameReader;
  readonly #loopback: LoopbackSocket;
  readonly #most: number;
  readonly #waiting: Buffer[] = [];
  #isWriting = false;

  constructor({ socket, head, mux, maxFrameBytes, queue, closed }: TcpWayOptions) {
    this.#socket = socket;
    this.#most = queue;
    this.#reader = new FrameReader(maxFrameBytes);
    this.#loopback = new LoopbackSocket(mux, (packet) => this.#write(packet));
    socket.setNoDelay(true);
    socket.on('error', () => undefined);
    socket.once('close', () => {
      this.#loopback.close();
      closed();
    });
    socket.on('end', () => socket.destroy());
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    this.#read(head);
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    const frames = this.#reader.push(chunk);
    if (frames === undefined) this.#socket.destroy();
    else for (const frame of frames) this.#loopback.push(frame);
  }

  #write(packet: Buffer): void {
    if (this.#socket.destroyed) return;
    if (this.#isWriting) {
      if (this.#waiting.length >= this.#most) this.#waiting.shift();
      this.#waiting.push(packet);
      return;
    }
    this.#isWriting = true;
    this.#socket.write(framed(packet), () => {
      this.#isWriting = false;
      const next = this.#waiting.shift();
      if (next !== undefined) this.#write(next);
    });
  }
}
