/**
 * A chat server in front of another one: passes every request on unchanged and keeps what the messages were.
 *
 * Invariant: the answer is the other server's, byte for byte; at most the last 100 requests are kept.
 */
import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface LlmMessage {
  readonly role: string;
  readonly content: string;
}

export interface RecordedLlm {
  readonly url: string;
  /** The messages of each request, oldest first. */
  readonly requests: readonly (readonly LlmMessage[])[];
  close(): Promise<void>;
}

export async function recordLlm(target: string): Promise<RecordedLlm> {
  const requests: LlmMessage[][] = [];
  const { origin } = new URL(target);
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts);
      requests.push((JSON.parse(body.toString()) as { messages: LlmMessage[] }).messages);
      if (requests.length > 100) requests.shift();
      const onward = httpRequest(
        new URL(request.url ?? '/', origin),
        {
          method: request.method,
          headers: { 'Content-Type': 'application/json', 'Content-Length': body.length },
        },
        (answer) => {
          response.writeHead(answer.statusCode ?? 502, answer.headers);
          answer.pipe(response);
        },
      );
      onward.on('error', () => response.destroy());
      response.on('close', () => onward.destroy());
      onward.end(body);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
