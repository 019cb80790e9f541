/** What a single call has otherwise than its agent file says. */
import { describe, expect, it } from 'vitest';
import { overridable } from '../../../shared/agents/overridable.ts';
import type { Overrides } from '../../../shared/agents/overrides.ts';
import { varyAgent } from '../../../shared/agents/vary.ts';
import { goodFile, errorsOf, load } from '../config/agent-text.ts';

const fileWith = (allow: readonly string[], more = '', file = goodFile): string =>
  `${file}\n[overrides]\nallow = ${JSON.stringify(allow)}\n${more}`;

const everything = ['agent.*', 'turn.*', 'stt.*', 'llm.*', 'tts.*'];

function vary(given: Overrides, allow: readonly string[] = everything, more = '', file = goodFile) {
  const { definition, problems } = load(fileWith(allow, more, file));
  if (definition === undefined) throw new Error(JSON.stringify(problems));
  return { base: definition, ...varyAgent(definition, given, { env: {} }) };
}

describe('[overrides] allow', () => {
  it.each([
    'agent.greeting',
    'tools',
    'turn.*',
    'turn.idle.*',
    'llm.model',
    'tts.secondary.voice',
    'stt.keyterms',
  ])('may be %s', (path) => {
    expect(errorsOf(fileWith([path]))).toEqual([]);
  });

  it.each([
    ...[
      'agent.name',
      'agent.prompt_file',
      'agent.announcement',
      'agent.nothing',
      'mcp.*',
      'tools.*',
      'telephony.*',
    ],
    ...['llm.provider', 'llm.api_key_env', 'llm.base_url', 'tts.url', 'stt.path_and_query', 'llm.preset'],
    ...['before_call.url', 'recording.consent', 'agent_link.url', 'limits.*', 'overrides.allow', 'routing.*'],
  ])('is refused for %s, which is no business of a call', (path) => {
    expect(errorsOf(fileWith([path]))).toEqual([
      'overrides.allow[0] is no key that a call may have otherwise (docs/overrides.md)',
    ]);
  });

  it.each(['*', '.*', 'agent', '__proto__.*', 'agent..greeting', 'Agent.greeting'])(
    'is no path: %s',
    (path) => {
      expect(errorsOf(fileWith([path]))).toHaveLength(1);
    },
  );

  it('never names an address, a key, a provider or a file', () => {
    expect(
      [...overridable].filter((path) => /url|env|provider|file|preset|path|region|name$/.test(path)),
    ).toEqual([]);
  });
});

