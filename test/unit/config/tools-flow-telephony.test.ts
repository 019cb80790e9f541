/** The sections [[tools]], [[mcp]], [telephony] and [flow] of the agent file, each read on its own. */
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { readFlow } from '../../../shared/config/agent/flow.ts';
import { readMcp } from '../../../shared/config/agent/mcp.ts';
import { readTelephony } from '../../../shared/telephony/agent-file.ts';
import { builtInTexts } from '../../../shared/config/agent/texts.ts';
import { builtInToolNames } from '../../../shared/config/agent/tool-names.ts';
import { readTools } from '../../../shared/config/agent/tools.ts';
import { ProblemList } from '../../../shared/config/problem.ts';
import { readToml } from '../../../shared/config/toml.ts';

function read(text: string) {
  const file = readToml(text);
  const tree = file.tree ?? {};
  const problems = new ProblemList(file.places);
  const taken = new Set(builtInToolNames);
  const site = { taken, problems, env: { TOKEN: 't0ken', BROKEN: 'a\nb' }, requireSecrets: true };
  const tools = readTools(tree['tools'], site);
  const mcp = readMcp(tree['mcp'], site);
  const telephony = readTelephony(tree['telephony'], { texts: builtInTexts('en'), problems });
  const hasDestinations = telephony !== undefined && telephony.destinations.size > 0;
  const provided = {
    names: taken,
    isOpen: mcp.some((server) => server.tools === undefined),
    mayComeFromAgent: false,
    hasDestinations,
    isRecorded: false,
    hasTeam: false,
  };
  const flow = readFlow(tree['flow'], { provided, problems, team: undefined, tree });
  return { tools, mcp, flow, telephony, found: problems.sorted() };
}
const messages = (text: string): string[] => read(text).found.map(({ message }) => message);

const tool = (more = '', http = ''): string => `[[tools]]
name = "weather"
description = "Weather of a city"
${more}
[tools.parameters]
type = "object"
required = ["city"]
[tools.parameters.properties.city]
type = "string"
[tools.http]
${http === '' ? 'url = "https://api.example.com/w?city={city}"' : http}
`;

