/** Tool servers over HTTP that answer as they like: each costs its own call a tool error, and the next call is asked as usual. */
import { createServer } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { noCallControl } from '../../../worker/tools/tool.ts';
import { closeRegistries, newRegistry, openTools, runTool } from '../../support/core/tool-call.ts';

interface Message {
  readonly id?: number;
  readonly method: string;
  readonly params: { readonly protocolVersion?: string; readonly arguments?: unknown };
}
type Answer = (response: ServerResponse, id: number, result: unknown) => void;

const servers: Server[] = [];
afterEach(async () => {
  await closeRegistries();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

const asJson = { 'content-type': 'application/json' };
const asEvents = { 'content-type': 'text/event-stream' };
const message = (id: number, result: unknown): string => JSON.stringify({ jsonrpc: '2.0', id, result });
const good: Answer = (response, id, result) => response.writeHead(200, asJson).end(message(id, result));

/** A server whose first call is answered by `answer`, and everything else as it should be. */
async function serve(answer: Answer): Promise<{ url: string; methods: string[]; calls: unknown[] }> {
  const methods: string[] = [];
  const called: unknown[] = [];
  let calls = 0;
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => (body += part));
    request.on('end', () => {
      methods.push(request.method ?? '');
      const { id, method, params } = JSON.parse(body) as Message;
      if (id === undefined) {
        response.writeHead(202).end();
        return;
      }
      if (method === 'initialize') {
        const { protocolVersion } = params;
        good(response, id, {
          protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: 't', version: '1' },
        });
      } else if (method === 'tools/list') {
        good(response, id, { tools: [{ name: 'echo', inputSchema: { type: 'object' } }, orders] });
      } else {
        calls += 1;
        called.push(params.arguments);
        (calls === 1 ? answer : good)(response, id, { content: [{ type: 'text', text: 'fine' }] });
      }
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, methods, calls: called };
}

const orders = {
  name: 'orders',
  inputSchema: {
    type: 'object',
    required: ['customer_id', 'state'],
    properties: { customer_id: { type: 'string' }, state: { type: 'string' } },
    additionalProperties: false,
  },
};

async function started(answer: Answer, { more = '', metadata = {} } = {}) {
  const { url, methods, calls } = await serve(answer);
  const registry = newRegistry(`[[mcp]]\nname = "far"\nurl = "${url}"\n${more}`);
  await registry.start(noCallControl);
  return { tools: openTools(registry, { control: noCallControl, metadata }), methods, calls };
}

describe('arguments that the call gives', () => {
  it('reach the tools that declare them, and the LLM neither sees nor chooses them', async () => {
    const { tools, calls } = await started(good, {
      more: 'arguments = { customer_id = "{{session.meta.customer|nobody}}" }\n',
      metadata: { 'session.meta.customer': 'c-17' },
    });
    const declared = tools.declarations().find(({ name }) => name === 'orders')?.parameters;
    expect(declared).toMatchObject({ required: ['state'], properties: { state: { type: 'string' } } });
    expect(JSON.stringify(declared)).not.toContain('customer_id');
    await runTool(tools, 'orders', { given: { state: 'open', customer_id: 'c-18' } });
    await runTool(tools, 'echo', { given: { a: 1 } });
    expect(calls).toEqual([{ state: 'open', customer_id: 'c-17' }, { a: 1 }]);
  });
});

describe('a tool server over HTTP', () => {
  it('answers in one message, or in a stream of events', async () => {
    const { tools, methods } = await started((response, id, result) =>
      response.writeHead(200, asEvents).end(`event: message\ndata: ${message(id, result)}\n\n`),
    );
    expect(await runTool(tools, 'echo')).toEqual({ kind: 'result', text: 'fine' });
    expect(await runTool(tools, 'echo')).toEqual({ kind: 'result', text: 'fine' });
    expect(new Set(methods)).toEqual(new Set(['POST']));
  });

  it.each<[string, Answer, string]>([
    [
      'a list of messages',
      (response, id, result) =>
        response
          .writeHead(200, asJson)
          .end(`[${Array.from({ length: 500 }, () => message(id, result)).join(',')}]`),
      'the tool server gave no valid answer',
    ],
    [
      'no JSON',
      (response) => response.writeHead(200, asJson).end('{'),
      'the tool server gave no valid answer',
    ],
    [
      'a page',
      (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
      'the tool server gave no valid answer',
    ],
    [
      'a failure',
      (response) => response.writeHead(503).end('secret'),
      'the tool server answered with status 503',
    ],
    [
      'a body without end',
      (response) => {
        response.writeHead(200, asJson);
        const more = (): void => {
          while (response.write('x'.repeat(16_384)));
        };
        response.on('drain', more);
        more();
      },
      'the answer is larger than 256 KiB',
    ],
    [
      'an event of megabytes',
      (response, id) => {
        const large = { content: [{ type: 'text', text: 'x'.repeat(3_000_000) }] };
        response.writeHead(200, asEvents).end(`event: message\ndata: ${message(id, large)}\n\n`);
      },
      'the answer is larger than 256 KiB',
    ],
    [
      'more text than is kept',
      (response, id) => good(response, id, { content: [{ type: 'text', text: 'x'.repeat(70_000) }] }),
      'the answer is larger than 64 KiB',
    ],
  ])('that answers with %s costs one call its result', async (_, answer, failure) => {
    const { tools } = await started(answer);
    expect(await runTool(tools, 'echo')).toMatchObject({
      kind: 'failed',
      message: failure,
      transport: false,
    });
    expect(await runTool(tools, 'echo')).toEqual({ kind: 'result', text: 'fine' });
  });

  it('whose tool has effects has had them, although the answer is too large', async () => {
    const large = { content: [{ type: 'text', text: 'x'.repeat(70_000) }] };
    const { tools } = await started((response, id) => good(response, id, large), {
      more: 'side_effects = ["echo"]\n',
    });
    expect(await runTool(tools, 'echo')).toMatchObject({
      transport: true,
      known: 'it has happened, but the answer is larger than 64 KiB',
    });
  });

  it('that has forgotten the session is given a new one, and then the calls that came', async () => {
    const { tools, calls } = await started((response) => response.writeHead(404).end());
    expect(await runTool(tools, 'echo', { given: { a: 1 } })).toEqual({ kind: 'result', text: 'fine' });
    expect(calls).toEqual([{ a: 1 }, { a: 1 }]);
  });

  it('that redirects is not followed', async () => {
    let followed = 0;
    const { url } = await serve(() => (followed += 1));
    const { tools } = await started((response) => response.writeHead(307, { location: url }).end());
    expect(await runTool(tools, 'echo')).toMatchObject({ message: 'the tool server gave no valid answer' });
    expect(await runTool(tools, 'echo')).toEqual({ kind: 'result', text: 'fine' });
    expect(followed).toBe(0);
  });

  it('that floods with events is left at their bound', async () => {
    const { tools } = await started((response) => {
      response.writeHead(200, asEvents);
      const event = `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x' } })}\n\n`;
      const more = (): void => {
        while (response.write(event.repeat(50)));
      };
      response.on('drain', more);
      more();
    });
    expect(await runTool(tools, 'echo', { timeoutMs: 50 })).toMatchObject({ kind: 'failed' });
    expect(await runTool(tools, 'echo')).toEqual({ kind: 'result', text: 'fine' });
  });
});
