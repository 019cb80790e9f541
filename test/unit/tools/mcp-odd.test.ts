/** Tool servers that write what others write: names, schemas, nulls and numbers of all kinds, and sessions that are lost in many words. */
import type { ServerResponse } from 'node:http';
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { writeJson } from '../../../shared/base/exact-json.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { narrowed } from '../../../worker/core/answer/edits.ts';
import { toolSettings } from '../../../worker/host/definition.ts';
import { ToolRegistry } from '../../../worker/tools/registry.ts';
import { noCallControl, type CallTools, type ToolReport } from '../../../worker/tools/tool.ts';
import { closeRegistries, definitionOf, openTools, orderOf, runTool } from '../../support/core/tool-call.ts';
import { ScriptedMcpServer, type McpAsked, type McpScript } from '../../support/mcp-server.ts';

const servers: ScriptedMcpServer[] = [];
const registries: ToolRegistry[] = [];
afterEach(async () => {
  await Promise.all([closeRegistries(), ...registries.splice(0).map((registry) => registry.close())]);
  for (const server of servers.splice(0)) server.close();
});

interface Opened {
  readonly server: ScriptedMcpServer;
  readonly tools: CallTools;
  readonly lines: readonly Record<string, unknown>[];
}

async function started(script: McpScript, { more = '', agent = '' } = {}): Promise<Opened> {
  const server = new ScriptedMcpServer(script);
  servers.push(server);
  const lines: Record<string, unknown>[] = [];
  const log = pino(
    {},
    { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
  );
  const definition = definitionOf(`[[mcp]]\nname = "far"\nurl = "${await server.start()}"\n${more}`, agent);
  const registry = new ToolRegistry(toolSettings(definition), { clock: systemClock, log });
  registries.push(registry);
  await registry.start(noCallControl);
  return { server, tools: openTools(registry), lines };
}

const listed = (...tools: readonly unknown[]): string => JSON.stringify({ tools });
const tool = (name: string, inputSchema: unknown = { type: 'object', properties: {} }) => ({
  name,
  description: 'd',
  inputSchema,
});
const names = (tools: CallTools): string[] => tools.declarations().map(({ name }) => name);
const echo = listed(tool('echo'));

/** Runs a call whose arguments are this text, word for word. */
const runText = (tools: CallTools, name: string, text: string): Promise<ToolReport> =>
  new Promise((resolve) => {
    const order = orderOf(name, {});
    tools.run({ ...order, call: { ...order.call, arguments: text } }, resolve);
  });

describe('names that no interface of an LLM takes', () => {
  const odd = [
    'calendar.updateEvent',
    'admin/list',
    'time.getCurrentDate',
    'list orders',
    'größe_ändern',
    '予約する',
    'x'.repeat(100),
  ];

  it('are offered as names that each of them takes, each call with its own name', async () => {
    const { server, tools, lines } = await started({
      page: listed(...odd.map((name) => tool(name)), tool('plain')),
    });
    const offered = names(tools).filter((name) => name !== 'end_call');
    expect(offered).toHaveLength(odd.length + 1);
    expect(new Set(offered).size).toBe(offered.length);
    for (const name of offered) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(offered.slice(0, 5)).toEqual([
      'calendar_updateEvent',
      'admin_list',
      'time_getCurrentDate',
      'list_orders',
      'gro_e_andern',
    ]);
    for (const name of offered) expect(await runTool(tools, name)).toEqual({ kind: 'result', text: 'fine' });
    expect(server.calls.map(({ params }) => params['name'])).toEqual([...odd, 'plain']);
    expect(lines.filter(({ level }) => Number(level) > 30)).toEqual([]);
  });

  it('stay apart where they would be the same, and are the same in every worker', async () => {
    const page = listed(tool('a.b'), tool('a_b'), tool('a/b'), tool('a b'));
    const [first, second] = [await started({ page }), await started({ page })];
    const offered = names(first.tools);
    expect(new Set(offered).size).toBe(5);
    expect(offered).toContain('a_b');
    expect(names(second.tools)).toEqual(offered);
    await runTool(first.tools, 'a_b');
    expect(first.server.calls[0]?.params['name']).toBe('a_b');
  });

  it('can be asked for, and have rules, by the names that the server gives them', async () => {
    const more =
      'tools = ["calendar.updateEvent", "admin/list"]\nside_effects = ["calendar.updateEvent"]\nconfirm = ["calendar.updateEvent"]\n';
    const page = listed(...odd.map((name) => tool(name)));
    const { tools } = await started({ page }, { more, agent: 'tools = ["calendar.updateEvent"]' });
    expect(names(tools)).toEqual(['calendar_updateEvent']);
    expect(tools.ruleOf('calendar_updateEvent')).toMatchObject({ kind: 'side_effect', confirm: true });
    expect(tools.ruleOf('calendar.updateEvent')).toMatchObject({ kind: 'side_effect', confirm: true });
    expect(tools.validate('calendar_updateEvent', '{}')).toEqual({ ok: true, canonical: '{}' });
    const edits = { pending: [], prompt: undefined, tools: ['calendar.updateEvent'] };
    expect(narrowed(edits, tools.declarations(), [])).toEqual(tools.declarations());
  });

  it('of arguments are mapped as well', async () => {
    const schema = {
      type: 'object',
      required: ['$filter'],
      properties: { $filter: { type: 'string' }, 'max.items': { type: 'integer' }, größe: {} },
    };
    const { server, tools } = await started({ page: listed(tool('query', schema)) });
    const [, declared] = tools.declarations();
    expect(Object.keys(declared?.parameters['properties'] as object)).toEqual([
      '_filter',
      'max.items',
      'gro_e',
    ]);
    expect(declared?.parameters['required']).toEqual(['_filter']);
    expect(tools.validate('query', '{}')).toMatchObject({ ok: false });
    expect(tools.validate('query', '{"_filter":"a"}')).toEqual({ ok: true, canonical: '{"$filter":"a"}' });
    await runText(tools, 'query', '{"_filter":"a","gro_e":1}');
    expect(server.calls[0]?.params['arguments']).toEqual({ $filter: 'a', größe: 1 });
  });
});

describe('a tool that is odd', () => {
  it('does not cost the others, and is left out with one line that says why', async () => {
    const page = listed(
      ...[
        tool('good'),
        { description: 'no name' },
        tool(''),
        'nonsense',
        null,
        tool('text', 'schema'),
        tool('a\nb'),
      ],
      ...[tool('string', { type: 'string' }), tool('x'.repeat(300))],
      ...[tool('broken', { type: 'object', properties: { a: { type: 'no type' } } })],
      // A long description that a hundred places refer to.
      tool('wordy', {
        type: 'object',
        properties: Object.fromEntries(
          Array.from({ length: 100 }, (_, index) => [`a${index}`, { $ref: '#/$defs/d' }]),
        ),
        $defs: { d: { description: 'x'.repeat(10_000) } },
      }),
    );
    const { tools, lines } = await started({ page });
    expect(names(tools)).toEqual(['end_call', 'good']);
    const left = lines.filter(({ msg }) => msg === 'tools of a server are left out');
    expect(left).toHaveLength(1);
    expect(left[0]).toMatchObject({ server: 'far', count: 7 });
    expect(JSON.stringify(left[0])).toContain('text has no schema of arguments');
    const refused = lines.filter(({ msg }) => msg === 'a tool is left out').map(({ tool: name }) => name);
    expect(refused).toEqual(['string', 'broken', 'wordy']);
  });

  it('is beyond what is taken: those that the file names are found behind any number of others', async () => {
    const many = Array.from({ length: 200 }, (_, index) => tool(`t${index}`));
    const { tools, lines } = await started({ page: listed(...many) });
    expect(names(tools)).toHaveLength(128);
    expect(lines.some(({ msg, count }) => msg === 'tools of a server are left out' && count === 72)).toBe(
      true,
    );
    expect(
      lines.some(
        ({ msg, rule }) =>
          msg === 'a tool is left out' && rule === 'is one more than the 128 that are offered',
      ),
    ).toBe(true);
    const named = await started({ page: listed(...many) }, { more: 'tools = ["t190"]\n' });
    expect(names(named.tools)).toEqual(['end_call', 't190']);
  });

  it.each([
    ['no schema at all', undefined],
    ['null for a schema', null],
    ['any schema', true],
    ['nothing but a type', { type: 'object' }],
    ['no type', { properties: {} }],
    ['null for properties', { type: 'object', properties: null, required: null, description: null }],
    ['a list of types', { type: ['object', 'null'] }],
    ['null for an annotation', { type: 'object', title: null, $schema: null, additionalProperties: null }],
  ])('has %s and is offered', async (_, schema) => {
    const page = JSON.stringify({
      tools: [{ name: 'odd', description: null, annotations: null, title: null, inputSchema: schema }],
    });
    const { tools } = await started({ page });
    const [, declared] = tools.declarations();
    expect(declared).toMatchObject({
      name: 'odd',
      description: '',
      parameters: { type: 'object', properties: {} },
    });
    expect(await runTool(tools, 'odd', { given: { a: 1 } })).toEqual({ kind: 'result', text: 'fine' });
  });
});

describe('null where a field may be absent', () => {
  it('is no field, in every message', async () => {
    const { tools } = await started({
      page: '{"tools":[{"name":"echo","inputSchema":{"type":"object"},"outputSchema":null}],"nextCursor":null,"_meta":null}',
      initialized:
        '{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":null},"prompts":null,"logging":null},"serverInfo":{"name":"t","version":"1","title":null},"instructions":null,"_meta":null}',
      call: () =>
        '{"content":[{"type":"text","text":"fine","annotations":null,"_meta":null}],"structuredContent":null,"isError":null,"_meta":null}',
    });
    expect(await runTool(tools, 'echo')).toEqual({ kind: 'result', text: 'fine' });
  });

  it.each([
    ['{"content":null,"structuredContent":{"a":null}}', '{"a":null}'],
    ['{"content":null}', ''],
  ])('is kept in what a tool says: %s', async (result, text) => {
    const { tools } = await started({ page: echo, call: () => result });
    expect(await runTool(tools, 'echo')).toEqual({ kind: 'result', text });
  });

  it('beside the other half of an answer is no half', async () => {
    const { tools } = await started({
      page: echo,
      call: ({ id }, response) =>
        void response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(
            `{"jsonrpc":"2.0","id":${id},"error":null,"result":{"content":[{"type":"text","text":"fine"}]}}`,
          ),
    });
    expect(await runTool(tools, 'echo')).toEqual({ kind: 'result', text: 'fine' });
  });

  it('is a value in a schema where it is data', async () => {
    const schema = '{"type":"object","properties":{"a":{"enum":["x",null],"default":null}}}';
    const { tools } = await started({
      page: `{"tools":[{"name":"echo","inputSchema":${schema}}],"nextCursor":""}`,
    });
    expect(tools.validate('echo', '{"a":null}').ok).toBe(true);
    expect(tools.declarations()[1]?.parameters).toEqual(JSON.parse(schema));
  });
});

describe('numbers', () => {
  const text = '{"id":2512292042121000001,"total":10.00,"list":[1915883588174806058,1e400]}';

  it('of arguments get to the server with every digit', async () => {
    const { server, tools } = await started({ page: echo });
    await runText(tools, 'echo', text);
    expect(server.calls[0]?.body).toContain(`"arguments":${text}`);
  });

  const structured = `{"content":[],"structuredContent":${text}}`;
  const asEvent = ({ id }: McpAsked, response: ServerResponse, result: string, end = '\n'): undefined => {
    const lines = [
      'event: message',
      'id: 1',
      `data: {"jsonrpc":"2.0","id":${id},`,
      `data: "result":${result}}`,
      '',
      '',
    ];
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(lines.join(end));
  };

  it.each<[string, Pick<McpScript, 'call'>]>([
    ['a message', { call: () => structured }],
    ['an event', { call: (asked, response) => asEvent(asked, response, structured) }],
    [
      'an event with other ends of lines',
      { call: (asked, response) => asEvent(asked, response, structured, '\r\n') },
    ],
  ])('of a structured result in %s get to the LLM with every digit', async (_, script) => {
    const { tools } = await started({ page: echo, ...script });
    expect(await runText(tools, 'echo', '{}')).toEqual({ kind: 'result', text });
  });

  it('of a schema are numbers, however they are written', async () => {
    const page =
      '{"tools":[{"name":"echo","inputSchema":{"type":"object","properties":{"n":{"type":"number","minimum":0.0,"default":1.50}}}}],"nextCursor":null}';
    const { tools } = await started({ page });
    expect(tools.declarations()[1]?.parameters).toEqual({
      type: 'object',
      properties: { n: { type: 'number', minimum: 0, default: 1.5 } },
    });
    expect(tools.validate('echo', '{"n":-1.0}').ok).toBe(false);
  });

  it('of a schema keep every digit', async () => {
    const page =
      '{"tools":[{"name":"echo","inputSchema":{"type":"object","properties":{"n":{"enum":[12345678901234567890,10.0,"all"]}}}}]}';
    const { tools } = await started({ page });
    expect(writeJson(tools.declarations()[1]?.parameters)).toBe(
      '{"type":"object","properties":{"n":{"enum":[12345678901234567890,10,"all"]}}}',
    );
    expect(tools.validate('echo', '{"n":12345678901234567890}').ok).toBe(true);
    expect(tools.validate('echo', '{"n":12345678901234567891}').ok).toBe(false);
    expect(tools.validate('echo', '{"n":10.00}').ok).toBe(true);
  });

  it('of older drafts, and lists in the place of empty objects, are read as they are meant', async () => {
    const n = { type: 'number', minimum: 0, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false };
    const pair = { type: 'array', items: [{ type: 'string' }, { type: 'number' }] };
    const go = {
      type: null,
      required: null,
      properties: { default: { enum: ['x', null], format: null }, any: null },
    };
    const page = listed(
      tool('old', { type: 'object', properties: { n } }),
      tool('php', { type: 'object', properties: [] }),
      tool('four', {
        $schema: 'http://json-schema.org/draft-04/schema#',
        id: 'http://example.com/four',
        properties: { id: { type: 'string' } },
      }),
      tool('pair', { type: 'object', properties: { pair } }),
      tool('go', go),
    );
    const { tools } = await started({ page });
    expect(tools.declarations().slice(1)).toMatchObject([
      {
        name: 'old',
        parameters: { properties: { n: { type: 'number', exclusiveMinimum: 0, maximum: 9 } } },
      },
      { name: 'php', parameters: { type: 'object', properties: {} } },
      { name: 'four', parameters: { properties: { id: { type: 'string' } } } },
      { name: 'pair', parameters: { properties: { pair: { type: 'array' } } } },
      { name: 'go', parameters: { properties: { default: { enum: ['x', null] }, any: {} } } },
    ]);
    expect(tools.validate('pair', '{"pair":["a",1]}').ok).toBe(true);
    expect(tools.validate('pair', '{"pair":[1,"a"]}').ok).toBe(false);
    expect(tools.validate('old', '{"n":0}').ok).toBe(false);
    expect(tools.validate('old', '{"n":9}').ok).toBe(true);
  });

  it.each(['5', '0', '"2"', 'false', '{}'])(
    'of a page are read, and the cursor %s loses no tool',
    async (cursor) => {
      const page = `{"tools":[{"name":"echo","inputSchema":{"type":"object"}}],"nextCursor":${cursor}}`;
      const { tools } = await started({ page });
      expect(names(tools)).toContain('echo');
    },
  );

  it('that only look like the form in which digits are kept stay what they are', async () => {
    const odd = { type: 'object', properties: { n: { const: { isLosslessNumber: true, value: 'x' } } } };
    const { tools } = await started({ page: listed(tool('echo', odd)) });
    expect(tools.declarations()[1]?.parameters).toEqual(odd);
  });
});

describe('what a server writes in its own way', () => {
  it.each([
    ['{"content":"fine"}', 'fine'],
    ['{"content":{"type":"text","text":"fine"}}', 'fine'],
    ['{"content":["fine","too"]}', 'fine\ntoo'],
    ['{"content":[{"text":"fine"}]}', 'fine'],
    ['{"content":[{"type":"text","text":""}],"structuredContent":{"n":10.00}}', '{"n":10.00}'],
    [
      `{"content":[${Array.from({ length: 200 }, (_, at) => `{"type":"text","text":"${at}"}`).join()}]}`,
      Array.from({ length: 200 }, (_, at) => at).join('\n'),
    ],
  ])('as a result is read: %s', async (result, text) => {
    const { tools } = await started({ page: echo, call: () => result });
    expect(await runTool(tools, 'echo')).toEqual({ kind: 'result', text });
  });

  it.each([
    ['an id as text', (id: number) => `{"jsonrpc":"2.0","id":"${id}","result":{"content":"fine"}}`, {}],
    [
      'a list of one message',
      (id: number) => `[{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"fine"}]}}]`,
      {},
    ],
    [
      'another type of content',
      (id: number) => `{"jsonrpc":"2.0","id":${id},"result":{"content":"fine"}}`,
      { 'content-type': 'text/plain' },
    ],
    [
      'events with an id as text',
      (id: number) => `event: message\ndata: {"jsonrpc":"2.0","id":"${id}","result":{"content":"fine"}}\n\n`,
      { 'content-type': 'text/event-stream' },
    ],
  ])('as an answer is read: %s', async (_, answer, headers) => {
    const { tools } = await started({
      page: echo,
      call: ({ id }, response) => {
        response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(answer(id));
        return undefined;
      },
    });
    expect(await runTool(tools, 'echo')).toEqual({ kind: 'result', text: 'fine' });
  });

  it.each([
    '{"protocolVersion":"2025-06-18","capabilities":{"tools":[]},"serverInfo":{"name":"t","version":"1"}}',
    '{"protocolVersion":"2025-06-18","capabilities":[],"serverInfo":{"name":"t","version":"1"}}',
    '{"protocolVersion":"2025-06-18","serverInfo":{"name":"t"}}',
    '{"protocolVersion":"2025-06-18","capabilities":{"tools":true,"experimental":[]},"serverInfo":{"name":"t","version":1.5}}',
  ])('of itself loses none of its tools: %s', async (initialized) => {
    const { tools } = await started({ page: echo, initialized });
    expect(await runTool(tools, 'echo')).toEqual({ kind: 'result', text: 'fine' });
  });

  it.each(['input_schema', 'parameters'])('of a schema is read under the name %s, too', async (key) => {
    const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
    const { tools } = await started({ page: listed({ name: 'far', [key]: schema }) });
    expect(tools.declarations().at(-1)?.parameters).toEqual(schema);
  });

  it.each(['"same"', '7'])('of more pages is read once where all are the same: %s', async (cursor) => {
    const { tools, lines } = await started({
      page: `{"tools":[{"name":"echo","inputSchema":{"type":"object"}}],"nextCursor":${cursor}}`,
    });
    expect(names(tools)).toEqual(['end_call', 'echo']);
    expect(lines.filter(({ level }) => Number(level) > 30)).toEqual([]);
  });

  it('of a tool at length is offered in two parts: OpenAI refuses more than 1,024 characters', async () => {
    const description = Array.from(
      { length: 60 },
      (_, at) => `Sentence ${at} about this tool, at length.`,
    ).join(' ');
    const schema = { type: 'object', description: 'Of the schema.', properties: {} };
    const { tools } = await started({
      page: listed({ ...tool('long', schema), description }, tool('short')),
    });
    const [, long, short] = tools.declarations();
    expect(long?.description.length).toBeLessThanOrEqual(1_024);
    expect(`${long?.description} ${String(long?.parameters['description'])}`).toBe(
      `${description}\n\nOf the schema.`,
    );
    expect(short).toMatchObject({ description: 'd', parameters: { type: 'object', properties: {} } });
  });
});

describe('a session that is lost', () => {
  const rpcError = (code: number, message: string) => (id: number, response: ServerResponse) =>
    void response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } }));
  const status = (code: number) => (_: number, response: ServerResponse) =>
    void response.writeHead(code).end('{}');
  const errorWithout = (id: string) => (_: number, response: ServerResponse) =>
    void response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(`{"jsonrpc":"2.0","id":${id},"error":{"code":-32000,"message":"Server not initialized"}}`);
  const words = (code: number, text: string) => (_: number, response: ServerResponse) =>
    void response.writeHead(code).end(text);
  const cut = (_: number, response: ServerResponse): void => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': hello\n\n');
    response.end();
  };
  const broken = (_: number, response: ServerResponse): void => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': hello\n\n');
    setImmediate(() => response.destroy());
  };
  const reset = (_: number, response: ServerResponse): void => void response.destroy();

  /** A server that was started anew: it knows the second session alone. */
  const forgetful = (lost: (id: number, response: ServerResponse) => void): McpScript => ({
    page: echo,
    hasSessions: true,
    call: ({ id, session }, response) => {
      if (session === 's2') return '{"content":[{"type":"text","text":"fine"}]}';
      lost(id, response);
      return undefined;
    },
  });

  const untaken = [
    ['404', status(404)],
    ['400', status(400)],
    ['401', status(401)],
    ['410', status(410)],
    ['-32000 Session not found', rpcError(-32_000, 'Session not found')],
    ['-32001 Session not found', rpcError(-32_001, 'Session not found')],
    ['-32600 no valid session', rpcError(-32_600, 'Bad Request: No valid session ID provided')],
    ['-32000 not initialized', rpcError(-32_000, 'Bad Request: Server not initialized')],
    ['-32002 expired', rpcError(-32_002, 'The session has expired')],
    ['-32000 sessionId', rpcError(-32_000, 'No transport found for sessionId')],
    ['-32603 not found', rpcError(-32_603, 'Could not find session abc')],
    ['an error without id', errorWithout('null')],
    ['500 in words', words(500, 'Session not found')],
    ['403 in words', words(403, '{"error":"Invalid or expired MCP session"}')],
  ] as const;
  const unknown = [
    ['503', status(503)],
    ['502', status(502)],
    ['a stream that ends', cut],
    ['a stream that breaks', broken],
    ['a connection that breaks', reset],
  ] as const;

  it.each([...untaken, ...unknown])(
    'by %s is opened anew, and a call that only reads is sent again',
    async (_, lost) => {
      const { server, tools } = await started(forgetful(lost));
      expect(await runTool(tools, 'echo')).toEqual({ kind: 'result', text: 'fine' });
      expect(await runTool(tools, 'echo')).toEqual({ kind: 'result', text: 'fine' });
      expect([server.opened, server.calls.length]).toEqual([2, 3]);
    },
  );

  it.each(untaken)('by %s took nothing: a call with effects is sent again', async (_, lost) => {
    const { server, tools } = await started(forgetful(lost), { more: 'side_effects = ["echo"]\n' });
    expect(await runTool(tools, 'echo')).toEqual({ kind: 'result', text: 'fine' });
    expect(server.calls.map(({ session }) => session)).toEqual(['s1', 's2']);
  });

  it.each(unknown)(
    'by %s may have taken it: a call with effects is not sent again, and the next one is',
    async (_, lost) => {
      const { server, tools } = await started(forgetful(lost), { more: 'side_effects = ["echo"]\n' });
      expect(await runTool(tools, 'echo')).toMatchObject({ kind: 'failed', transport: true });
      expect(server.calls).toHaveLength(1);
      expect(await runTool(tools, 'echo')).toEqual({ kind: 'result', text: 'fine' });
      expect(server.opened).toBe(2);
    },
  );

  it('is opened once, whatever comes of it', async () => {
    const { server, tools } = await started({
      ...forgetful(status(503)),
      call: (_, response) => void response.writeHead(503).end(),
    });
    expect(await runTool(tools, 'echo')).toMatchObject({ kind: 'failed' });
    expect([server.opened, server.calls.length]).toEqual([2, 2]);
  });

  it('is no session that a tool speaks of', async () => {
    const { server, tools } = await started({
      page: echo,
      call: ({ id }, response) => {
        rpcError(-32_602, 'no such customer')(id, response);
        return undefined;
      },
    });
    expect(await runTool(tools, 'echo')).toMatchObject({
      message: expect.stringContaining('no such customer') as string,
    });
    expect([server.opened, server.calls.length]).toEqual([1, 1]);
  });
});