describe('[[tools]]', () => {
  it('are read with their defaults', () => {
    const { tools, found } = read(tool());
    expect(found).toEqual([]);
    expect(tools[0]).toMatchObject({
      name: 'weather',
      kind: 'read_only',
      timeoutMs: 5000,
      fillerAfterMs: 700,
      http: { method: 'GET', allowPrivate: false },
    });
  });

  it.each([
    [tool('confirm = true'), 'tools[0].confirm is for tools of kind "side_effect" only'],
    [tool('timeout_ms = 30001'), 'tools[0].timeout_ms must be at most 30000'],
    [tool('kind = "sideeffect"'), 'tools[0].kind must be one of "read_only", "side_effect"'],
    [
      tool('', 'url = "https://a.example/{town}"'),
      'tools[0].http.url names a parameter that the tool does not declare',
    ],
    [
      tool('', 'url = "https://{city}.example/"'),
      'tools[0].http.url must be an http:// or https:// address with parameters only in its path and query',
    ],
    [
      tool('', 'url = "https://a.example{city}"'),
      'tools[0].http.url must be an http:// or https:// address with parameters only in its path and query',
    ],
    [
      tool('', 'url = "http://a.example/{city}"'),
      'tools[0].http.url must be an https:// address, unless the host is loopback or allow_http is true',
    ],
    [
      tool('', 'url = "https://169.254.169.254/{city}"'),
      'tools[0].http.url leads to a private address, which needs allow_private = true',
    ],
    [
      tool('', 'url = "https://u:p@a.example/{city}"'),
      'tools[0].http.url must not hold credentials; use headers_env',
    ],
    [tool() + tool(), 'tools[1].name is the name of another tool'],
    [tool().replace('"weather"', '"end_call"'), 'tools[0].name is the name of another tool'],
    [
      tool().replace('type = "string"', '"$ref" = "https://x.example/s.json"'),
      'tools[0].parameters.properties.city."$ref" must not lead to another document',
    ],
    [
      tool().replace('type = "string"', '"$ref" = "#/nowhere"'),
      'tools[0].parameters has a $ref that leads nowhere',
    ],
    [
      tool().replace('type = "string"', 'type = "strng"'),
      'tools[0].parameters.properties.city.type must be one of "array", "boolean", "integer", "null", "number", "object", "string"',
    ],
    [
      tool().replace('type = "string"', 'pattern = "("'),
      'tools[0].parameters has a pattern that is no regular expression',
    ],
    [
      tool().replace('type = "string"', 'pattern = "(?=a)"'),
      'tools[0].parameters.properties.city.pattern must do without look-ahead, look-behind, back-references and more than 1,000 repetitions',
    ],
    [
      tool().replace('type = "string"', 'default = 1979-05-27'),
      'tools[0].parameters.properties.city.default must be a value that JSON has',
    ],
    [
      tool().replace('type = "string"', 'maximum = inf'),
      'tools[0].parameters.properties.city.maximum must be a value that JSON has',
    ],
    [
      tool().replace('type = "object"', 'type = "array"'),
      'tools[0].parameters must be a JSON Schema of type "object"',
    ],
    [
      tool('', 'url = "https://a.example/"'),
      'tools[0].http.url has no place for a parameter that the tool declares, which would be lost',
    ],
    [
      tool('', 'method = "POST"\nurl = "https://a.example/"\nbody = { a = 1 }'),
      'tools[0].http.body has no place for a parameter that the tool declares, which would be lost',
    ],
    [
      tool('', 'method = "POST"\nurl = "https://a.example/"\nbody = { a = ["{city}", "{town}"] }'),
      'tools[0].http.body names a parameter that the tool does not declare',
    ],
    [
      tool('', 'url = "https://a.example/{city}"\nbody = { a = 1 }'),
      'tools[0].http.body is for the methods POST, PUT and PATCH',
    ],
    [
      tool('', 'url = "https://a.example/{city}"\nheaders = { Host = "b" }'),
      'tools[0].http.headers.Host is a header that the request itself sets',
    ],
    [
      tool(
        '',
        'url = "https://a.example/{city}"\nheaders = { "X-A" = "b" }\nheaders_env = { x-a = "TOKEN" }',
      ),
      'tools[0].http.headers_env.x-a is a header that is given twice',
    ],
    [
      tool('', 'url = "https://a.example/{city}"\nheaders_env = { x-a = "UNSET" }'),
      'tools[0].http.headers_env.x-a names the environment variable UNSET, which is not set',
    ],
    [
      tool('', 'url = "https://a.example/{city}"\nheaders_env = { x-a = "BROKEN" }'),
      'tools[0].http.headers_env.x-a names the environment variable BROKEN, whose value holds characters that no header has',
    ],
    [
      tool('', 'url = "http://a.example/{city}"\nallow_http = true\nheaders_env = { x-a = "TOKEN" }'),
      'tools[0].http.headers_env is only sent over https:// or to a loopback host',
    ],
  ])('refuse %j', (text, message) => {
    expect(messages(text)).toEqual([message]);
  });

  it('have problems with line and column', () => {
    expect(read(tool('timeout_ms = 0')).found[0]).toMatchObject({ line: 4, column: 14 });
  });
});

describe('[[mcp]]', () => {
  it('names exactly one source', () => {
    expect(messages('[[mcp]]\nname = "crm"')).toEqual(['mcp[0].command or url is required']);
    expect(messages('[[mcp]]\nname = "crm"\ncommand = ["x"]\nurl = "https://a.example"')).toEqual([
      'mcp[0].url and command exclude each other; keep one of them',
    ]);
  });

  it('shares no name with another tool, and has its effects among its tools', () => {
    const text = `${tool()}[[mcp]]\nname = "crm"\ncommand = ["x"]\ntools = ["weather"]\nside_effects = ["sell"]`;
    expect(messages(text)).toEqual([
      'mcp[0].tools[0] is the name of another tool',
      'mcp[0].side_effects[0] must be one of the tools of this server',
    ]);
  });
});

describe('secrets of tools', () => {
  it('are values that nothing shows', () => {
    const text = `${tool('', 'url = "https://a.example/{city}"\nheaders_env = { x-a = "TOKEN" }')}
[[mcp]]
name = "crm"
command = ["x"]
env = ["TOKEN"]
[[mcp]]
name = "far"
url = "https://b.example/mcp"
headers_env = { authorization = "TOKEN" }
`;
    const { tools, mcp, found } = read(text);
    expect(found).toEqual([]);
    expect(tools[0]?.http.secretHeaders.get('x-a')?.reveal()).toBe('t0ken');
    expect(inspect([tools, mcp], { depth: 9 })).not.toContain('t0ken');
  });
});

