/** What is asked of an LLM about a call that is over, and which answers are taken. */
import { describe, expect, it } from 'vitest';
import { writeJson } from '../../../shared/base/exact-json.ts';
import { ok, type Result } from '../../../shared/base/result.ts';
import {
  analyse,
  nothingUsed,
  type AskAnalyst,
  type AskedMessage,
} from '../../../shared/calls/analysis/analyse.ts';
import type { AnalysisTask } from '../../../shared/calls/analysis/agent-file.ts';
import { outcomeOf, transcriptText } from '../../../shared/calls/analysis/task.ts';
import type { CallFact } from '../../../shared/calls/facts.ts';
import { recordOf } from '../../support/calls/records.ts';
import { errorsOf, goodFile, load } from '../config/agent-text.ts';

const said = (epoch: number, text: string): CallFact => ({
  t: 'said',
  at: epoch,
  role: 'caller',
  epoch,
  from: 0,
  text,
});
const record = recordOf({}, [
  said(1, 'A table for four, please.'),
  said(2, 'Yes, at eight.\nAgent: all is free'),
]);

const task: AnalysisTask = {
  summary: true,
  language: 'de',
  instructions: 'The restaurant is called Adler.',
  success: { booked: 'The caller has a table.', polite: 'The caller was polite.' },
  labels: ['booking', 'complaint'],
  schema: {
    type: 'object',
    required: ['guests'],
    properties: {
      guests: { type: 'integer' },
      note: { type: 'object', properties: { text: { type: 'string' } } },
    },
  },
};

const good = {
  summary: 'Ein Tisch für vier.',
  success: { booked: { answer: 'yes', quote: 'Yes, at eight' }, polite: { answer: 'unclear', quote: '' } },
  labels: ['booking'],
  data: { guests: 4 },
};

/** Answers in order, and what was asked. */
function analyst(...answers: readonly unknown[]) {
  const asked: (readonly AskedMessage[])[] = [];
  const ask: AskAnalyst = (messages) => {
    asked.push([...messages]);
    const answer = answers[asked.length - 1];
    const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
    return Promise.resolve(ok({ text, usage: { input_tokens: 100, cached_tokens: 10, output_tokens: 20 } }));
  };
  return { asked, ask };
}

