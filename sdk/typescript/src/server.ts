/**
 * The socket side: one WebSocket server for one agent, or for several by path. Refusals are HTTP answers, as the service understands
 * them: it then holds the call by its agent file.
 */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type RawData, type WebSocket } from 'ws';
import { isSameSecret } from '../../../shared/auth/same-secret.ts';
import type { Connection } from './connection.ts';
import { acceptText, type AgentDefinition } from './definition.ts';
import { CallHost } from './host.ts';
import type { Logger } from './log.ts';
import { limits, times } from './wire/constants.ts';

/** What has not left after this many bytes belongs to a service that does not read. */
const mostBacklogBytes = 1_048_576;
const lookEveryMs = times.pingIntervalMs;
/** The service pings every 10 s; one that is silent for this long is gone. */
const silentMs = times.downAfterMs + times.pingIntervalMs;

export interface ListenOptions {
  /** Address to listen on. Default `VOICE_AGENT_HOST`, else 127.0.0.1. */
  readonly host?: string;
  /** 0 takes a free one. Default `VOICE_AGENT_PORT`, else 8090. */
  readonly port?: number;
  /** What the service must present as a bearer token (its `SVC_AGENT_TOKEN`). Default `SVC_AGENT_TOKEN`. */
  readonly token?: string;
  /** Lets anybody in who reaches an address that is not of this machine alone. Default false. */
  readonly insecure?: boolean;
  /** Calls at a time; more are refused. Default 1000. */
  readonly maxCalls?: number;
  /** SIGTERM and SIGINT close the server, and end the process when it is closed. Default true. */
  readonly handleSignals?: boolean;
  /** What running calls get after such a signal, in milliseconds. Default 30000. */
  readonly graceMs?: number;
}