describe('a call', () => {
  it('has what it may have otherwise, and the rest of its agent', () => {
    const { base, definition, applied, problems } = vary({
      'agent.greeting': 'Hello Ada.',
      'agent.prompt': 'You know Ada.',
      'tts.voice': 'other',
      'llm.model': 'large',
      'turn.idle.ask_after_s': 30,
    });
    expect(problems).toEqual([]);
    expect(Object.keys(applied)).toHaveLength(5);
    expect(definition.agent).toEqual({ ...base.agent, greeting: 'Hello Ada.', prompt: 'You know Ada.' });
    expect(definition.tts).toMatchObject({ voice: 'other', options: { preset: 'local_b' } });
    expect(definition.llm?.options).toMatchObject({ model: 'large', baseUrl: 'http://127.0.0.1:11434/v1' });
    expect(definition.turn.idle.askAfterS).toBe(30);
    expect(definition.tools).toBe(base.tools);
  });

  it('speaks the lines of the language that it has', () => {
    const { definition } = vary({ 'agent.language': 'de' });
    expect(definition.agent.languages).toEqual(['de']);
    expect(definition.stt?.language).toBe('de');
    expect(definition.agent.apology).toMatch(/^Entschuldigung|Tut mir/);
  });

  it('has no more than the file allows, and what is wrong is told by key and rule', () => {
    const { base, definition, applied, problems } = vary(
      {
        'agent.greeting': 'x'.repeat(1001),
        'agent.prompt': 'No.',
        'tts.voice': 7,
        'agent.farewell': 'Bye.',
        'a b': 1,
      },
      ['agent.greeting', 'tts.voice', 'agent.farewell'],
    );
    expect(problems).toEqual([
      'overrides.agent.prompt is not allowed by the agent file',
      'a name in overrides is no key that a call may have otherwise',
      'overrides.agent.greeting must be at most 1000 characters long',
      'overrides.tts.voice must be a text in quotes',
    ]);
    expect(applied).toEqual({ 'agent.farewell': 'Bye.' });
    expect(definition.agent).toEqual({ ...base.agent, farewell: 'Bye.' });
  });

  it.each<readonly [string, Overrides, string]>([
    ['a rule between keys', { 'turn.stop_ms': 9_000, 'turn.silence_end_ms': 100 }, 'turn.stop_ms'],
    [
      'a rule with the file',
      { 'turn.interrupt.sure_speech_ms': 5_000 },
      'at most turn.interrupt.min_speech_ms',
    ],
    ['a variable that is none', { 'agent.greeting': 'Hello {{name}}' }, 'holds {{'],
    ['a tool that is not there', { tools: ['drop_tables'] }, 'overrides.tools must be the name of a tool'],
    ['an option of another provider', { 'tts.stability': 0.5 }, 'is not a known key'],
    ['null', { 'agent.greeting': null }, 'must be a text'],
    ['a table for a text', { 'agent.greeting': { a: 1 } }, 'must be a text'],
    ['a language that is none', { 'agent.language': '../de' }, 'must be a language tag'],
  ])('does without what breaks %s', (_, given, rule) => {
    const { base, definition, problems } = vary(given);
    expect(problems.join('\n')).toContain(rule);
    expect(definition.agent).toEqual(base.agent);
  });

  it('keeps what is right beside a rule between keys that is broken', () => {
    const { definition, applied } = vary({ 'turn.stop_ms': 20_000, 'agent.greeting': 'Hi.' });
    expect(applied).toEqual({ 'agent.greeting': 'Hi.' });
    expect(definition.agent.greeting).toBe('Hi.');
  });

  it('is not led out of its tables by a name', () => {
    const given = JSON.parse(
      '{"__proto__":{"x":1},"constructor.prototype":1,"agent.__proto__":{"x":1}}',
    ) as Overrides;
    const { base, definition, applied } = vary(given);
    expect([definition, Object.keys(applied)]).toEqual([base, []]);
    expect(Reflect.get({}, 'x')).toBeUndefined();
  });

  it('has nothing otherwise where the file does not say so', () => {
    const { definition } = load(goodFile);
    const varied = varyAgent(definition!, { 'agent.greeting': 'Hi.' }, { env: {} });
    expect(varied).toEqual({
      definition,
      applied: {},
      problems: ['overrides are not allowed by the agent file'],
    });
  });

  it('has at most 32', () => {
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`agent.x${at}`, 1]));
    expect(vary(many).problems[0]).toBe('overrides must have at most 32 entries; the rest was left out');
    expect(vary(many).problems).toHaveLength(33);
  });

  it('keeps the prompt of a file, and changes it', () => {
    const file = goodFile.replace('prompt = "Be brief."', 'prompt_file = "p.md"');
    const readFile = (): string => 'From the file.';
    const { definition } = load(fileWith(everything, '', file), { readFile });
    const kept = varyAgent(definition!, { 'agent.greeting': 'Hi.' }, { env: {} });
    expect(kept.definition.agent.prompt).toBe('From the file.');
    const other = varyAgent(definition!, { 'agent.prompt': 'Other.' }, { env: {} });
    expect([other.problems, other.definition.agent.prompt]).toEqual([[], 'Other.']);
  });

  it('keeps the key of its provider', () => {
    const file = goodFile.replace('[llm.chat_compatible]', 'api_key_env = "MY_KEY"\n[llm.chat_compatible]');
    const { definition } = load(fileWith(everything, '', file), { env: { MY_KEY: 'abc' } });
    const varied = varyAgent(definition!, { 'llm.model': 'large' }, { env: { MY_KEY: 'abc' } });
    expect(varied.definition.llm?.apiKey?.reveal()).toBe('abc');
  });
});
