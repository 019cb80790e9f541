/**
 * A scriptable HTTP server for provider fakes, on a real socket. Each request takes the next reply of the script, or
 * the default one; a reply holds the response and does with it what it likes.
 */
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Observed } from '../process/observed.ts';

export interface FakeRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The parsed JSON body. */
  readonly body: Record<string, unknown>;
  readonly response: ServerResponse;
  /** The peer went away before the response was complete. */
  aborted: boolean;
  /** Connection that carried it, counted from 0. */
  readonly connection: number;
}

export type FakeReply = (request: FakeRequest) => void;

export interface ReplyParts {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly chunks?: readonly (string | Buffer)[];
  /** What happens after the chunks; default `end`. */
  readonly then?: 'end' | 'hold' | 'cut';
}

/** A reply that writes its parts and then ends, holds the response open, or cuts the connection. */
export function reply({ status = 200, headers = {}, chunks = [], then = 'end' }: ReplyParts): FakeReply {
  return ({ response }) => {
    response.writeHead(status, headers);
    response.flushHeaders();
    const last = (): void => {
      if (then === 'end') response.end();
      else if (then === 'cut') response.destroy();
    };
    if (chunks.length === 0) setImmediate(last);
    for (const [at, chunk] of chunks.entries()) {
      response.write(chunk, at === chunks.length - 1 ? last : undefined);
    }
  };
}

/** Takes the request and never answers. */
export const silence: FakeReply = () => undefined;

export class FakeHttpServer extends Observed {
  readonly requests: FakeRequest[] = [];
  /** Replies of the next requests, in order. */
  readonly script: FakeReply[] = [];
  private readonly fallback: FakeReply;
  private readonly server: Server;
  private connections = 0;

  constructor(fallback: FakeReply) {
    super();
    this.fallback = fallback;
    const numbers = new WeakMap<object, number>();
    this.server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('error', () => undefined);
      request.on('end', () => {
        const taken: FakeRequest = {
          method: request.method ?? '',
          path: request.url ?? '',
          headers: request.headers,
          body: JSON.parse(Buffer.concat(parts).toString('utf8')) as Record<string, unknown>,
          response,
          aborted: false,
          connection: numbers.get(request.socket) ?? -1,
        };
        response.on('close', () => {
          taken.aborted = !response.writableFinished;
          this.changed();
        });
        this.requests.push(taken);
        (this.script.shift() ?? this.fallback)(taken);
        this.changed();
      });
    });
    this.server.on('connection', (socket) => {
      numbers.set(socket, this.connections);
      this.connections += 1;
      socket.on('error', () => undefined);
    });
  }

  /** Connections accepted so far. */
  get connectionCount(): number {
    return this.connections;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Address with the `/v1` prefix, as it stands in a definition. */
  get baseUrl(): string {
    return `http://127.0.0.1:${this.port}/v1`;
  }

  start(port = 0): Promise<void> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(port, '127.0.0.1', () => resolve());
    });
  }

  close(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }
}