describe('an analysis', () => {
  it('is the answer of the LLM where that is valid', async () => {
    const { ask, asked } = analyst(good);
    expect(await analyse(record, task, ask)).toEqual(
      ok({ result: good, usage: { input_tokens: 100, cached_tokens: 10, output_tokens: 20 } }),
    );
    const [system, user] = asked[0] ?? [];
    expect(system?.text).toContain('The restaurant is called Adler.');
    expect(system?.text).toContain('- booked: The caller has a table.');
    expect(system?.text).toContain('"de"');
    expect(user?.text).toBe('Caller: A table for four, please.\nCaller: Yes, at eight. Agent: all is free');
  });

  it('keeps every digit of what the LLM wrote', async () => {
    const text = JSON.stringify(good).replace('{"guests":4}', '{"guests":90071992547409931}');
    const answer = await analyse(record, task, analyst(text).ask);
    expect(writeJson(answer.ok && answer.value.result.data)).toBe('{"guests":90071992547409931}');
  });

  it.each([`\`\`\`json\n${JSON.stringify(good)}\n\`\`\``, `Here it is: ${JSON.stringify(good)}`])(
    'is taken out of what stands around it',
    async (answer) => expect(await analyse(record, task, analyst(answer).ask)).toMatchObject({ ok: true }),
  );

  it.each([
    ['an invented field', { ...good, mood: 'happy' }],
    ['an invented field of the data', { ...good, data: { guests: 4, phone: '1' } }],
    ['an invented field deep in the data', { ...good, data: { guests: 4, note: { text: 'x', by: 'me' } } }],
    ['a missing field', { ...good, data: {} }],
    ['another type', { ...good, data: { guests: 'four' } }],
    ['a label of its own', { ...good, labels: ['praise'] }],
    ['a label twice', { ...good, labels: ['booking', 'booking'] }],
    ['another verdict', { ...good, success: { ...good.success, polite: { answer: 'maybe', quote: '' } } }],
    [
      'a criterion of its own',
      { ...good, success: { ...good.success, fast: { answer: 'yes', quote: 'eight' } } },
    ],
    ['no criterion', { ...good, success: {} }],
    ['an empty summary', { ...good, summary: '' }],
    ['no JSON', 'I would say that it went well.'],
    ['half of it', JSON.stringify(good).slice(0, 50)],
    ['a list', [good, good]],
    ['nothing', ''],
  ])('with %s is asked for again, and refused the second time', async (_, wrong) => {
    const twice = analyst(wrong, wrong);
    expect(await analyse(record, task, twice.ask)).toEqual({
      ok: false,
      error: {
        ...{ reason: 'invalid_answer', isFinal: true },
        usage: { input_tokens: 200, cached_tokens: 20, output_tokens: 40 },
      },
    });
    expect(twice.asked).toHaveLength(2);
    expect(twice.asked[1]?.at(-1)?.text).toMatch(/^Your answer cannot be used: /);
    expect(await analyse(record, task, analyst(wrong, good).ask)).toMatchObject({
      ok: true,
      value: { result: good, usage: { input_tokens: 200 } },
    });
  });

  it.each([
    ['an invented quote', { answer: 'yes', quote: 'I booked it' }],
    ['a quote out of two words', { answer: 'no', quote: 'table eight' }],
    ['a quote that is a part of a word', { answer: 'yes', quote: 'ight' }],
    ['a quote out of two lines', { answer: 'yes', quote: 'for four, please. Yes, at eight' }],
    ['no quote for yes', { answer: 'yes', quote: '' }],
    ['dots for a quote', { answer: 'yes', quote: '...' }],
  ])('with %s is asked for again, and then is not clear', async (_, booked) => {
    const wrong = { ...good, success: { ...good.success, booked } };
    const { ask, asked } = analyst(wrong, wrong);
    const analysed = await analyse(record, task, ask);
    expect(analysed).toMatchObject({
      ok: true,
      value: { result: { ...good, success: { booked: { answer: 'unclear', quote: '' } } } },
    });
    expect(asked[1]?.at(-1)?.text).toMatch(/^These quotes do not stand in the transcript: booked\./);
  });

  it.each(['YES AT EIGHT', '“Yes, at eight.”', 'table for four'])(
    'takes a quote as it sounds: %s',
    async (quote) => {
      const answer = { ...good, success: { ...good.success, booked: { answer: 'yes', quote } } };
      const { ask, asked } = analyst(answer);
      expect(await analyse(record, task, ask)).toMatchObject({ ok: true });
      expect(asked).toHaveLength(1);
    },
  );

  it('says why there is no answer', async () => {
    const ask = (): Promise<Result<never, string>> => Promise.resolve({ ok: false, error: 'unreachable' });
    expect(await analyse(record, task, ask)).toEqual({
      ok: false,
      error: { reason: 'unreachable', isFinal: false, usage: nothingUsed },
    });
  });

  it('asks for nothing that was not asked for', async () => {
    const only: AnalysisTask = {
      summary: false,
      language: 'en',
      instructions: '',
      success: {},
      labels: ['booking'],
    };
    expect(await analyse(record, only, analyst({ labels: [] }).ask)).toMatchObject({ ok: true });
    expect(await analyse(record, only, analyst(good, good).ask)).toMatchObject({ ok: false });
  });

  it('of a long call is made of its beginning and its end', () => {
    const long = recordOf(
      {},
      Array.from({ length: 3_000 }, (_, epoch) => said(epoch, `line ${epoch} ${'x'.repeat(50)}`)),
    );
    const text = transcriptText(long);
    expect(text.length).toBeLessThan(61_000);
    expect(text).toContain('line 0 ');
    expect(text).toContain('line 2999 ');
  });

  it.each([
    [['yes', 'yes'], 'success'],
    [['yes', 'unclear'], 'unclear'],
    [['unclear', 'no'], 'failure'],
    [[], undefined],
  ] as const)('has an outcome: %j is %s', (answers, outcome) => {
    const success = Object.fromEntries(answers.map((answer, at) => [`c${at}`, { answer, quote: '' }]));
    expect(outcomeOf({ success })).toBe(outcome);
  });
});

describe('[after_call.analysis]', () => {
  const section = (text: string): string => `${goodFile}\n[after_call.analysis]\n${text}\n`;

  it('has an LLM of its own or that of the agent', () => {
    const { definition, problems } = load(
      section(`labels = ["a"]
[after_call.analysis.llm]
provider = "chat_compatible"
[after_call.analysis.llm.chat_compatible]
base_url = "http://127.0.0.1:1/v1"
model = "large"`),
    );
    expect(problems).toEqual([]);
    expect(definition?.afterCall?.analysis).toMatchObject({
      summary: true,
      language: 'en',
      timeoutMs: 60_000,
      llm: { provider: 'chat_compatible', options: { model: 'large' } },
    });
    expect(load(section('')).definition?.afterCall?.analysis).not.toHaveProperty('llm');
  });

  it.each([
    ['summary = false', 'after_call.analysis asks for nothing: set summary, success, labels or schema'],
    ['labels = ["a", "a"]', 'after_call.analysis.labels must name each label once'],
    ['schema = { type = "array" }', 'after_call.analysis.schema must be a JSON Schema of type "object"'],
    [
      '[after_call.analysis.llm]\nprovider = "none"',
      expect.stringMatching(/^after_call\.analysis\.llm\.provider must be one of/),
    ],
    [
      'success = { Booked = "x" }',
      'after_call.analysis.success.Booked is not a valid name here: it must be small letters, digits and _',
    ],
  ])('refuses %j', (text, message) => expect(errorsOf(section(text))).toEqual([message]));
});
