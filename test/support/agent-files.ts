/**
 * Agent files made by chance: mostly right, and wrong in the ways in which people are wrong. Names come from small pools, so
 * that they collide and miss each other often enough.
 */
import fc from 'fast-check';

type Table = Readonly<Record<string, unknown>>;

const often = <T>(right: fc.Arbitrary<T>, wrong: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ arbitrary: right, weight: 30 }, { arbitrary: wrong, weight: 1 });
const good = <T>(...values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values);
const optional = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(value, { nil: undefined });

const toolName = often(
  good('find', 'book', 'note', 'ask', 'count'),
  good('end_call', 'go_to_a', 'two words'),
);
const namedTool = often(good('find', 'book', 'end_call', 'send_dtmf'), good('transfer_call', 'fly'));
const nodeName = good('a', 'b', 'c');

const schema = often<Table>(
  good<Table>(
    { type: 'object', properties: { id: { type: 'string' } } },
    { type: 'object', required: ['id'], properties: { id: { type: 'integer', minimum: 1 } } },
    { type: 'object', properties: { id: { $ref: '#/$defs/id' } }, $defs: { id: { enum: ['x', 'y'] } } },
  ),
  good<Table>(
    { type: 'array' },
    { type: 'object', properties: { id: { type: 'text' } } },
    { type: 'object', properties: { id: { $ref: 'https://a.example/id.json' } } },
    { type: 'object', properties: { id: { pattern: '(' } } },
  ),
);

const http = fc
  .record({
    method: optional(good('GET', 'POST', 'DELETE')),
    url: often(
      good('https://a.example/{id}', 'https://a.example/x?id={id}', 'http://127.0.0.1:1/{id}'),
      good(
        'http://a.example/{id}',
        'https://10.0.0.1/{id}',
        'https://{id}.example',
        'https://a.example/{no}',
        'x',
      ),
    ),
    headers_env: optional(
      often<Table>(fc.constant({ Authorization: 'TOKEN' }), good({ A: 'UNSET' }, { Host: 'TOKEN' })),
    ),
    body: optional(often<unknown>(fc.constant(undefined), fc.constant({ a: '{id}' }))),
    allow_private: fc.constant(true),
    result: optional(often(good('', '/a/0'), fc.constant('a'))),
  })
  .map(defined);

const tool = fc
  .record({
    name: toolName,
    description: fc.constant('What it does'),
    kind: optional(good('read_only', 'side_effect')),
    confirm: optional(often(fc.constant(false), fc.constant(true))),
    timeout_ms: optional(often(fc.integer({ min: 1, max: 30_000 }), good(0, 30_001, 1.5))),
    parameters: schema,
    http,
  })
  .map(defined);

const mcp = fc
  .record({
    name: often(good('crm', 'erp', 'log'), fc.constant('a b')),
    command: often<readonly string[] | undefined>(good(['x'], ['x', '-y']), good<undefined>(undefined)),
    env: optional(often(good(['TOKEN']), good(['UNSET'], ['lower']))),
    tools: optional(fc.uniqueArray(often(good('ask', 'tell', 'sell'), toolName), { maxLength: 2 })),
    side_effects: optional(often(good<readonly string[]>([]), good(['ask']))),
  })
  .map(defined);

const next = fc
  .record({
    to: often(nodeName, fc.constant('nowhere')),
    when: fc.constant('it is time'),
    collect: optional(often<Table>(good({ n: { type: 'integer' } }), good({ n: { type: 'number of' } }))),
  })
  .map(defined);

const node = fc
  .record({
    prompt: often<string | undefined>(good('Ask.'), good<undefined>(undefined)),
    say: optional(fc.constant('Well.')),
    tools: optional(fc.uniqueArray(namedTool, { maxLength: 2 })),
    next: often(
      fc.uniqueArray(next, { maxLength: 2, selector: ({ to }) => to }),
      fc.array(next, { maxLength: 3 }),
    ),
    limit: optional(fc.record({ max_turns: fc.integer({ min: 1, max: 9 }), otherwise: nodeName })),
    end: optional(often(fc.constant(false), fc.constant(true))),
  })
  .map(({ limit, ...rest }) => defined({ ...rest, ...limit }));

type Node = Readonly<Record<string, unknown>> & { readonly next: readonly Table[] };

/** Leaves out what leads nowhere, and leads from each node to the next one. */
function mended(nodes: readonly (readonly [string, Node])[]): [string, Table][] {
  const names = nodes.map(([name]) => name);
  return nodes.map(([name, { next: drawn, ...rest }], index) => {
    const following = names[index + 1];
    const leading = drawn.filter(({ to }) => names.includes(String(to)) && to !== following);
    const next = following === undefined ? leading : [...leading, { to: following, when: 'it is done' }];
    const isLimited = names.includes(String(rest['otherwise']));
    const left = isLimited ? ['end'] : ['end', 'max_turns', 'otherwise'];
    const own = Object.entries(rest).filter(([key]) => !left.includes(key));
    return [name, { ...Object.fromEntries(own), next }];
  });
}

