/**
 * An agent with tools over HTTP, a tool server of the official examples, a side effect that the caller confirms, and a flow of
 * three nodes, in one spoken call: the real processes, and the demo's recognition, voice and mind.
 */
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  coachLlm,
  type CoachedCall,
  type CoachedLlm,
  type CoachedRequest,
} from '../support/core/coached-llm.ts';
import { Conversation } from '../support/core/conversation.ts';
import { spoken, startDemo, type RunningDemo } from '../support/process/running-demo.ts';
import { childrenOf, TestService } from '../support/process/service.ts';

const example = fileURLToPath(
  new URL(
    '../../node_modules/@modelcontextprotocol/sdk/dist/esm/examples/server/mcpServerOutputSchema.js',
    import.meta.url,
  ),
);

/** What the caller's words make a cleverer mind than the demo's do; orders are left to the demo. */
function rule({ messages, offered }: CoachedRequest): CoachedCall | undefined {
  const last = messages.at(-1);
  if (last?.role !== 'user') return undefined;
  const calls: readonly (readonly [RegExp, CoachedCall])[] = [
    [/weather/, { name: 'get_weather', arguments: { city: 'Paris', country: 'FR' } }],
    [/table/, { name: 'go_to_booking', arguments: { people: 4 } }],
    [/tomorrow/, { name: 'book_table', arguments: { day: 'tomorrow', time: '19:00', people: 4 } }],
    [/goodbye/, { name: 'go_to_goodbye', arguments: {} }],
  ];
  return calls.find(([words, { name }]) => words.test(last.content) && offered.includes(name))?.[1];
}

interface Urls {
  readonly demo: RunningDemo;
  readonly llm: string;
  readonly shop: string;
}

const stagesText = (urls: Urls): string => `[stt]
provider = "stt_local_ws"
[stt.stt_local_ws]
base_url = "${urls.demo.stt}"
finalize_padding_ms = 0
finalize_timeout_ms = 4000
[llm]
provider = "chat_compatible"
[llm.chat_compatible]
base_url = "${urls.llm}"
model = "demo-rules"
[tts]
provider = "speech_compatible"
voice = "slt"
[tts.speech_compatible]
base_url = "${urls.demo.tts}"
preset = "generic"
model = "flite"
`;

const agentText = (urls: Urls): string => `[agent]
name = "desk"
greeting = "Hello."

[agent.confirm]
ask = "Shall I book that table?"

[turn]
silence_end_ms = 700

[[tools]]
name = "order_status"
description = "Where an order is"
[tools.parameters]
type = "object"
required = ["order_number"]
[tools.parameters.properties.order_number]
type = "string"
[tools.http]
url = "${urls.shop}/orders/{order_number}"
headers_env = { Authorization = "SHOP_AUTH" }
result = "/order"
allow_private = true

[[tools]]
name = "book_table"
description = "Books a table"
kind = "side_effect"
confirm = true
[tools.parameters]
type = "object"
required = ["day", "time", "people"]
properties = { day = { type = "string" }, time = { type = "string" }, people = { type = "integer" } }
[tools.http]
method = "POST"
url = "${urls.shop}/tables/{day}"
body = { at = "{time}", people = "{people}", source = "phone" }
allow_private = true

[[mcp]]
name = "weather"
command = ${JSON.stringify([process.execPath, example])}

[flow]
start = "welcome"
[flow.nodes.welcome]
prompt = "Find out what the caller wants."
tools = ["order_status", "get_weather"]
[[flow.nodes.welcome.next]]
to = "booking"
when = "the caller wants a table"
collect = { people = { type = "integer" } }
[flow.nodes.booking]
prompt = "Book a table."
say = "Gladly. For which day?"
tools = ["book_table"]
[[flow.nodes.booking.next]]
to = "goodbye"
when = "the caller says goodbye"
[flow.nodes.goodbye]
prompt = "Say goodbye."
end = true

${stagesText(urls)}`;

interface ShopRequest {
  readonly line: string;
  readonly body: string;
  readonly authorization: string | undefined;
  readonly key: string | undefined;
}

/** The owner's own server. */
async function openShop() {
  const requests: ShopRequest[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => (body += part));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const key = headers['idempotency-key'];
      requests.push({
        line: `${method} ${url}`,
        body,
        authorization: headers.authorization,
        key: typeof key === 'string' ? key : undefined,
      });
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ order: { text: 'It is on the roof.' }, text: 'The table is yours.' }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, requests, close: () => server.close() };
}

