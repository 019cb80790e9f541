/**
 * An agent process without an SDK: a WebSocket server that notes what it is sent and says what a test wants, rules broken included.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer, type WebSocket } from 'ws';
import { Observed } from './process/observed.ts';

/** A message of the service as it came. */
export type AgentEvent = Readonly<Record<string, unknown>> & {
  readonly type: string;
  readonly seq: number;
  readonly t_ms: number;
};

/** One connection: a call, or a part of one. */
export class AgentSession {
  readonly headers: IncomingHttpHeaders;
  readonly path: string;
  readonly events: AgentEvent[] = [];
  closeCode: number | undefined;
  readonly socket: WebSocket;
  readonly #agent: RawAgent;

  constructor(
    socket: WebSocket,
    agent: RawAgent,
    request: { readonly headers: IncomingHttpHeaders; readonly url?: string | undefined },
  ) {
    this.socket = socket;
    this.#agent = agent;
    this.headers = request.headers;
    this.path = request.url ?? '';
    socket.on('error', () => undefined);
    socket.on('message', (data: Buffer) => {
      const event = JSON.parse(data.toString('utf8')) as AgentEvent;
      this.events.push(event);
      agent.onEvent(event, this);
      agent.changed();
    });
    socket.on('close', (code) => {
      this.closeCode = code;
      agent.changed();
    });
  }

  send(message: Readonly<Record<string, unknown>>): void {
    this.socket.send(JSON.stringify(message));
  }

  /** The newest event of a type that fits. */
  said(type: string, fits: (event: AgentEvent) => boolean = () => true): AgentEvent | undefined {
    return this.events.findLast((event) => event.type === type && fits(event));
  }

  /** Resolves with an event of a type as soon as one is there that fits. */
  async says(type: string, fits?: (event: AgentEvent) => boolean): Promise<AgentEvent> {
    await this.#agent.until(() => this.said(type, fits) !== undefined || this.closeCode !== undefined);
    const event = this.said(type, fits);
    if (event === undefined) throw new Error(`the link was closed without ${type}`);
    return event;
  }

  async closed(): Promise<number> {
    await this.#agent.until(() => this.closeCode !== undefined);
    return this.closeCode ?? 0;
  }
}

type OnEvent = (event: AgentEvent, session: AgentSession) => void;

/** Accepts each call with these fields. */
export const accepting =
  (fields: Readonly<Record<string, unknown>> = {}): OnEvent =>
  ({ type }, session) => {
    if (type === 'session.start') session.send({ type: 'session.accept', version: 1, ...fields });
  };

export class RawAgent extends Observed {
  readonly sessions: AgentSession[] = [];
  onEvent: OnEvent;
  readonly #server: WebSocketServer;

  private constructor(server: WebSocketServer, onEvent: OnEvent) {
    super();
    this.#server = server;
    this.onEvent = onEvent;
    server.on('connection', (socket, request) => {
      this.sessions.push(new AgentSession(socket, this, request));
      this.changed();
    });
  }

  static async start(onEvent: OnEvent = accepting(), port = 0): Promise<RawAgent> {
    const server = new WebSocketServer({ host: '127.0.0.1', port });
    await new Promise<void>((resolve) => {
      server.once('listening', resolve);
    });
    return new RawAgent(server, onEvent);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `ws://127.0.0.1:${this.port}/calls?key=canary`;
  }

  /** The connection with this number, from 0, as soon as it is there. */
  async session(at = 0): Promise<AgentSession> {
    await this.until(() => this.sessions.length > at);
    const session = this.sessions[at];
    if (session === undefined) throw new Error('the session is there');
    return session;
  }

  close(): Promise<void> {
    for (const { socket } of this.sessions) socket.terminate();
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
    });
  }
}
