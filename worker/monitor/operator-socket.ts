/**
 * The connection of one operator: what is sent to a slow one is left out and counted, and one that is dead is closed. Nothing here can throw
 * into a call.
 */
import { randomUUID } from 'node:crypto';
import type { Millis } from '../../shared/base/units.ts';
import { monitorClose, type MonitorRole, type ToOperator } from '../../shared/monitor/messages.ts';
import { WebSocket } from 'ws';

/** Sound that waits for a slow connection, in bytes: two to four seconds. Texts may wait longer. */
const mostSoundBytes = 256 * 1024;
const mostBytes = 512 * 1024;
/** A connection that takes nothing for so long, or answers no ping, is dead. */
const deadAfterMs: Millis = 10_000;
const pingEveryMs: Millis = 5_000;

export interface OperatorSocketOptions {
  readonly ws: WebSocket;
  readonly role: MonitorRole;
  /** The name that the operator gave. */
  readonly by: string;
  readonly tenant: string | undefined;
  readonly now: () => Millis;
  readonly text: (text: string) => void;
  readonly voice: (pcm: Int16Array) => void;
  /** The connection is gone. Called once. */
  readonly gone: () => void;
  readonly failed: (error: unknown) => void;
}

export class OperatorSocket {
  /** No other connection has it, in no worker. */
  readonly id = randomUUID();
  readonly role: MonitorRole;
  readonly by: string;
  readonly tenant: string | undefined;
  readonly #options: OperatorSocketOptions;
  #lostFrames = 0;
  #lostEvents = 0;
  #aliveAt: Millis;
  #pingedAt: Millis;

  constructor(options: OperatorSocketOptions) {
    this.#options = options;
    this.role = options.role;
    this.by = options.by;
    this.tenant = options.tenant;
    this.#aliveAt = options.now();
    this.#pingedAt = this.#aliveAt;
    const { ws, text, voice, gone } = options;
    ws.on('message', (data: Buffer, isBinary) => {
      this.#aliveAt = options.now();
      // Messages behind a close are no operator's any more.
      if (ws.readyState !== WebSocket.OPEN) return;
      this.#attempt(() => {
        if (!isBinary) text(data.toString());
        else if (data.length % 2 === 0) voice(samplesOf(data));
      });
    });
    ws.on('pong', () => (this.#aliveAt = options.now()));
    ws.on('error', () => undefined);
    ws.once('close', () => this.#attempt(gone));
  }

  tell(message: ToOperator): void {
    const { ws } = this.#options;
    if (ws.readyState !== WebSocket.OPEN) return;
    if (ws.bufferedAmount > mostBytes) {
      this.#lostEvents += 1;
      return;
    }
    this.#tellLost();
    ws.send(JSON.stringify(message));
  }

  sound(frame: Buffer): void {
    const { ws } = this.#options;
    if (ws.readyState !== WebSocket.OPEN) return;
    if (ws.bufferedAmount > mostSoundBytes) {
      this.#lostFrames += 1;
      return;
    }
    this.#tellLost();
    ws.send(frame);
  }

  /** Looks whether somebody is there. */
  look(): void {
    const { ws, now } = this.#options;
    const at = now();
    if (at - this.#aliveAt > deadAfterMs) ws.terminate();
    else if (at - this.#pingedAt > pingEveryMs) {
      this.#pingedAt = at;
      ws.ping();
    }
  }

  close(code: keyof typeof monitorClose): void {
    this.#options.ws.close(monitorClose[code], code);
  }

  #tellLost(): void {
    const [frames, events] = [this.#lostFrames, this.#lostEvents];
    if (frames + events === 0) return;
    this.#lostFrames = this.#lostEvents = 0;
    this.#options.ws.send(JSON.stringify({ type: 'lost', frames, events } satisfies ToOperator));
  }

  #attempt(part: () => void): void {
    try {
      part();
    } catch (error) {
      this.#options.failed(error);
      this.#options.ws.terminate();
    }
  }
}

/** The library may give bytes at an odd place, where no view of samples can stand. */
function samplesOf(bytes: Buffer): Int16Array {
  const pcm = new Int16Array(bytes.length / 2);
  for (let at = 0; at < pcm.length; at += 1) pcm[at] = bytes.readInt16LE(at * 2);
  return pcm;
}