describe('a spoken call of an agent with tools and a flow', () => {
  let demo: RunningDemo;
  let llm: CoachedLlm;
  let shop: Awaited<ReturnType<typeof openShop>>;
  let service: TestService;

  beforeAll(async () => {
    demo = await startDemo();
    [llm, shop] = await Promise.all([coachLlm(demo.llm, rule), openShop()]);
    service = await TestService.start({
      agentText: agentText({ demo, llm: llm.url, shop: shop.url }),
      env: { SHOP_AUTH: 'Bearer s3cret' },
    });
  });

  afterAll(async () => {
    await service.stop();
    await Promise.all([llm.close(), demo.stop()]);
    shop.close();
  });

  const texts = (role: string): string[] =>
    (llm.requests.at(-1)?.messages ?? [])
      .filter((message) => message.role === role)
      .map(({ content }) => content);
  const prompt = (): string => texts('system').join('\n');

  it('reads, asks before it acts, acts once, moves on, and ends', async () => {
    const rate = 16_000;
    const call = await Conversation.open({ ws: `ws://${service.address('websocket')}/`, rate });
    const say = async (text: string): Promise<Int16Array> => spoken(demo, text, { rate });
    await call.answerSince(0);

    await call.ask(await say('Where is order number one two three?'));
    expect(shop.requests).toMatchObject([
      { line: 'GET /orders/123', body: '', authorization: 'Bearer s3cret' },
    ]);
    expect(texts('tool')).toEqual(['{"text":"It is on the roof."}']);
    expect(prompt()).toContain('Find out what the caller wants.');
    expect(llm.requests.at(-1)?.offered).toEqual(['order_status', 'get_weather', 'go_to_booking']);

    await call.ask(await say("What's the weather in Paris?"));
    expect(texts('assistant')).toContain('It is on the roof.');
    expect(JSON.parse(texts('tool').at(-1) ?? '')).toMatchObject({
      conditions: expect.any(String) as string,
    });

    await call.ask(await say('I would like to book a table for four.'));
    const askedMs = call.client.nowMs();
    await call.ask(await say('Tomorrow at seven.'));
    expect(prompt()).toContain('Book a table.');
    expect(prompt()).toContain('"people":4');
    expect(llm.requests.at(-1)?.offered).toEqual(['book_table', 'go_to_goodbye']);
    // The question was asked, and nothing is done before it is answered.
    expect(call.client.nowMs()).toBeGreaterThan(askedMs);
    expect(shop.requests).toHaveLength(1);

    await call.ask(await say('Yes.'));
    expect(shop.requests.slice(1)).toMatchObject([
      {
        line: 'POST /tables/tomorrow',
        body: '{"at":"19:00","people":4,"source":"phone"}',
        authorization: undefined,
      },
    ]);
    expect(shop.requests[1]?.key).toMatch(/^[0-9a-f]{16}$/);
    expect(texts('tool').at(-1)).toContain('The table is yours.');

    await call.client.say(await say('Goodbye.'));
    expect(await call.client.closed).toEqual({ code: 1000, reason: 'ended' });
    expect(prompt()).toContain('Say goodbye.');
    const said = texts('assistant').join(' ');
    for (const line of ['Gladly. For which day?', 'Shall I book that table?', 'The table is yours.'])
      expect(said).toContain(line);
    expect(shop.requests).toHaveLength(2);
    expect([call.of('fault'), call.of('error')]).toEqual([[], []]);
  });

  it('logs no word of it and no secret', () => {
    const written = JSON.stringify(service.log) + service.text.join('\n');
    for (const secret of ['s3cret', 'roof', 'tomorrow', '19:00']) expect(written).not.toContain(secret);
    expect(service.said('tool server connected')).toMatchObject({ server: 'weather', tools: 1 });
  });

  it('leaves no tool server behind', async () => {
    const [worker] = service.children('worker');
    const guards = childrenOf(worker ?? 0);
    const pids = guards.flatMap((pid) => [pid, ...childrenOf(pid)]);
    expect(guards).toHaveLength(1);
    expect(pids.length).toBeGreaterThan(1);
    await service.stop();
    await vi.waitUntil(() => !pids.some((pid) => existsSync(`/proc/${pid}`)), {
      timeout: 20_000,
      interval: 20,
    });
  });
});
