/** Variables in an agent file: every `{{` that begins none is named at its own place. */
import { describe, expect, it } from 'vitest';
import { changed, errorsOf, goodFile, load } from './agent-text.ts';

const places = (text: string): string[] =>
  load(text).problems.map(({ path, line, column }) => `${path} ${line}:${column}`);

const tool = (url: string, more = ''): string => `${goodFile}
[[tools]]
name = "orders"
description = "Orders"
[tools.http]
url = "${url}"
${more}
`;

describe('variables in the agent file', () => {
  it('are fine where the call can fill them in', () => {
    const text = changed([
      'prompt = "Be brief."',
      'prompt = "For {{session.agent | x}} {{ metadata.a.b }}"\ngreeting = "{{session.meta.k}} {{session_id}}"',
    ]);
    expect(errorsOf(text)).toEqual([]);
    const headers =
      'headers = { X-A = "{{session_id}}" }\nbody = { a = ["{{metadata.b}}"] }\nmethod = "POST"';
    expect(errorsOf(tool('https://a.example/{{metadata.a}}?b={{session.meta.b|c}}', headers))).toEqual([]);
  });

  it('are named with line and column where they are unknown, without what they say', () => {
    const prompt = 'prompt = """\nFirst {{session_id}},\nthen {{user.name}} and {{metadata.x}} {{open"""';
    const text = changed(['prompt = "Be brief."', `${prompt}\ngreeting = "Hi {{secret_canary}}"`]);
    expect(places(text)).toEqual(['agent.prompt 5:6', 'agent.prompt 5:39', 'agent.greeting 6:16']);
    expect(errorsOf(text)[0]).toMatch(
      /^agent\.prompt holds \{\{, which is no variable: there are \{\{session_id\}\}/,
    );
    expect(errorsOf(text).join()).not.toContain('canary');
  });

  it('are named by their place in the file of prompt_file', () => {
    const text = changed(['prompt = "Be brief."', 'prompt_file = "p.md"']);
    const errors = errorsOf(text, { readFile: () => 'One\ntwo {{session.meta.a}} {{b}}' });
    expect(errors).toEqual([
      expect.stringMatching(
        /^agent\.prompt_file names a file that holds \{\{ in line 2, column 24, which is no/,
      ),
    ]);
  });

  it('are looked at in flows, tools and tool servers as well', () => {
    const flow =
      '[flow]\nstart = "a"\n[flow.nodes.a]\nprompt = "{{x}}"\nsay = "{{x}}"\nend = true\n' +
      '[[mcp]]\nname = "m"\nurl = "https://m.example"\narguments = { id = "{{x}}" }\n';
    const text = changed(['prompt = "Be brief."\n', '']) + flow;
    expect(errorsOf(text).map((message) => message.split(' ')[0])).toEqual([
      'flow.nodes.a.prompt',
      'flow.nodes.a.say',
      'mcp[0].arguments.id',
    ]);
    const broken = tool(
      'https://a.example/{{x}}',
      'headers = { A = "{{x}}" }\nmethod = "POST"\nbody = { a = { b = ["{{x}}"] } }',
    );
    expect(errorsOf(broken).map((message) => message.split(' ')[0])).toEqual([
      'tools[0].http.url',
      'tools[0].http.headers.A',
      'tools[0].http.body.a.b[0]',
    ]);
  });

  it('never decide the host of a tool', () => {
    expect(errorsOf(tool('https://{{metadata.host}}/x'))).toEqual([
      'tools[0].http.url must be an http:// or https:// address with parameters only in its path and query',
    ]);
  });

  it('are bounded in number', () => {
    const prompt = '{{metadata.a}}'.repeat(65);
    expect(errorsOf(changed(['Be brief.', prompt]))).toEqual(['agent.prompt has more than 64 variables']);
  });
});
