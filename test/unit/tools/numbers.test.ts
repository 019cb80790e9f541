/** Order, card and telephone numbers have more digits than a `number` holds, and 10.00 is not 10: they pass through every place as they were written. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { exactNumber, parseJson, writeJson } from '../../../shared/base/exact-json.ts';
import { compileArguments } from '../../../shared/config/json-schema.ts';
import { readAnswer } from '../../../shared/agent-link/handshake.ts';
import { isDeeperThan } from '../../../shared/base/nesting.ts';
import { readRtviRequest, rtviMessage } from '../../../shared/rtvi/messages.ts';
import { eventLine } from '../../../cli/commands/agent-dev/event-line.ts';
import { holds } from '../../../cli/rehearsal/scenarios/expectations.ts';
import { readScenarioFile } from '../../../cli/rehearsal/scenarios/scenario-file.ts';
import { newLink } from '../../../worker/agent-link/link-state.ts';
import { readCommand, readFrame } from '../../../shared/agent-link/decode.ts';
import { flowPrompt, stepFlow } from '../../../worker/core/flow/flow.ts';
import { decodeState, encodeState } from '../../../worker/core/snapshot.ts';
import { newCall } from '../../../worker/core/state.ts';
import { readPlain, writePlain } from '../../../worker/recording/plain.ts';
import { scriptSettings } from '../../support/core/script-settings.ts';
import { closeRegistries, newRegistry, openTools, orderOf } from '../../support/core/tool-call.ts';
import { LinkDriver, linkSettings } from '../../support/link-driver.ts';
import type { CallTools, ToolReport } from '../../../worker/tools/tool.ts';

const text = '{"id":2512292042121000001,"total":10.00,"deep":[{"n":-9007199254740993},1e400,0.10]}';

const servers: Server[] = [];
afterEach(async () => {
  await closeRegistries();
  for (const server of servers.splice(0)) server.close();
});

/** Answers `answer`, and says what it was asked. */
async function serve(answer: string): Promise<{ origin: string; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => (body += part));
    request.on('end', () => {
      asked.push(`${request.url} ${body}`.trim());
      response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

const tool = (http: string): string => `[[tools]]
name = "order"
description = "d"
kind = "side_effect"
[tools.parameters]
type = "object"
properties = { id = { type = "integer" }, total = { type = "number" } }
[tools.http]
allow_private = true
${http}
`;

const run = (tools: CallTools, given: string): Promise<ToolReport> =>
  new Promise((resolve) => {
    const order = orderOf('order', {});
    tools.run({ ...order, call: { ...order.call, arguments: given } }, resolve);
  });

describe('numbers with every digit', () => {
  const given = '{"total":10.00,"id":2512292042121000001}';

  it('are the canonical form of arguments', () => {
    const tools = openTools(newRegistry(tool('url = "http://127.0.0.1:1/{id}/{total}"')));
    expect(tools.validate('order', given)).toEqual({
      ok: true,
      canonical: '{"id":2512292042121000001,"total":10.00}',
    });
    expect(tools.validate('order', '{"id":10.50}').ok).toBe(false);
  });

  it.each([
    ['url = "ORIGIN/{id}?t={total}"', '/2512292042121000001?t=10.00'],
    ['method = "POST"\nurl = "ORIGIN/a"', `/a ${given}`],
    [
      'method = "POST"\nurl = "ORIGIN/a"\nbody = { id = "{id}", note = "no. {id}: {total}", most = 9223372036854775807 }',
      '/a {"id":2512292042121000001,"note":"no. 2512292042121000001: 10.00","most":9223372036854775807}',
    ],
  ])('are sent by a tool over HTTP: %s', async (http, expected) => {
    const { origin, asked } = await serve(text);
    const tools = openTools(newRegistry(tool(http.replace('ORIGIN', origin))));
    expect(await run(tools, given)).toEqual({ kind: 'result', text });
    expect(asked).toEqual([expected]);
  });

  it.each([
    ['/id', '2512292042121000001'],
    ['/total', '10.00'],
    ['/deep/0', '{"n":-9007199254740993}'],
    ['/deep', '[{"n":-9007199254740993},1e400,0.10]'],
    ['/total/value', undefined],
  ])('are read of the part %s of an answer', async (pointer, expected) => {
    const { origin } = await serve(text);
    const tools = openTools(newRegistry(tool(`url = "${origin}/{id}/{total}"\nresult = "${pointer}"`)));
    const report = await run(tools, given);
    expect(report.kind === 'result' ? report.text : undefined).toBe(expected);
  });

  it('are limits of arguments, in the agent file as in the agent link', () => {
    const most = '9223372036854775806';
    const limited = tool('url = "http://127.0.0.1:1/{id}/{total}"').replace(
      'id = { type = "integer" }',
      `id = { type = "integer", maximum = ${most} }`,
    );
    const tools = openTools(newRegistry(limited));
    expect(tools.validate('order', `{"id":${most},"total":1}`).ok).toBe(true);
    expect(tools.validate('order', '{"id":9223372036854775807,"total":1}').ok).toBe(false);

    const parameters = `{"type":"object","properties":{"n":{"const":${most},"minLength":1.0}}}`;
    const frame = readFrame(
      `{"type":"session.accept","version":1.0,"tools":[{"name":"a","parameters":${parameters}}]}`,
    );
    const answer = frame.ok ? readAnswer(frame.value, [1]) : undefined;
    const read = answer?.kind === 'accept' ? answer.accept.tools[0]?.parameters : undefined;
    expect(writeJson(read)).toBe(parameters.replace('1.0', '1'));
    const saved = parseJson(writeJson(read)) as Record<string, unknown>;
    const check = compileArguments(saved, { patterns: 'obeyed' });
    expect(check.ok && check.value(parseJson(`{"n":${most}}`))).toBe(undefined);
    expect(check.ok && check.value(parseJson('{"n":9223372036854775807}'))).toBe(`n must be ${most}`);
  });

  it('are told to an agent process, and taken from it', () => {
    const link = new LinkDriver(newLink({ ...linkSettings, takesMessages: true }, 0)).accepted({ tools: [] });
    const sent = link.give({
      type: 'tool.run',
      key: 1,
      attempt: 1,
      call: {
        call_id: 'c',
        name: 'order',
        arguments: parseJson(text),
        kind: 'read_only',
        epoch: 1,
        idempotency_key: 'k',
        timeout_ms: 1000,
      },
    } as never);
    expect(JSON.stringify(sent)).toContain(JSON.stringify(`"arguments":${text}`).slice(1, -1));
    const settled = link.says(`{"type":"tool.result","id":1,"result":${text}}`);
    expect(settled).toContainEqual({ type: 'tool.settled', id: 1, outcome: { kind: 'result', text } });
  });

  it('are the whole result of an agent process', () => {
    for (const result of ['1915883588174806058', '10.00', '1e400', 'null', '"1"', '[]']) {
      const frame = readFrame(`{"type":"tool.result","id":1.0,"result":${result}}`);
      const read = frame.ok ? readCommand(frame.value) : undefined;
      expect(read?.kind === 'result' ? [read.result.id, writeJson(read.result.result)] : read).toEqual([
        1,
        result,
      ]);
    }
  });

  it('pass between the program of a caller and its agent process', () => {
    const frame = `{"label":"rtvi-ai","type":"client-message","id":"1","data":{"t":"cart","d":${text}}}`;
    const request = readRtviRequest(frame);
    const data = typeof request === 'object' ? request.data['d'] : undefined;
    const link = new LinkDriver(newLink({ ...linkSettings, takesMessages: true }, 0)).accepted();
    const told = link.give({ type: 'client.said', message: { name: 'cart', id: '1', data } });
    expect(JSON.stringify(told)).toContain(JSON.stringify(`"data":${text}`).slice(1, -1));
    const [answer] = link.says(`{"type":"client.send","data":${text}}`);
    const message = answer?.type === 'client.send' ? answer.message : undefined;
    expect(rtviMessage('server-message', message?.data)).toContain(`"data":${text}`);
  });

  it('are what a flow collects, also in another worker and in what is written down', () => {
    const flow = {
      start: 'ask',
      nodes: {
        ask: {
          prompt: 'Ask.',
          say: '',
          tools: [],
          next: [{ to: 'end', when: 'done', collect: { all: {} } }],
          end: false,
        },
        end: { prompt: 'End.', say: '', tools: [], next: [], end: true },
      },
    };
    const settings = { ...scriptSettings, flow };
    const state = newCall(settings);
    const data = { all: parseJson(text) };
    stepFlow(
      state.conversation.flow!,
      { type: 'transition.called', tool: 'go_to_end', data },
      { settings: flow, now: 0 },
    );
    const saved = parseJson(encodeState(state));
    const taken = decodeState({ state: saved, history: '[]', shiftMs: 0 }, settings);
    expect(flowPrompt(taken.conversation.flow!, flow)).toContain(`{"all":${text}}`);
    expect(encodeState(taken)).toBe(encodeState(state));
    expect(writeJson(readPlain(writePlain({ state: saved, no: Infinity })))).toContain(
      `"data":{"all":${text}}`,
    );
    expect(readPlain(writePlain({ no: -Infinity, n: parseJson('1.0') }))).toEqual({
      no: -Infinity,
      n: parseJson('1.0'),
    });
  });

  it('are what scenarios expect and stand in for', () => {
    const scenario = readScenarioFile(
      '[[scenario]]\nname = "a"\ncaller = ["Hi"]\n[[scenario.tool]]\nname = "t"\nresult = { id = 1915883588174806058 }',
      {},
    ).file?.scenarios[0];
    expect(JSON.stringify(scenario)).toContain(JSON.stringify('{"id":1915883588174806058}').slice(1, -1));
    const found = parseJson(text);
    expect(holds({ id: exactNumber('2512292042121000001'), total: 10 }, found)).toBe(true);
    expect(holds({ id: exactNumber('2512292042121000000') }, found)).toBe(false);
    expect(holds({ total: {} }, found)).toBe(false);
    expect(holds({ id: exactNumber('9007199254740992') }, parseJson('{"id":9007199254740992}'))).toBe(true);
  });

  it('are shown to a developer', () => {
    const seen = {
      call: 1,
      from: 'agent',
      text: `{"type":"tool.result","id":1,"result":${text}}`,
      atMs: 0,
    } as const;
    expect(eventLine(seen, { all: false })).toContain(`result=${text}`);
  });

  it('are no level of nesting, and are read in any depth', () => {
    expect(isDeeperThan(parseJson('[[1.0]]'), 2)).toBe(false);
    const deep = `${'['.repeat(50_000)}1.0${']'.repeat(50_000)}`;
    expect(isDeeperThan(parseJson(deep), 64)).toBe(true);
    expect(
      readRtviRequest(`{"label":"rtvi-ai","type":"client-message","data":{"t":"a","d":${deep}}}`),
    ).toBeTypeOf('object');
  });

  it('may be bigints where they are written', () => {
    expect(writeJson({ a: 2512292042121000001n, b: [1, 'x'] })).toBe('{"a":2512292042121000001,"b":[1,"x"]}');
  });
});
