/** A receiver of webhooks on a real socket, which answers as it is told. */
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Observed } from '../process/observed.ts';

export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export type Reply = (response: ServerResponse) => void;
export const answer =
  (status: number, headers: Readonly<Record<string, string>> = {}): Reply =>
  (response) =>
    response.writeHead(status, headers).end();

/** An endpoint on a real socket. */
export class Receiver extends Observed {
  readonly received: Received[] = [];
  reply: Reply = answer(204);
  readonly #server: Server;

  constructor() {
    super();
    this.#server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('error', () => undefined);
      request.on('end', () => {
        this.received.push({ headers: request.headers, body: Buffer.concat(parts).toString('utf8') });
        this.reply(response);
        this.changed();
      });
    });
  }

  /** On a port of its own, or on one that somebody has left. */
  async listen(port = 0): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(port, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
