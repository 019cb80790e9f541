import { describe, expect, it } from 'vitest';
import { readScenarioFile } from '../../../cli/rehearsal/scenarios/scenario-file.ts';

const read = (text: string, env: Readonly<Record<string, string>> = {}) => readScenarioFile(text, env);
const messages = (text: string, env?: Readonly<Record<string, string>>): string[] =>
  read(text, env).problems.map(({ line, column, message }) => `${line}:${column} ${message}`);
const only = (text: string) => {
  const { file, problems } = read(text);
  expect(problems).toEqual([]);
  return file!.scenarios[0]!;
};

describe('a scenario file', () => {
  it('reads a script of lines, keys, silence and a hang-up', () => {
    const { caller } = only(`
[[scenario]]
name = "a"
caller = ["Hello.", { say = "Stop.", interrupt_after_words = 3 }, { keys = "12#" }, { silence_s = 1.5 }, { hang_up = true }]
`);
    expect(caller).toEqual({
      kind: 'script',
      steps: [
        { does: 'say', text: 'Hello.' },
        { does: 'say', text: 'Stop.', afterWords: 3 },
        { does: 'press', keys: '12#' },
        { does: 'wait', ms: 1500 },
        { does: 'hang-up' },
      ],
    });
  });

  it('reads a caller with a goal, and gives it a persona', () => {
    const { caller } = only(
      '[[scenario]]\nname = "a"\n[scenario.caller]\ngoal = "Book a table."\nmax_turns = 3',
    );
    expect(caller).toMatchObject({ kind: 'llm', goal: 'Book a table.', maxTurns: 3 });
  });

  it('reads expectations of the whole and of one step', () => {
    const { caller, expect: whole } = only(`
[[scenario]]
name = "a"
caller = [{ say = "Hi", expect = { says = ["hello"], matches = ['a|b'] } }]
[scenario.expect]
never_says = ["sorry"]
calls = [{ name = "book", arguments = { people = 4 }, times = 1 }]
never_calls = ["cancel"]
reaches = ["end"]
ended_by = "agent"
first_text_ms = 900
judge = ["It was polite."]
`);
    expect(caller).toMatchObject({ steps: [{ expect: { says: ['hello'], matches: [/a|b/iu], calls: [] } }] });
    expect(whole).toEqual({
      says: [],
      neverSays: ['sorry'],
      matches: [],
      neverMatches: [],
      calls: [{ name: 'book', arguments: { people: 4 }, times: 1 }],
      neverCalls: ['cancel'],
      reaches: ['end'],
      endedBy: 'agent',
      firstTextMs: 900,
      judge: ['It was polite.'],
    });
  });

  it('reads stand-ins for tools, whose results are any value', () => {
    const { tools } = only(`
[[scenario]]
name = "a"
caller = ["Hi"]
[[scenario.tool]]
name = "weather"
result = { degrees = 20, sky = "clear" }
[[scenario.tool]]
name = "weather"
error = "no such city"
[[scenario.tool]]
name = "book"
result = "booked"
`);
    const declared = { description: 'No description.', parameters: { type: 'object' } };
    expect(tools).toEqual([
      { ...declared, name: 'weather', outcome: { kind: 'result', text: '{"degrees":20,"sky":"clear"}' } },
      { ...declared, name: 'weather', outcome: { kind: 'error', message: 'no such city' } },
      { ...declared, name: 'book', outcome: { kind: 'result', text: 'booked' } },
    ]);
  });

  it('reads the LLM of callers and judges like the one of an agent', () => {
    const text = (env: string) => `
[caller.llm]
provider = "chat_compatible"
api_key_env = "${env}"
chat_compatible = { base_url = "https://llm.example/v1", model = "m" }
[[scenario]]
name = "a"
caller = ["Hi"]
`;
    const { file } = read(text('CALLER_KEY'), { CALLER_KEY: 'k' });
    expect(file?.callerLlm).toMatchObject({ provider: 'chat_compatible' });
    expect(file?.callerLlm?.apiKey?.reveal()).toBe('k');
    expect(messages(text('CALLER_KEY'))).toEqual([
      '4:15 caller.llm.api_key_env names the environment variable CALLER_KEY, which is not set',
    ]);
  });

  it.each([
    ['', '1:1 scenario is required: a file has at least one [[scenario]]'],
    [
      '[[scenario]]\nname = "a"',
      '1:1 scenario[0].caller is required: a list of what the caller does, or a table with a goal',
    ],
    ['[[scenario]]\ncaller = ["Hi"]', '1:1 scenario[0].name is required'],
    [
      '[[scenario]]\nname = "a"\ncaller = ["Hi", 3]',
      '3:17 scenario[0].caller[1] must be a text or a table such as { say = "Hello" }',
    ],
    [
      '[[scenario]]\nname = "a"\ncaller = [{ say = "Hi", keys = "1" }]',
      '3:11 scenario[0].caller[0] must have exactly one of say, keys, silence_s and hang_up',
    ],
    [
      '[[scenario]]\nname = "a"\ncaller = [{ sya = "Hi" }]',
      '3:13 scenario[0].caller[0].sya is not a known key; did you mean "say"?',
    ],
    [
      '[[scenario]]\nname = "a"\ncaller = [{ keys = "x" }]',
      '3:20 scenario[0].caller[0].keys must be 1 to 32 keys of 0-9 * # A-D',
    ],
    [
      '[[scenario]]\nname = "a"\ncaller = [{ hang_up = true }, "Hi"]',
      '3:11 scenario[0].caller[0] must be the last step: nobody is there after it',
    ],
    [
      '[[scenario]]\nname = "a"\ncaller = [{ silence_s = 1, interrupt_after_words = 2 }]',
      '3:52 scenario[0].caller[0].interrupt_after_words is not for silence, which interrupts nobody',
    ],
    [
      '[[scenario]]\nname = "a"\ncaller = ["Hi"]\nexpect = { matches = ["("] }',
      '4:23 scenario[0].expect.matches[0] must be a regular expression of JavaScript',
    ],
    [
      '[[scenario]]\nname = "a"\ncaller = ["Hi"]\nexpect = { never_matches = ["(?<!a)b"] }',
      '4:29 scenario[0].expect.never_matches[0] must do without look-ahead, look-behind, back-references and more than 1,000 repetitions',
    ],
    [
      '[[scenario]]\nname = "a"\ncaller = ["Hi"]\nexpect = { sais = ["x"] }',
      '4:12 scenario[0].expect.sais is not a known key; did you mean "says"?',
    ],
    [
      '[[scenario]]\nname = "a"\ncaller = [{ say = "Hi", expect = { judge = ["x"] } }]',
      '3:36 scenario[0].caller[0].expect.judge is not a known key',
    ],
    [
      '[[scenario]]\nname = "a"\ncaller = ["Hi"]\n[[scenario.tool]]\nname = "t"',
      '4:1 scenario[0].tool[0] must have exactly one of result and error',
    ],
    [
      '[[scenario]]\nname = "a"\ncaller = ["Hi"]\n[[scenario]]\nname = "a"\ncaller = ["Hi"]',
      '5:8 scenario[1].name is the name of another scenario',
    ],
    ['[[scenario]]\nname = "a"\ncaller = ["Hi"]\nretries = 2', '4:1 scenario[0].retries is not a known key'],
    ['[caller]\nllama = 1\n[[scenario]]\nname = "a"\ncaller = ["Hi"]', '2:1 caller.llama is not a known key'],
    [
      '[[scenario]]\nname = "a"\ncaller = []',
      '3:10 scenario[0].caller has no step; who only hears the greeting and hangs up is [{ hang_up = true }]',
    ],
  ])('refuses %j, with line and column', (text, message) => {
    const { file, problems } = read(text);
    expect(file).toBeUndefined();
    const shown = problems.map(({ line, column, message: said }) => `${line}:${column} ${said}`);
    expect(shown).toHaveLength(1);
    expect(shown[0]).toContain(message);
  });

  it('says every problem at once, and where the text is no TOML', () => {
    expect(messages('[[scenario]]\nname = 3\ncaller = [{ keys = "x" }]\nfoo = =\n')).toEqual([
      '2:8 scenario[0].name must be a text in quotes',
      '3:20 scenario[0].caller[0].keys must be 1 to 32 keys of 0-9 * # A-D',
      expect.stringMatching(/^4:\d+ not valid TOML/),
    ]);
  });
});
