/**
 * One WebSocket to an agent process. Its events come until it is closed from either side, never after; nothing of the address, which may
 * hold secrets, gets into what is told.
 */
import { Agent } from 'node:https';
import { Agent as PlainAgent } from 'node:http';
import { rootCertificates } from 'node:tls';
import WebSocket from 'ws';
import type { LinkTarget } from '../../shared/agent-link/agent-file.ts';
import { lineOf } from '../../shared/agent-link/fields.ts';
import { agentLinkLimits, agentLinkTimes, closeReasonBytes } from '../../shared/agent-link/limits.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { lookup, type Lookup } from '../stages/lookup.ts';

export interface AgentSocketEvents {
  opened(): void;
  text(text: string): void;
  binary(): void;
  /** To be answered by `pong`. */
  ping(data: Uint8Array): void;
  pong(): void;
  /** Once and last, also where the connection never opened. */
  closed(why: string): void;
}

export interface AgentSocket {
  readonly bufferedBytes: number;
  /** `written` is called when the kernel has it, at once where it takes it at once. */
  send(text: string, written?: () => void): void;
  ping(): void;
  pong(data: Uint8Array): void;
  /** Whether more is read; messages that have been read arrive all the same. */
  read(isOn: boolean): void;
  /** Ends it in good order, and for good when the agent does not answer. */
  close(code: number, reason: string): void;
}

/** `headers` are those of the call, beside the token of the process. */
export type Dial = (
  clock: Clock,
  events: AgentSocketEvents,
  headers?: Readonly<Record<string, string>>,
) => AgentSocket;

/** TLS sessions that are gone on with, per agent process. */
const sessionsKept = 4;

/**
 * What calls to one agent process are connected with: each has a connection of its own; names are looked up once per interval for
 * all of them, and TLS sessions are gone on with.
 */
export function newDialer(
  { url, token }: LinkTarget,
  certificates: readonly string[],
  find: Lookup = lookup,
): Dial {
  const way = { keepAlive: false, lookup: find, host: url.host };
  const agent = url.isTls
    ? new Agent({
        ...way,
        maxCachedSessions: sessionsKept,
        ...(certificates.length > 0 && { ca: [...rootCertificates, ...certificates] }),
      })
    : new PlainAgent(way);
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token.reveal()}` };
  return (clock, events, ofCall) => {
    const socket = new WebSocket(url.href, {
      agent,
      headers: { ...headers, ...ofCall },
      perMessageDeflate: false,
      autoPong: false,
      followRedirects: false,
      maxPayload: agentLinkLimits.messageBytes,
    });
    return new WsAgentSocket(socket, clock, events);
  };
}

/** RFC 6455, 7.4.1: codes of this side's library, which no peer sends. */
const noCode = 1005;
const noFrame = 1006;

/** How the other side closed the connection. */
function closeText(code: number, reason: Buffer): string {
  if (code === noFrame) return 'the connection broke';
  const said = lineOf(reason.toString('utf8'), closeReasonBytes);
  const closed = code === noCode ? 'closed without a code' : `closed with ${code}`;
  return said === '' ? closed : `${closed}: ${said}`;
}

class WsAgentSocket implements AgentSocket {
  readonly #socket: WebSocket;
  readonly #clock: Clock;
  #events: AgentSocketEvents | undefined;
  /** What failed, where something did. */
  #why: string | undefined;

  constructor(socket: WebSocket, clock: Clock, events: AgentSocketEvents) {
    this.#socket = socket;
    this.#clock = clock;
    this.#events = events;
    socket.on('open', () => this.#events?.opened());
    socket.on('message', (data: Buffer, isBinary) => {
      if (isBinary) this.#events?.binary();
      else this.#events?.text(data.toString('utf8'));
    });
    socket.on('pong', () => this.#events?.pong());
    socket.on('ping', (data) => this.#events?.ping(data));
    socket.on('unexpected-response', (_, response) => {
      this.#why = `the handshake was answered with status ${response.statusCode ?? 0}`;
      // With a listener here nobody else ends it, and its end would not be told before the time of a connection is over.
      socket.terminate();
    });
    socket.on('error', (error) => {
      const code: unknown = Reflect.get(error, 'code');
      if (typeof code === 'string') this.#why = code;
    });
    socket.on('close', (code, reason) => this.#over(code, reason));
  }

  get bufferedBytes(): number {
    return this.#socket.bufferedAmount;
  }

  send(text: string, written?: () => void): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    let tell = written;
    const taken = (): void => {
      tell?.();
      tell = undefined;
    };
    this.#socket.send(text, (error) => error ?? taken());
    if (this.#socket.bufferedAmount === 0) taken();
  }

  ping(): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.ping();
  }

  pong(data: Uint8Array): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.pong(data);
  }

  read(isOn: boolean): void {
    if (isOn) this.#socket.resume();
    else this.#socket.pause();
  }

  close(code: number, reason: string): void {
    this.#events = undefined;
    // Else the answer to the close frame is never seen.
    this.#socket.resume();
    if (this.#socket.readyState !== WebSocket.OPEN) {
      this.#socket.terminate();
      return;
    }
    this.#socket.close(code, reason);
    const timer = this.#clock.after(agentLinkTimes.closeGraceMs, () => this.#socket.terminate());
    this.#socket.once('close', () => timer.cancel());
  }

  #over(code: number, reason: Buffer): void {
    const events = this.#events;
    this.#events = undefined;
    events?.closed(this.#why ?? closeText(code, reason));
  }
}
