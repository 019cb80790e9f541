/** Which tools a call has, how their arguments are judged, and how a call runs and leaves them. */
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Server as TlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { compileArguments } from '../../../shared/config/json-schema.ts';
import { transitionTool as configTransitionTool } from '../../../shared/config/agent/flow.ts';
import { transitionTool } from '../../../worker/core/flow/flow.ts';
import type { OpenedTools } from '../../../worker/tools/registry.ts';
import { noCallControl } from '../../../worker/tools/tool.ts';
import type { RemoteTool, ToolReport, ToolRunRequest } from '../../../worker/tools/tool.ts';
import { selfSigned } from '../../support/self-signed.ts';
import { newStageContext } from '../../support/core/stage-context.ts';
import { closeRegistries, newRegistry, openTools, orderOf, runTool } from '../../support/core/tool-call.ts';

const servers: (Server | TlsServer)[] = [];
afterEach(async () => {
  await closeRegistries();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

const http = (name: string, more = '', url = 'http://127.0.0.1:9/{city}'): string => `[[tools]]
name = "${name}"
description = "About ${name}"
${more}
[tools.parameters]
type = "object"
required = ["city"]
additionalProperties = false
[tools.parameters.properties.city]
type = "string"
[tools.parameters.properties.unit]
enum = ["c", "f"]
[tools.http]
url = "${url}?unit={unit}"
allow_private = true
`;

const flow = `[flow]
start = "a"
[flow.nodes.a]
prompt = "A"
tools = ["weather"]
[[flow.nodes.a.next]]
to = "b"
when = "the size is known"
collect = { size = { type = "integer" } }
[[flow.nodes.a.next]]
to = "c"
when = "it is over"
[flow.nodes.b]
prompt = "B"
[[flow.nodes.b.next]]
to = "c"
when = "the name is known"
collect = { name = { type = "string" } }
[flow.nodes.c]
prompt = "C"
tools = ["end_call"]
end = true
`;

const names = (tools: readonly { readonly name: string }[]): string[] => tools.map(({ name }) => name);

describe('the tools of a call', () => {
  it('are all that the file declares and the built-in ones that the transport can do', () => {
    const registry = newRegistry(`${http('weather')}[telephony.destinations]\nbilling = "+15550100001"\n`);
    expect(names(openTools(registry).declarations())).toEqual(['end_call', 'weather']);
    const phone = openTools(registry, { control: { transfer: { warm: true }, sendDtmf: true } });
    expect(names(phone.declarations())).toEqual(['end_call', 'transfer_call', 'send_dtmf', 'weather']);
  });

  it('are those of agent.tools where it is given', () => {
    const registry = newRegistry(http('weather') + http('news'), 'tools = ["news"]');
    expect(names(openTools(registry).declarations())).toEqual(['news']);
  });

  it('have no transfer without a destination', () => {
    const tools = openTools(newRegistry(''), { control: { transfer: { warm: true }, sendDtmf: false } });
    expect(names(tools.declarations())).toEqual(['end_call']);
  });

  it('are offered as the same array every time', () => {
    const registry = newRegistry(http('weather'));
    expect(openTools(registry).declarations()).toBe(openTools(registry).declarations());
  });

  it('carry the rules that the file gives them', () => {
    const more = 'kind = "side_effect"\nconfirm = true\ntimeout_ms = 900\nfiller_after_ms = 0';
    const tools = openTools(newRegistry(http('book', more)));
    expect(tools.ruleOf('book')).toEqual({
      kind: 'side_effect',
      timeoutMs: 900,
      fillerAfterMs: 0,
      confirm: true,
      repeatable: false,
    });
    expect([tools.performerOf('book'), tools.performerOf('end_call'), tools.performerOf('x')]).toEqual([
      'runner',
      'core',
      undefined,
    ]);
    expect(tools.ruleOf('x')).toBeUndefined();
  });
});

describe('in a flow', () => {
  it('a node offers its own tools and its transitions', () => {
    const tools = openTools(newRegistry(http('weather') + http('news') + flow));
    expect(names(tools.declarations('a'))).toEqual(['weather', 'go_to_b', 'go_to_c']);
    expect(names(tools.declarations('b'))).toEqual(['go_to_c']);
    expect(names(tools.declarations('c'))).toEqual(['end_call']);
    expect(tools.declarations('nowhere')).toEqual([]);
    expect(tools.performerOf('go_to_b')).toBe('core');
    expect(tools.ruleOf('go_to_b')).toMatchObject({ kind: 'side_effect', repeatable: true });
  });

  it.each([
    ['date', '2026-02-28', ['2026-02-30', 'next Friday', '12/05/2026'], 'a date as in "2026-12-31"'],
    [
      'email',
      'bob@example.com',
      ['bob at example dot com', 'bob@example'],
      'an address as in "name@example.com"',
    ],
    ['phone', 'whatever', [], ''],
  ])('a %s is judged by its format, where there is one for it', (format, good, bad, rule) => {
    const schema = { type: 'object', properties: { value: { type: 'string', format } } };
    const judged = (patterns: 'obeyed' | 'ignored', value: string): unknown => {
      const made = compileArguments(schema, { patterns });
      return made.ok ? made.value({ value }) : made.error;
    };
    expect(judged('obeyed', good)).toBeUndefined();
    for (const value of bad) {
      expect(judged('obeyed', value)).toBe(`value must be ${rule}`);
      expect(judged('ignored', value)).toBeUndefined();
    }
  });

  it('the values of a transition are judged by the node that it leaves', () => {
    const tools = openTools(newRegistry(http('weather') + flow));
    expect(tools.validate('go_to_b', '{"size":"big"}', 'a')).toEqual({
      ok: false,
      rule: 'size must be integer',
    });
    expect(tools.validate('go_to_b', '{"size":2}', 'a')).toEqual({ ok: true, canonical: '{"size":2}' });
    expect(tools.validate('go_to_c', '{}', 'a').ok).toBe(true);
    expect(tools.validate('go_to_c', '{}', 'b')).toMatchObject({
      rule: "the arguments must have required property 'name'",
    });
    expect(tools.validate('go_to_b', '{"size":2}', 'b').ok).toBe(false);
  });

  it('transitions have the names that the check of the file expects', () => {
    expect(configTransitionTool('x')).toBe(transitionTool('x'));
  });
});

describe('arguments', () => {
  const tools = () => openTools(newRegistry(http('weather')));

  it.each([
    ['{"unit":"c", "city":"Rome"}', '{"city":"Rome","unit":"c"}'],
    ['{"city":"Rome","unit":"c"}', '{"city":"Rome","unit":"c"}'],
    ['{"city":"a","city":"b"}', '{"city":"b"}'],
  ])('%s have the canonical form %s', (text, canonical) => {
    expect(tools().validate('weather', text)).toEqual({ ok: true, canonical });
  });

  it.each([
    ['{"city":"Rome"', 'the arguments are not valid JSON'],
    ['["Rome"]', 'the arguments must be a JSON object'],
    ['null', 'the arguments must be a JSON object'],
    ['', "the arguments must have required property 'city'"],
    ['{"city":1}', 'city must be string'],
    ['{"city":"x","unit":"k"}', 'unit must be one of ["c","f"]'],
    ['{"city":"x","town":"y"}', 'the arguments must not have "town"'],
    [`{"city":"${'x'.repeat(70_000)}"}`, 'the arguments are too long'],
    [`{"city":${'['.repeat(1000)}${']'.repeat(1000)}}`, 'the arguments are nested too deeply'],
    ['{"__proto__":{"city":"x"}}', 'the arguments must not have "__proto__"; '],
  ])('%s break a rule', (text, rule) => {
    const verdict = tools().validate('weather', text);
    expect(verdict.ok ? '' : verdict.rule).toContain(rule.replace(/; $/, ''));
  });

  it('of a name that nothing provides are refused', () => {
    expect(tools().validate('fly', '{}')).toEqual({ ok: false, rule: 'no tool of this name is offered' });
  });

  it('of end_call may be missing', () => {
    expect(tools().validate('end_call', '')).toEqual({ ok: true, canonical: '{}' });
    expect(tools().validate('end_call', ' ').ok).toBe(false);
  });
});

describe('telephony tools', () => {
  const tools = (more = '') =>
    openTools(newRegistry(`[telephony]\n${more}\n[telephony.destinations]\nbilling = "+15550100001"\n`), {
      control: { transfer: { warm: true }, sendDtmf: true },
    });

  it('name destinations and show no number', () => {
    const offered = tools().declarations();
    expect(JSON.stringify(offered)).toContain('"enum":["billing"]');
    expect(JSON.stringify(offered)).not.toContain('555');
    expect(tools().validate('transfer_call', '{"destination":"+15550100001"}').ok).toBe(false);
    expect(tools().validate('transfer_call', '{"destination":"billing"}').ok).toBe(true);
  });

  it('offer warm transfers only where they are enabled', () => {
    const warm = '{"destination":"billing","mode":"warm"}';
    expect(tools().validate('transfer_call', warm).ok).toBe(false);
    expect(tools('warm_transfer = true').validate('transfer_call', warm).ok).toBe(true);
  });

  it('wait for the hand-off sentence and the carrier', () => {
    expect(tools().ruleOf('transfer_call')?.timeoutMs).toBe(50_000);
    expect(tools('settle_timeout_ms = 1000').ruleOf('transfer_call')?.timeoutMs).toBe(43_000);
    expect(tools('transfer_timeout_ms = 9000').ruleOf('transfer_call')?.timeoutMs).toBe(9000);
  });

  it.each([
    ['12#', '12#'],
    ['1wW2', '1wW2'],
    ['ABCD', 'abcd'],
  ])('take the keys %s as %s', (digits, canonical) => {
    expect(tools().validate('send_dtmf', JSON.stringify({ digits }))).toEqual({
      ok: true,
      canonical: JSON.stringify({ digits: canonical }),
    });
  });

  it.each(['', 'ww', 'e', '1'.repeat(33), '1 2'])('refuse the keys %j', (digits) => {
    expect(tools().validate('send_dtmf', JSON.stringify({ digits })).ok).toBe(false);
  });
});

describe('a run', () => {
  async function serve(answer: (socket: Socket) => void): Promise<string> {
    const server = createServer((request, response) => {
      if (request.url?.startsWith('/hang') === true) answer(request.socket);
      else response.end(`seen ${request.url ?? ''} ${String(request.headers['x-key'])}`);
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    return typeof address === 'object' && address !== null ? `http://127.0.0.1:${address.port}` : '';
  }

  it('reaches the server with its arguments and its secret', async () => {
    const origin = await serve(() => undefined);
    const sections = http('weather', '', `${origin}/{city}`) + 'headers_env = { x-key = "TOKEN" }\n';
    const tools = openTools(newRegistry(sections));
    expect(await runTool(tools, 'weather', { given: { city: 'Rome' } })).toEqual({
      kind: 'result',
      text: 'seen /Rome?unit= s3cret',
    });
  });

  it('is told when its call ends, and says nothing more', async () => {
    const reports: ToolReport[] = [];
    let opened: OpenedTools | undefined;
    const left = new Promise<void>((resolve) => {
      void serve((socket) => {
        socket.on('close', resolve);
        opened?.close();
      }).then((origin) => {
        const registry = newRegistry(http('weather', '', `${origin}/hang/{city}`));
        opened = registry.openCall(newStageContext(), { control: noCallControl });
        opened.tools.run(orderOf('weather', { city: 'x' }), (report) => reports.push(report));
      });
    });
    await left;
    expect(reports).toEqual([]);
  });

  it('whose answer is lost on the way does not claim that nothing was sent', async () => {
    const origin = await serve((socket) => socket.destroy());
    const tools = openTools(newRegistry(http('write', 'kind = "side_effect"', `${origin}/hang/{city}`)));
    const report = await runTool(tools, 'write', { given: { city: 'x' } });
    expect(report).toMatchObject({ kind: 'failed', transport: true });
    expect(report).not.toHaveProperty('unsent');
  });

  it('with effects that never left is a failure at once', async () => {
    const tools = openTools(newRegistry(http('write', 'kind = "side_effect"', 'http://127.0.0.1:9/{city}')));
    expect(await runTool(tools, 'write', { given: { city: 'x' } })).toMatchObject({
      kind: 'failed',
      unsent: true,
    });
  });

  it('stops at a certificate that nobody vouches for, before anything is sent', async () => {
    let asked = 0;
    const server = createTlsServer(selfSigned(), (_, response) => {
      asked += 1;
      response.end();
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const url = `https://127.0.0.1:${port}/{city}`;
    const tools = openTools(newRegistry(http('write', 'kind = "side_effect"', url)));
    expect(await runTool(tools, 'write', { given: { city: 'x' } })).toMatchObject({ unsent: true });
    expect(asked).toBe(0);
  });

  it('of a tool that is not there fails instead of throwing', async () => {
    const tools = openTools(newRegistry(''));
    expect(await runTool(tools, 'end_call')).toMatchObject({ kind: 'failed', transport: false });
  });
});

describe('remote tools', () => {
  const rule = {
    kind: 'read_only',
    timeoutMs: 5000,
    fillerAfterMs: 700,
    confirm: false,
    repeatable: false,
  } as const;
  const tool = (name: string, parameters: Record<string, unknown> = { type: 'object' }): RemoteTool => ({
    name,
    description: '',
    parameters,
    rule,
  });
  const open = (tools: readonly RemoteTool[], agent = '') => {
    const asked: ToolRunRequest[] = [];
    const cancelled: string[] = [];
    const runner = {
      run: (_: unknown, request: ToolRunRequest) => {
        asked.push(request);
        return { cancel: (reason: string) => void cancelled.push(reason) };
      },
    };
    const opened = newRegistry(http('weather'), agent).openCall(newStageContext(), {
      control: noCallControl,
      remote: { tools, runner },
    });
    return { ...opened, asked, cancelled };
  };

  it('join those of the file, whatever agent.tools names', () => {
    const { tools, refused } = open([tool('lookup')], 'tools = ["weather"]');
    expect(names(tools.declarations())).toEqual(['weather', 'lookup']);
    expect(refused).toEqual([]);
  });

  it('are refused with a name that is taken or a schema that is no schema', () => {
    const { refused, tools } = open([
      tool('weather'),
      tool('end_call'),
      tool('bad', { type: 'object', properties: { a: { type: 'text' } } }),
      tool('far', { type: 'object', properties: { a: { $ref: 'https://a.example/s.json' } } }),
      tool('list', { type: 'array' }),
    ]);
    expect(refused.map(({ name }) => name)).toEqual(['weather', 'end_call', 'bad', 'far', 'list']);
    expect(refused[3]?.rule).toBe(
      'has a schema that is refused: parameters.properties.a.$ref must not lead to another document',
    );
    expect(names(tools.declarations())).toEqual(['end_call', 'weather']);
  });

  it('may have schemas that refer to themselves', () => {
    const part = { type: 'object', properties: { name: { type: 'string' }, part: { $ref: '#' } } };
    const old = { ...part, $schema: 'http://json-schema.org/draft-07/schema#' };
    const named = { ...part, $id: 'https://a.example/part.json' };
    const { refused, tools } = open([tool('part', part), tool('old', old), tool('named', named)]);
    expect(refused).toEqual([]);
    for (const name of ['part', 'old', 'named']) {
      expect(tools.validate(name, '{"part":{"part":{"name":"a"}}}')).toMatchObject({ ok: true });
      expect(tools.validate(name, '{"part":{"part":{"name":1}}}')).toEqual({
        ok: false,
        rule: 'part.part.name must be string',
      });
    }
  });

  it('are refused with the name of a transition', () => {
    const runner = { run: () => ({ cancel: () => undefined }) };
    const { tools, refused } = newRegistry(http('weather') + flow).openCall(newStageContext(), {
      control: noCallControl,
      remote: { tools: [tool('go_to_b')], runner },
    });
    expect(refused).toEqual([{ name: 'go_to_b', rule: 'is the name of another tool' }]);
    expect(tools.performerOf('go_to_b')).toBe('core');
  });

  it('have patterns that cannot hold a worker up', () => {
    const endless = { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } };
    const { tools } = open([tool('slow', endless)]);
    expect(tools.validate('slow', JSON.stringify({ a: `${'a'.repeat(50)}!` })).ok).toBe(true);
  });

  it('are run by the link with everything that its protocol carries, and told why they are left', () => {
    const { tools, asked, cancelled } = open([tool('lookup')]);
    const run = tools.run({ ...orderOf('lookup', { a: 1 }), epoch: 7 }, () => undefined);
    expect(asked).toMatchObject([
      { name: 'lookup', arguments: { a: 1 }, epoch: 7, idempotencyKey: '0123456789abcdef', timeoutMs: 5000 },
    ]);
    run.cancel('interrupted');
    run.cancel('timeout');
    expect(cancelled).toEqual(['interrupted']);
  });
});
