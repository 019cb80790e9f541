/**
 * A chat server in front of another one: where a rule of the test says so it calls a tool, and everything else is the other
 * server's answer. Keeps what it was asked.
 *
 * Invariant: a rule sees a request and nothing else, as a model does.
 */
import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface CoachedRequest {
  readonly messages: readonly {
    readonly role: string;
    readonly content: string;
    readonly tool_calls?: readonly { readonly function: { readonly name: string } }[];
  }[];
  /** Names of the tools that are offered. */
  readonly offered: readonly string[];
}

export interface CoachedCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export interface CoachedLlm {
  readonly url: string;
  /** Oldest first. */
  readonly requests: readonly CoachedRequest[];
  close(): Promise<void>;
}

function sendCall(response: ServerResponse, id: string, call: CoachedCall): void {
  const send = (delta: unknown, finish: string | null = null): void => {
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`);
  };
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  const text = JSON.stringify(call.arguments);
  send({
    role: 'assistant',
    tool_calls: [{ index: 0, id, type: 'function', function: { name: call.name, arguments: text } }],
  });
  send({}, 'tool_calls');
  response.end('data: [DONE]\n\n');
}

export async function coachLlm(
  target: string,
  rule: (request: CoachedRequest) => CoachedCall | undefined,
): Promise<CoachedLlm> {
  const requests: CoachedRequest[] = [];
  const { origin } = new URL(target);
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts);
      const { messages, tools = [] } = JSON.parse(body.toString()) as Pick<CoachedRequest, 'messages'> & {
        readonly tools?: readonly { readonly function: { readonly name: string } }[];
      };
      const asked = { messages, offered: tools.map((tool) => tool.function.name) };
      requests.push(asked);
      const call = rule(asked);
      if (call !== undefined) {
        sendCall(response, `call_${requests.length}`, call);
        return;
      }
      const headers = { 'Content-Type': 'application/json', 'Content-Length': body.length };
      const onward = httpRequest(
        new URL(request.url ?? '/', origin),
        { method: request.method, headers },
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
