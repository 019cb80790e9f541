/** Rehearsals whose LLM is scripted: they need no key and no network, and say where the script and the agent disagree. */
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { runRehearse } from '../../../cli/rehearsal/scenarios/rehearse-command.ts';

const agent = `
[agent]
name = "desk"
prompt = "You book tables."
greeting = "Hello."
tools = ["book_table", "end_call"]
[agent.confirm]
ask = "Shall I book that?"
[[tools]]
name = "book_table"
description = "Books a table."
kind = "side_effect"
confirm = true
[tools.parameters]
type = "object"
required = ["people"]
properties = { people = { type = "integer" } }
[tools.http]
method = "POST"
url = "https://booking.example.com/tables"
headers_env = { Authorization = "BOOKING_AUTH" }
body = { people = "{people}" }
[stt]
provider = "deepgram"
api_key_env = "STT_KEY"
[llm]
provider = "chat_compatible"
api_key_env = "LLM_KEY"
chat_compatible = { preset = "groq" }
[tts]
provider = "deepgram_aura"
api_key_env = "STT_KEY"
`;

async function rehearse(scenario: string) {
  let out = '';
  const errors: string[] = [];
  const status = await runRehearse(['s.toml', 'a.toml'], {
    env: {},
    clock: systemClock,
    readFile: (path) =>
      ({ 's.toml': `real_tools = false\n[[scenario]]\nname = "one"\n${scenario}`, 'a.toml': agent })[path],
    readBytes: () => undefined,
    output: { write: (text) => void (out += text) },
    writeError: (line) => void errors.push(line),
  });
  return { status, out, errors: errors.join('\n') };
}

const booked = '[[scenario.tool]]\nname = "book_table"\nresult = "booked"\n';

describe('a scripted model', () => {
  it('books a table after a yes, without a key, a network or a delay', async () => {
    const { status, out, errors } = await rehearse(`caller = [
      { say = "A table for four.", model = [{ call = "book_table", arguments = { people = 4 } }], expect = { says = ["Shall I book"] } },
      { say = "Yes.", model = ["It is booked."], expect = { says = ["It is booked."] } },
      { say = "Goodbye.", model = [{ say = "Bye.", call = "end_call" }] },
    ]
    expect = { calls = [{ name = "book_table", arguments = { people = 4 }, times = 1 }], ended_by = "agent" }
    ${booked}`);
    expect([status, errors], out).toEqual([0, '']);
    expect(out).toMatch(/^ok {6}one \(3 turns/);
  });

  it('runs a tool in the step whose yes lets it run, not in the one that asks for it', async () => {
    const { status, out } = await rehearse(`caller = [
      { say = "A table for four.", model = [{ call = "book_table", arguments = { people = 4 } }], expect = { never_calls = ["book_table"] } },
      { say = "Yes.", model = ["It is booked."], expect = { calls = [{ name = "book_table", times = 1 }] } },
    ]
    expect = { calls = [{ name = "book_table", times = 1 }], says = ["nothing of the kind"] }
    ${booked}`);
    expect(status).toBe(1);
    expect(out).not.toContain('no call of book_table');
    expect(out).not.toContain('a call of book_table');
    expect(out).toMatch(/Shall I book that\?\n +caller: Yes\.\n +tool book_table/);
  });

  it('runs nothing after a no', async () => {
    const { status, out } = await rehearse(`caller = [
      { say = "A table for four.", model = [{ call = "book_table", arguments = { people = 4 } }] },
      { say = "No.", model = ["I have booked nothing."] },
    ]
    expect = { never_calls = ["book_table"], says = ["I have booked nothing."] }
    ${booked}`);
    expect(status, out).toBe(0);
  });

  it('does what the agent does with arguments that break the schema: nothing is run', async () => {
    const { status, out } = await rehearse(`caller = [
      { say = "A table.", model = [{ call = "book_table", arguments = { people = "many" } }, "For how many?"] },
    ]
    expect = { never_calls = ["book_table"], says = ["For how many?"] }
    ${booked}`);
    expect(status, out).toBe(0);
  });

  it('answers each step for itself, also after an interruption', async () => {
    const { status, out } = await rehearse(`caller = [
      { say = "Tell me everything.", model = ["There is a lot to tell about the tables that we have here today."] },
      { say = "Stop please.", interrupt_after_words = 3, model = ["All right."], expect = { says = ["All right."] } },
    ]`);
    expect(status, out).toBe(0);
  });

  it.each([
    [
      'answers that are missing',
      'caller = [{ say = "Hi.", model = ["Hello."] }, "And now?"]',
      'step 2: the model was asked, and the step has no answer',
    ],
    [
      'one answer too few',
      `caller = [{ say = "Bye.", model = [{ call = "book_table", arguments = { people = "x" } }] }]\n${booked}`,
      'step 1: the model was asked once more than the step has answers (1)',
    ],
    [
      'answers that nobody asked for',
      'caller = [{ say = "Hi.", model = ["Hello.", "More.", "More."] }]',
      'step 1: the model was not asked for its last 2 answers',
    ],
    [
      'a tool that is not offered',
      'caller = [{ say = "Hi.", model = [{ call = "bok_table" }] }]',
      'step 1: the model calls bok_table, which it is not offered here; it is offered end_call, book_table',
    ],
  ])('fails for %s, and says at which step', async (_, scenario, failure) => {
    const { status, out } = await rehearse(scenario);
    expect(status).toBe(1);
    expect(out).toContain(`        ${failure}\n`);
  });

  it.each([
    ['[3]', 'scenario[0].caller[0].model[0] must be a text or a table such as { call = "end_call" }'],
    ['[{ }]', 'scenario[0].caller[0].model[0] must have say, call or both'],
    [
      '[{ say = "x", arguments = { } }]',
      'scenario[0].caller[0].model[0].arguments is for a call and stands beside none',
    ],
    ['[{ sya = "x" }]', 'scenario[0].caller[0].model[0].sya is not a known key; did you mean "say"?'],
    ['[]', 'scenario[0].caller[0].model must not be empty'],
  ])('refuses %s as answers', async (answers, problem) => {
    const { status, errors } = await rehearse(`caller = [{ say = "Hi.", model = ${answers} }]`);
    expect(status).toBe(2);
    expect(errors).toContain(problem);
  });

  it('needs the key of the LLM as soon as one scenario asks it', async () => {
    const { status, errors } = await rehearse('caller = ["Hi."]');
    expect(status).toBe(2);
    expect(errors).toContain('LLM_KEY');
  });
});
