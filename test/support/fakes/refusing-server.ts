/** A server that refuses whatever is asked of it, by HTTP and by upgrade alike, with one status and one body. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';

export interface Refusal {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface RefusingServer {
  /** `127.0.0.1:1234` */
  readonly host: string;
  refusal: Refusal;
  close(): Promise<void>;
}

export async function newRefusingServer(): Promise<RefusingServer> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const { status, body, headers } = refusing.refusal;
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
    });
  });
  server.on('upgrade', (_request, socket: Duplex) => {
    const { status, body, headers = {} } = refusing.refusal;
    const lines = Object.entries({ 'Content-Length': String(Buffer.byteLength(body)), ...headers });
    const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    socket.end(`HTTP/1.1 ${status} Refused\r\n${head}\r\n${body}`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const refusing: RefusingServer = {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    refusal: { status: 401, body: '' },
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => void server.close(() => resolve()));
    },
  };
  return refusing;
}
