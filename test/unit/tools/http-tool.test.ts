/** HTTP tools against real servers that are slow, endless, misleading or wrong. */
import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import type { HttpToolDefinition } from '../../../shared/config/agent/tools.ts';
import { Sensitive } from '../../../shared/config/sensitive.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { isPublicAddress } from '../../../shared/runtime/address-guard.ts';
import { fillBody, fillUrl, HttpTool } from '../../../worker/tools/http-tool.ts';
import type { Failure } from '../../../worker/stages/failure-log.ts';
import type { StageContext } from '../../../worker/stages/stage.ts';
import type { ToolReport } from '../../../worker/tools/tool.ts';

const context: StageContext = { clock: systemClock, bind: (callback) => callback };
const servers: Server[] = [];
const tools: HttpTool[] = [];
const failures: Failure[] = [];
afterEach(async () => {
  failures.length = 0;
  await Promise.all(tools.splice(0).map((tool) => tool.close()));
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return typeof address === 'object' && address !== null ? `http://127.0.0.1:${address.port}` : '';
}

function ask(url: string, more: Partial<HttpToolDefinition> = {}, timeoutMs = 5000): Promise<ToolReport> {
  const definition: HttpToolDefinition = {
    method: 'GET',
    url,
    headers: {},
    secretHeaders: new Map(),
    result: '',
    allowPrivate: true,
    ...more,
  };
  const tool = new HttpTool(definition, { name: 'probe', failed: (failure) => void failures.push(failure) });
  tools.push(tool);
  const request = {
    id: 'c1',
    name: 'n',
    arguments: { city: 'a b/ü', n: 2 },
    metadata: { name: 'Zoë {city}', 'session.meta.customer': 'c/17', climbs: '..' },
    epoch: 1,
    kind: 'read_only' as const,
    idempotencyKey: '0'.repeat(16),
    timeoutMs,
  };
  return new Promise((resolve) => tool.run(context, request, resolve));
}

describe('what came with the call', () => {
  const echo: RequestListener = (request, response) => {
    response.setHeader('content-type', 'application/json');
    const { 'x-name': name, 'x-absent': absent } = request.headers;
    let body = '';
    request.on('data', (part: Buffer) => (body += part.toString()));
    request.on('end', () => response.end(JSON.stringify({ url: request.url, name, absent, body })));
  };

  it('stands in address, headers and body where the tool says so, and is never read as a template', async () => {
    const origin = await serve(echo);
    const report = await ask(
      `${origin}/{{session.meta.customer}}/{city}?from={{metadata.name}}&x={{metadata.x|y}}`,
      {
        method: 'POST',
        headers: { 'x-name': '{{metadata.name}}', 'x-absent': '{{metadata.x}}' },
        body: { note: 'for {{metadata.name}} in {city}', list: ['{{session.meta.customer}}'], n: '{n}' },
      },
    );
    const url = '/c%2F17/a%20b%2F%C3%BC?from=Zo%C3%AB%20%7Bcity%7D&x=y';
    const body = '{"note":"for Zoë {city} in a b/ü","list":["c/17"],"n":2}';
    expect(report).toEqual({
      kind: 'result',
      text: JSON.stringify({ url, name: 'Zo%C3%AB%20%7Bcity%7D', body }),
    });
  });

  it('is not sent to a tool that names nothing of it', async () => {
    let text = '';
    const origin = await serve((request, response) => {
      text = `${request.url} ${JSON.stringify(request.rawHeaders)}`;
      response.end();
    });
    await ask(`${origin}/w?city={city}`);
    expect(text).not.toMatch(/Zo|c%2F17|c\/17/);
  });

  it('cannot climb in the path', async () => {
    const origin = await serve(echo);
    expect(await ask(`${origin}/a/{{metadata.climbs}}/orders`)).toMatchObject({ kind: 'failed' });
  });

  it('does not turn arguments of the LLM into variables', () => {
    const values = { city: '{{session.meta.customer}}' };
    const metadata = { 'session.meta.customer': 'c-17' };
    expect(fillBody({ at: 'in {city}', alone: '{city}' }, values, metadata)).toEqual({
      at: 'in {{session.meta.customer}}',
      alone: '{{session.meta.customer}}',
    });
    expect(fillUrl('https://a.example/?c={city}', values, metadata)?.url.search).not.toContain('17');
  });
});

describe('an HTTP tool', () => {
  it('sends its arguments percent-encoded and gives the part that is asked for', async () => {
    const origin = await serve((request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({ current: { path: request.url, key: request.headers['idempotency-key'] } }),
      );
    });
    const report = await ask(`${origin}/w?city={city}`, { result: '/current' });
    expect(report).toEqual({
      kind: 'result',
      text: `{"path":"/w?city=a%20b%2F%C3%BC","key":"${'0'.repeat(16)}"}`,
    });
  });

  it('sends the arguments that the address does not hold as a JSON body', async () => {
    const origin = await serve((request, response) => void request.pipe(response));
    expect(await ask(`${origin}/{city}`, { method: 'POST' })).toEqual({ kind: 'result', text: '{"n":2}' });
  });

  it.each([200, 204])('has done its work where a server answers %d and nothing more', async (status) => {
    const json = { 'content-type': 'application/json' };
    const origin = await serve((_, response) => response.writeHead(status, json).end());
    expect(await ask(origin)).toEqual({ kind: 'result', text: '{"ok":true}' });
  });

  it.each<[string, RequestListener, string]>([
    [
      'a redirect',
      (_, response) => response.writeHead(302, { location: 'http://127.0.0.1/' }).end(),
      'redirects',
    ],
    ['a failure', (_, response) => response.writeHead(500).end('secret'), 'status 500'],
    [
      'invalid JSON',
      (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{'),
      'not valid JSON',
    ],
    [
      'a packed body',
      (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('x'),
      'encoding',
    ],
    ['a large body', (_, response) => response.end('x'.repeat(70_000)), 'larger than 64 KiB'],
    ['a cut connection', (_, response) => void response.destroy(), 'could not be reached'],
  ])('answers %s with a failure of its own', async (_name, listener, message) => {
    const report = await ask(await serve(listener));
    expect(report).toMatchObject({ kind: 'failed' });
    expect(JSON.stringify(report)).toContain(message);
    expect(failures).toMatchObject([{ provider: 'probe' }]);
  });

  it.each<[string, RequestListener, object]>([
    [
      'done, whatever its answer is',
      (_, response) => response.writeHead(201, { 'content-type': 'application/json' }).end('created'),
      { transport: true, known: 'it has happened, but the answer is not valid JSON' },
    ],
    [
      'possibly done by a server that sends to another page',
      (_, response) => response.writeHead(303, { location: '/orders/1' }).end(),
      { transport: true, known: 'it may have happened: the server redirects, which is not followed' },
    ],
    ['not done by one that has moved', (_, response) => response.writeHead(308).end(), { transport: false }],
    [
      'not done by one that takes no more calls',
      (_, response) => response.writeHead(429).end(),
      { transport: true, unsent: true },
    ],
  ])('tells that a call with effects is %s', async (_name, listener, report) => {
    expect(await ask(await serve(listener), { method: 'POST' })).toMatchObject(report);
  });

  it.each([
    ['application/json', Buffer.from('\uFEFF{"a":"Köln"}')],
    ['application/json; charset=ISO-8859-1', Buffer.from('{"a":"Köln"}', 'latin1')],
    ['application/json;charset="utf-16le"', Buffer.from('{"a":"Köln"}', 'utf16le')],
    ['application/json; charset=nonsense', Buffer.from('{"a":"Köln"}')],
    ['text/plain; charset=windows-1252', Buffer.from('{"a":"Köln"}', 'latin1')],
  ])('reads the characters of %s', async (type, body) => {
    const url = await serve((_, response) => response.writeHead(200, { 'content-type': type }).end(body));
    expect(await ask(url)).toEqual({ kind: 'result', text: '{"a":"Köln"}' });
  });

  it('stops reading an endless body', async () => {
    const origin = await serve((_, response) => {
      const more = (): void => {
        while (response.write('x'.repeat(16_384)));
      };
      response.on('drain', more);
      more();
    });
    expect(await ask(origin)).toMatchObject({ kind: 'failed', message: 'the answer is larger than 64 KiB' });
  });

  it('stops waiting for a server that never answers', async () => {
    expect(await ask(await serve(() => undefined), {}, 50)).toMatchObject({ message: 'no answer in time' });
    expect(failures).toMatchObject([{ provider: 'probe', reason: 'timeout answer' }]);
  });

  it('reaches no private address unless it may, by number or by name', async () => {
    const origin = await serve((_, response) => response.end('inside'));
    for (const url of [
      origin,
      origin.replace('127.0.0.1', 'localhost'),
      origin.replace('127.0.0.1', '2130706433'),
    ])
      expect(await ask(url, { allowPrivate: false })).toMatchObject({
        message: 'the address of this tool is refused',
      });
  });

  it.each(['..', '.', '\ud800', '', null])('takes no argument %j into an address', (value) => {
    expect(fillUrl('https://a.example/x/{id}', { id: value })).toBeUndefined();
    expect(fillUrl('https://a.example/x/{id}/y?z={z}', { id: value })).toBeUndefined();
  });

  it.each([
    '127.0.0.1',
    '10.1.2.3',
    '169.254.169.254',
    '::1',
    '::ffff:10.0.0.1',
    'fe80::1',
    '64:ff9b::a00:1',
    'x',
  ])('takes %s for no public address', (address) => expect(isPublicAddress(address)).toBe(false));
  it.each(['93.184.216.34', '2606:4700::1111'])('takes %s for a public address', (address) =>
    expect(isPublicAddress(address)).toBe(true),
  );

  it('tells the people who run the service which host refused it, and what to change', async () => {
    const origin = await serve((_request, response) => response.writeHead(401).end('{"who":"Zeynep"}'));
    const secretHeaders = new Map([['authorization', new Sensitive('canary')]]);
    await ask(`${origin}/{city}`, { secretHeaders });
    await ask('http://127.0.0.1:1/{city}');
    expect(failures).toMatchObject([
      { stage: 'tool', provider: 'probe', host: new URL(origin).host, reason: 'rejected 401', status: 401 },
      { stage: 'tool', provider: 'probe', host: '127.0.0.1:1', reason: 'disconnected' },
    ]);
    expect(failures[0]?.advice).toContain('http.headers_env of tool probe');
    expect(failures[1]?.advice).toContain('nothing listens');
    expect(JSON.stringify(failures)).not.toMatch(/canary|Zeynep|a b|a%20b/);
  });
});