export interface AgentServer {
  /** `ws://host:port`. */
  readonly url: string;
  readonly port: number;
  /** Calls that run or wait for their link. */
  readonly calls: number;
  /** Takes no new call, waits up to `graceMs` (0) for the running ones, then closes their links. */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

/** Which agent a path leads to. */
export type AgentOfPath = (path: string) => AgentDefinition | undefined;

interface Settings extends Required<Pick<ListenOptions, 'host' | 'port' | 'maxCalls' | 'graceMs'>> {
  readonly token: string;
}

function settingsOf(options: ListenOptions, env: NodeJS.ProcessEnv): Settings {
  const { host = env['VOICE_AGENT_HOST'] ?? '127.0.0.1', port = Number(env['VOICE_AGENT_PORT'] ?? 8090) } =
    options;
  const token = options.token ?? env['SVC_AGENT_TOKEN'] ?? '';
  const isWhole = (value: number, least: number): boolean => Number.isSafeInteger(value) && value >= least;
  if (!isWhole(port, 0) || port > 65_535)
    throw new RangeError('port: must be a whole number from 0 to 65535');
  const { maxCalls = 1_000, graceMs = 30_000 } = options;
  if (!isWhole(maxCalls, 1)) throw new RangeError('maxCalls: must be a whole number above 0');
  if (!isWhole(graceMs, 0)) throw new RangeError('graceMs: must be a whole number of milliseconds');
  const isOwn = host === 'localhost' || host === '::1' || /^127\./.test(host);
  if (!isOwn && token === '' && options.insecure !== true)
    throw new Error('token: is required on an address that others reach (insecure: true does without)');
  return { host, port, token, maxCalls, graceMs };
}

function answer(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

const bearer = /^bearer +(\S+)$/i;

/** The HTTP status of a refused link. */
function refusalOf(request: IncomingMessage, token: string): string | undefined {
  // The service sends no Origin: this is a page in somebody's browser.
  if (request.headers.origin !== undefined) return '403 Forbidden';
  if (token === '') return undefined;
  const given = bearer.exec(request.headers.authorization ?? '')?.[1];
  return given !== undefined && isSameSecret(given, token) ? undefined : '401 Unauthorized';
}

function connectionOf(socket: WebSocket): Connection {
  return {
    send: (text) => {
      if (socket.readyState !== socket.OPEN) return;
      if (socket.bufferedAmount > mostBacklogBytes) socket.terminate();
      else socket.send(text);
    },
    close: (code, reason) => {
      if (socket.readyState === socket.OPEN) socket.close(code, reason);
    },
  };
}

const textOf = (data: RawData): string =>
  (Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer)).toString('utf8');

class LinkServer implements AgentServer {
  readonly #http: Server;
  readonly #sockets = new WebSocketServer({
    noServer: true,
    maxPayload: limits.messageBytes,
    perMessageDeflate: false,
  });
  readonly #host: CallHost;
  readonly #settings: Settings;
  readonly #agentOf: AgentOfPath;
  readonly #logger: Logger;
  /** When each link was last heard of, in milliseconds of `performance.now()`. */
  readonly #heard = new Map<WebSocket, number>();
  readonly #watch: NodeJS.Timeout;
  #closing: Promise<void> | undefined;

  constructor(agentOf: AgentOfPath, settings: Settings, logger: Logger) {
    this.#agentOf = agentOf;
    this.#settings = settings;
    this.#logger = logger;
    this.#host = new CallHost({ mostCalls: settings.maxCalls });
    this.#http = createServer((request, response) => {
      const isHealth = request.method === 'GET' && request.url === '/healthz';
      response.writeHead(isHealth ? 200 : 426, isHealth ? {} : { Upgrade: 'websocket' }).end();
    });
    this.#http.on('upgrade', (request, socket, head) => this.#upgrade(request, socket, head));
    this.#watch = setInterval(() => this.#look(), lookEveryMs);
    this.#watch.unref();
  }

  get port(): number {
    return (this.#http.address() as AddressInfo).port;
  }

  get url(): string {
    const { host } = this.#settings;
    return `ws://${host.includes(':') ? `[${host}]` : host}:${this.port}`;
  }

  get calls(): number {
    return this.#host.calls;
  }

  listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#http.once('error', reject);
      this.#http.listen(this.#settings.port, this.#settings.host, () => {
        this.#http.off('error', reject);
        this.#logger.info('the agent listens', { url: this.url });
        resolve();
      });
    });
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    const refusal = refusalOf(request, this.#settings.token);
    if (refusal !== undefined) {
      answer(socket, refusal);
      return;
    }
    const path = request.url ?? '/';
    const agent = this.#agentOf(path.split('?')[0] ?? path);
    if (agent === undefined) {
      answer(socket, '404 Not Found');
      return;
    }
    // A call that waits for its link may come back at any time; the host decides about new ones.
    if (this.#sockets.clients.size >= this.#settings.maxCalls * 2) {
      answer(socket, '503 Service Unavailable');
      return;
    }
    this.#sockets.handleUpgrade(request, socket, head, (opened) => this.#opened(opened, { agent, path }));
  }

  #opened(socket: WebSocket, arrival: { readonly agent: AgentDefinition; readonly path: string }): void {
    const events = this.#host.open(connectionOf(socket), arrival);
    const heard = (): void => void this.#heard.set(socket, performance.now());
    heard();
    socket.on('ping', heard);
    socket.on('message', (data, isBinary) => {
      heard();
      if (isBinary) events.binary();
      else events.text(textOf(data));
    });
    // A frame breaks the protocol of WebSockets, or is too large: `close` follows.
    socket.on('error', (error) =>
      arrival.agent.logger.warn('a link failed', { code: Reflect.get(error, 'code') }),
    );
    socket.on('close', () => {
      this.#heard.delete(socket);
      events.closed();
    });
  }

  #look(): void {
    const now = performance.now();
    for (const [socket, heardMs] of this.#heard) if (now - heardMs > silentMs) socket.terminate();
  }

  close({ graceMs = 0 }: { readonly graceMs?: number } = {}): Promise<void> {
    this.#closing ??= this.#close(graceMs);
    return this.#closing;
  }

  async #close(graceMs: number): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#http.close(() => resolve()));
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, graceMs)));
    await Promise.race([this.#host.drain(), late]);
    clearTimeout(timer);
    this.abandon();
    for (const socket of this.#sockets.clients) socket.terminate();
    this.#http.closeAllConnections();
    clearInterval(this.#watch);
    await closed;
  }

  /** Ends all calls at once. */
  abandon(): void {
    this.#host.abandonAll();
  }

  /** The first signal closes the server, a second one ends its calls at once; then the process ends by the signal. */
  followSignals(): void {
    let isStopping = false;
    const follow = (signal: NodeJS.Signals): void => {
      if (isStopping) {
        this.abandon();
        return;
      }
      isStopping = true;
      this.#logger.info('the agent stops', { signal, calls: this.calls });
      void this.close({ graceMs: this.#settings.graceMs }).then(() => {
        for (const each of signals) process.off(each, follow);
        process.kill(process.pid, signal);
      });
    };
    const signals = ['SIGTERM', 'SIGINT'] as const;
    for (const signal of signals) process.on(signal, follow);
  }
}

/** Starts to listen. Rejects when the options break a rule, an agent says too much for one message, or the address is taken. */
export async function listen(
  agents: { readonly all: readonly AgentDefinition[]; readonly of: AgentOfPath },
  options: ListenOptions,
): Promise<AgentServer> {
  const [first] = agents.all;
  if (first === undefined) throw new TypeError('agents: must have at least one');
  const settings = settingsOf(options, process.env);
  for (const agent of agents.all) acceptText(agent, agent.opening);
  const server = new LinkServer(agents.of, settings, first.logger);
  await server.listen();
  if (options.handleSignals ?? true) server.followSignals();
  return server;
}