describe('[telephony]', () => {
  it('has every default without the section', () => {
    const { telephony, found } = read('');
    expect(found).toEqual([]);
    expect(telephony?.dtmf).toEqual({
      collect: true,
      terminator: '#',
      maxDigits: 20,
      interDigitMs: 3000,
      loneTerminator: true,
      note: '[The caller pressed the keys: {digits}]',
    });
    expect(telephony?.settleTimeoutMs).toBe(8000);
  });

  it('takes a transfer timeout as given, when it leaves time behind the hand-off sentence', () => {
    expect(read('[telephony]\ntransfer_timeout_ms = 8001').telephony?.transferTimeoutMs).toBe(8001);
    expect(messages('[telephony]\ntransfer_timeout_ms = 8000')).toEqual([
      'telephony.transfer_timeout_ms must be more than settle_timeout_ms',
    ]);
  });

  it('takes E.164 numbers and shows none', () => {
    const { telephony, found } = read('[telephony.destinations]\nbilling = "+15550100001"');
    expect(found).toEqual([]);
    expect(telephony?.destinations.get('billing')?.reveal()).toBe('+15550100001');
    expect(JSON.stringify([...(telephony?.destinations ?? [])])).not.toContain('555');
    expect(messages('[telephony.destinations]\nbilling = "0555"')).toEqual([
      'telephony.destinations.billing must be an E.164 number: + and 8 to 15 digits',
    ]);
  });
});

describe('[flow]', () => {
  const flow = `[flow]
start = "a"
[flow.nodes.a]
prompt = "A"
max_turns = 3
otherwise = "c"
[[flow.nodes.a.next]]
to = "b"
when = "done"
[flow.nodes.b]
prompt = "B"
[flow.nodes.c]
prompt = "C"
tools = ["end_call"]
end = true
`;
  it('is read with its nodes', () => {
    const { flow: found, found: problems } = read(flow);
    expect(problems).toEqual([]);
    expect(found?.nodes['a']).toMatchObject({
      maxTurns: 3,
      otherwise: 'c',
      next: [{ to: 'b', collect: {} }],
    });
  });

  it.each([
    ['start = "a"', 'start = "x"', ['flow.start must be the name of a node']],
    [
      'to = "b"',
      'to = "x"',
      ['flow.nodes.a.next[0].to must be the name of a node', 'flow.nodes.b is a node that nothing leads to'],
    ],
    [
      'otherwise = "c"',
      '',
      [
        'flow.nodes.a.otherwise is required with max_turns or max_s',
        'flow.nodes.c is a node that nothing leads to',
      ],
    ],
    ['max_turns = 3', '', ['flow.nodes.a.otherwise needs max_turns or max_s']],
    [
      '"end_call"',
      '"fly"',
      [
        'flow.nodes.c.tools[0] must be the name of a tool: no tool of this name is provided (there is end_call, send_dtmf)',
      ],
    ],
    ['prompt = "B"', '', ['flow.nodes.b.prompt is required']],
    ['"end_call"', '"end_call", "end_call"', ['flow.nodes.c.tools[1] repeats a name of the list']],
    [
      '"end_call"',
      '"transfer_call"',
      ['flow.nodes.c.tools[0] names transfer_call, which needs an entry in telephony.destinations'],
    ],
    [
      'when = "done"',
      'when = "done"\ncollect = { n = { pattern = "(?=a)" } }',
      [
        'flow.nodes.a.next[0].collect.n must do without look-ahead, look-behind, back-references and more than 1,000 repetitions',
      ],
    ],
    [
      'when = "done"',
      'when = "done"\ncollect = { n = { type = "intger" } }',
      [
        'flow.nodes.a.next[0].collect.n must be one of "array", "boolean", "integer", "null", "number", "object", "string"',
      ],
    ],
  ])('with %j as %j is refused', (from, to, expected) => {
    expect(messages(flow.replace(from, to)).toSorted()).toEqual(expected.toSorted());
  });
});

describe('the built-in texts', () => {
  it('follow the primary language and fall back to English', () => {
    expect(builtInTexts('tr-TR').keysNote).toContain('{digits}');
    expect(builtInTexts('tr-TR').farewell).not.toBe(builtInTexts('en').farewell);
    for (const language of ['de-AT', 'es', 'fr-CA']) {
      expect(builtInTexts(language).keysNote).toContain('{digits}');
      expect(builtInTexts(language).apology).not.toBe(builtInTexts('en').apology);
    }
    expect(builtInTexts('sv')).toEqual(builtInTexts('en-US'));
    expect(builtInTexts('en').keysNote).toBe('[The caller pressed the keys: {digits}]');
  });
});