const flow = fc
  .record({
    start: often(fc.constant('a'), good('b', 'z')),
    names: good(['a'], ['a', 'b'], ['a', 'b', 'c']),
    nodes: fc.tuple(node, node, node),
    isMended: often(fc.constant(true), fc.constant(false)),
  })
  .map(({ start, names, nodes, isMended }) => {
    const named = names.map((name, index): [string, Node] => [name, { next: [], ...nodes[index] }]);
    return { start, nodes: Object.fromEntries(isMended ? mended(named) : named) };
  });

const telephony = fc
  .record({
    settle_timeout_ms: optional(often(fc.integer({ min: 0, max: 60_000 }), fc.constant(-1))),
    transfer_timeout_ms: optional(often(fc.integer({ min: 60_001, max: 300_000 }), fc.constant(0))),
    destinations: optional(
      often<Table>(good({ desk: '+15550100001' }), good({ desk: '0555' }, { 'a b': '+15550100001' })),
    ),
    dtmf: optional(
      often<Table>(
        good({ terminator: '*', note: 'Keys {digits}' }),
        good({ note: 'Keys' }, { terminator: '##' }),
      ),
    ),
  })
  .map(defined);

const key = optional(often(good('TOKEN'), good('UNSET', 'BROKEN')));
const stages = fc
  .record({
    stt: often(good('ws://127.0.0.1:6006', 'wss://a.example'), good('ws://10.0.0.1:6006')),
    llm: good('http://127.0.0.1:1/v1', 'https://a.example/v1'),
    tts: often(good('http://127.0.0.1:1/v1', 'https://b.example/v1'), good('http://b.example/v1')),
    keys: fc.tuple(key, key, key),
  })
  .map(({ stt, llm, tts, keys: [sttKey, llmKey, ttsKey] }) => ({
    stt: defined({ provider: 'stt_local_ws', api_key_env: sttKey, stt_local_ws: { base_url: stt } }),
    llm: defined({
      provider: 'chat_compatible',
      api_key_env: llmKey,
      chat_compatible: { base_url: llm, model: 'm' },
    }),
    tts: defined({
      provider: 'speech_compatible',
      voice: 'v',
      api_key_env: ttsKey,
      speech_compatible: { base_url: tts, preset: 'local_b' },
    }),
  }));

const agent = fc
  .record({
    name: often(fc.constant('desk'), fc.constant('front desk')),
    language: optional(often(good('en-US', 'tr', 'de-DE'), fc.constant('english, please'))),
    fillers: optional(often<unknown>(good<unknown>([], ['Wait.']), fc.constant('Wait.'))),
    tools: optional(fc.uniqueArray(namedTool, { maxLength: 3 })),
    confirm: optional(
      often<Table>(good({ ask: 'Really?', yes: ['yes'] }), good<Table>({ ask: '' }, { yeah: ['yes'] })),
    ),
  })
  .map(defined);

/** Without the keys that are left out. */
function defined(table: Table): Table {
  return Object.fromEntries(Object.entries(table).filter(([, value]) => value !== undefined));
}

function toml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toml).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([name, inner]) => `${JSON.stringify(name)} = ${toml(inner)}`)
    .join(', ')} }`;
}

const section = (header: string, table: Table): string =>
  `${header}\n${Object.entries(table)
    .map(([name, value]) => `${name} = ${toml(value)}\n`)
    .join('')}`;

/** The text of an agent file. Variables TOKEN (set), BROKEN (set to what no header takes) and UNSET are named in it. */
export const agentFile: fc.Arbitrary<string> = fc
  .record({
    agent,
    stages,
    tools: fc.uniqueArray(tool, { maxLength: 2, selector: ({ name }) => name }),
    mcp: fc.array(mcp, { maxLength: 1 }),
    telephony: optional(telephony),
    flow: optional(flow),
    hasPrompt: often(fc.constant(true), fc.constant(false)),
    isNamedWell: often(fc.constant(true), fc.constant(false)),
  })
  .map((drawn) => {
    const { stt, llm, tts } = drawn.stages;
    const { tools: named, ...withoutTools } = drawn.agent;
    const isWithFlow = drawn.flow !== undefined;
    const provided = ['end_call', 'send_dtmf', ...drawn.tools.map(({ name }) => name)];
    const provide = (table: Table): Table => {
      const names = table['tools'];
      if (!drawn.isNamedWell || !Array.isArray(names)) return table;
      return { ...table, tools: names.filter((name) => provided.includes(name)) };
    };
    const nodes = Object.entries(drawn.flow?.nodes ?? {}).map(([name, table]) => [name, provide(table)]);
    const own = isWithFlow ? withoutTools : { ...withoutTools, ...(named !== undefined && { tools: named }) };
    const prompt = isWithFlow === drawn.hasPrompt ? {} : { prompt: 'Be brief.' };
    return [
      section('[agent]', provide({ ...own, ...prompt })),
      section('[stt]', stt),
      section('[llm]', llm),
      section('[tts]', tts),
      ...drawn.tools.map((table) => section('[[tools]]', table)),
      ...drawn.mcp.map((table) => section('[[mcp]]', table)),
      ...(drawn.telephony === undefined ? [] : [section('[telephony]', drawn.telephony)]),
      ...(drawn.flow === undefined
        ? []
        : [section('[flow]', { ...drawn.flow, nodes: Object.fromEntries(nodes) as Table })]),
    ].join('\n');
  });
