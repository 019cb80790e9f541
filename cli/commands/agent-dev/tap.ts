/**
 * A look into the agent link: links of the service are passed on to the agent, message by message, and told. The agent decides who may
 * connect; what it refuses is refused with its words. While it starts anew, a link waits for it as long as the service does.
 */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocket, WebSocketServer, type RawData } from 'ws';
import { agentLinkLimits, agentLinkTimes } from '../../../shared/agent-link/limits.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';

const host = '127.0.0.1';
const tryAgainMs = 50;
const mostBacklogBytes = 1_048_576;

export interface TapOptions {
  /** The agent's port on this machine. */
  readonly agentPort: number;
  readonly clock: Clock;
  readonly onMessage: (
    call: number,
    message: { readonly from: 'service' | 'agent'; readonly text: string },
  ) => void;
  readonly onNote: (call: number, note: string) => void;
}

const textOf = (data: RawData): string =>
  (Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer)).toString('utf8');

/** All events are wanted here, whatever the agent asks for; an agent leaves alone what it has no handler for. */
function withAllEvents(text: string): string {
  if (!text.includes('session.accept')) return text;
  try {
    const message: unknown = JSON.parse(text);
    if (typeof message !== 'object' || message === null || Reflect.get(message, 'type') !== 'session.accept')
      return text;
    Reflect.deleteProperty(message, 'events');
    return JSON.stringify(message);
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}

export class Tap {
  readonly #options: TapOptions;
  readonly #server: Server = createServer((_, response) => response.writeHead(426).end());
  readonly #links = new WebSocketServer({ noServer: true, perMessageDeflate: false, autoPong: false });
  #calls = 0;

  constructor(options: TapOptions) {
    this.#options = options;
    this.#server.on('upgrade', (request, socket, head) => {
      socket.on('error', () => socket.destroy());
      this.#reach(request, { socket, head, untilMs: options.clock.now() + agentLinkTimes.connectMs });
    });
  }

  /** Resolves with the port; undefined when it is taken. */
  listen(port: number): Promise<number | undefined> {
    return new Promise((resolve) => {
      this.#server.once('error', () => resolve(undefined));
      this.#server.listen(port, host, () => resolve((this.#server.address() as AddressInfo).port));
    });
  }

  close(): void {
    for (const link of this.#links.clients) link.terminate();
    this.#server.close();
  }

  #reach(request: IncomingMessage, arrival: { socket: Duplex; head: Buffer; untilMs: number }): void {
    const { agentPort, clock, onNote } = this.#options;
    const { authorization } = request.headers;
    const agent = new WebSocket(`ws://${host}:${agentPort}${request.url ?? '/'}`, {
      perMessageDeflate: false,
      maxPayload: agentLinkLimits.messageBytes * 2,
      ...(authorization !== undefined && { headers: { authorization } }),
    });
    const refuse = (status: string): void => {
      onNote(this.#calls + 1, `the agent refused the link: ${status}`);
      arrival.socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
    };
    agent.on('unexpected-response', (sent, response) => {
      refuse(`${response.statusCode ?? 502} ${response.statusMessage ?? ''}`);
      sent.destroy();
    });
    agent.once('error', () => {
      if (agent.readyState === agent.OPEN || arrival.socket.writableEnded) return;
      if (clock.now() > arrival.untilMs || arrival.socket.destroyed) {
        refuse('502 Bad Gateway');
        return;
      }
      clock.after(tryAgainMs, () => this.#reach(request, arrival));
    });
    agent.once('open', () => {
      if (arrival.socket.destroyed) {
        agent.terminate();
        return;
      }
      this.#links.handleUpgrade(request, arrival.socket, arrival.head, (service) =>
        this.#join(service, agent),
      );
    });
  }

  #join(service: WebSocket, agent: WebSocket): void {
    const call = (this.#calls += 1);
    const { onMessage, onNote } = this.#options;
    onNote(call, 'the service connected');
    const pass = (from: 'service' | 'agent', [source, target]: readonly [WebSocket, WebSocket]): void => {
      source.on('message', (data, isBinary) => {
        const text = isBinary ? undefined : textOf(data);
        if (text !== undefined) onMessage(call, { from, text });
        if (target.bufferedAmount > mostBacklogBytes) {
          target.terminate();
          return;
        }
        if (text === undefined) target.send(data, { binary: true });
        else target.send(from === 'agent' ? withAllEvents(text) : text);
      });
      source.on('error', () => target.terminate());
      source.on('close', (code) => {
        onNote(call, `the ${from} closed the link (${code})`);
        if (code >= 1000 && code < 1004) target.close(code);
        else target.terminate();
      });
    };
    pass('service', [service, agent]);
    pass('agent', [agent, service]);
    // Whether the agent lives is for the agent to say.
    service.on('ping', (data) => agent.readyState === agent.OPEN && agent.ping(data));
    agent.on('pong', (data) => service.readyState === service.OPEN && service.pong(data));
  }
}
