/** What a model that hears and speaks asks of the rest of the agent file: what is refused, warned of, and told as missing. */
import { describe, expect, it } from 'vitest';
import {
  callSettings,
  speechRateOf,
  speechSettings,
  stageDefinitions,
} from '../../../worker/host/definition.ts';
import { varyAgent } from '../../../shared/agents/vary.ts';
import { errorsOf, goodFile, load } from './agent-text.ts';

const agent = '[agent]\nname = "desk"\nprompt = "Be brief."\n';
const model = (keys = ''): string => `[realtime]\nprovider = "gemini_live"\napi_key_env = "K"\n${keys}\n`;
const writing = '[realtime]\nprovider = "openai_realtime"\napi_key_env = "K"\n';
const section = (name: 'stt' | 'llm' | 'tts'): string => {
  const from = goodFile.indexOf(`[${name}]`);
  const to = goodFile.indexOf('\n\n', from);
  return `${goodFile.slice(from, to < 0 ? undefined : to)}\n`;
};
const told = (text: string): string[] =>
  load(text, { env: { K: 'k' } }).problems.map(({ severity, message }) => `${severity}: ${message}`);
const tool = (confirm: string): string =>
  `[[tools]]\nname = "pay"\ndescription = "Pays."\nkind = "side_effect"\n${confirm}\n[tools.http]\nurl = "https://a.example/pay"\n`;

describe('a model alone', () => {
  it('is an agent, and told is what it lacks', () => {
    expect(told(`${agent}${model()}`)).toEqual([
      'note: realtime reads the scripted lines too: without [tts] they may differ by a word, and none is heard where the model fails',
      'note: realtime answers alone: without [llm] a call ends where the model fails',
      'note: realtime is heard by itself alone: without [stt] nobody hears the caller where the model fails, or hears an operator',
    ]);
    const { definition } = load(`${agent}${model()}`);
    expect(definition?.realtime?.words).toBe('vendor');
    expect(stageDefinitions(definition!)).toMatchObject({ stt: undefined, llm: undefined, tts: undefined });
    expect(speechRateOf(definition!)).toBe(24_000);
    expect(callSettings(definition!, { turnModel: false, replayMs: 0 })).toMatchObject({
      maxToolRounds: 6,
      contextWindowTokens: 4000,
    });
  });

  it.each([
    ['stt', 'without [stt] nobody hears the caller where the model fails'],
    ['llm', 'without [llm] a call ends where the model fails'],
    ['tts', 'without [tts] they may differ by a word'],
  ] as const)('that lacks [%s] alone is told so alone', (missing, note) => {
    const sections = (['stt', 'llm', 'tts'] as const).filter((name) => name !== missing).map(section);
    expect(told(`${agent}${sections.join('\n')}${model()}`)).toEqual([expect.stringContaining(note)]);
  });

  it('needs a voice of its own for text, and for words that must be said as they stand', () => {
    expect(errorsOf(`${agent}${model('output = "text"')}`)).toEqual([
      'realtime.output needs the section [tts] when it is "text"',
    ]);
    expect(errorsOf(`${agent}${model()}[recording]\nconsent = "We record this call."\n`)).toEqual([
      'recording.consent needs the section [tts]: the model may say it in other words',
    ]);
  });

  it('needs an LLM for the analysis of its calls', () => {
    const asked = `${agent}${model()}[after_call.analysis]\nsummary = true\n`;
    expect(errorsOf(asked)).toContain('after_call.analysis.llm is required where the file has no [llm]');
  });

  it('may have something otherwise in a call', () => {
    const file = `${agent}${model()}[overrides]\nallow = ["agent.prompt"]\n`;
    const { definition } = load(file, { env: { K: 'k' } });
    const varied = varyAgent(definition!, { 'agent.prompt': 'Be long.' }, { env: { K: 'k' } });
    expect(varied.problems).toEqual([]);
    expect(varied.definition).toMatchObject({ agent: { prompt: 'Be long.' }, realtime: { words: 'vendor' } });
  });
});

it('asks for all three stages where no model speaks', () => {
  expect(errorsOf(agent)).toEqual(['stt', 'llm', 'tts'].map((name) => `${name} is a required section`));
});

describe('words that come late', () => {
  const late = `${goodFile}${model('words = "vendor"')}`;
  const rule =
    'needs words that come before the answer: with [stt] set realtime.words = "own", because a yes is read in them';

  it('cannot confirm a tool', () => {
    expect(errorsOf(`${late}${tool('confirm = true')}`)).toEqual([`tools[0].confirm ${rule}`]);
    expect(errorsOf(`${late}${tool('')}`)).toEqual([]);
    expect(errorsOf(`${goodFile}${model('words = "own"')}${tool('confirm = true')}`)).toEqual([]);
    expect(errorsOf(`${goodFile}${tool('confirm = true')}`)).toEqual([]);
  });

  it('cannot confirm a tool of a server', () => {
    const server = (confirm: string): string =>
      `[[mcp]]\nname = "shop"\nurl = "https://a.example/mcp"\nside_effects = ["pay"]\nconfirm = ${confirm}\n`;
    expect(errorsOf(`${late}${server('["pay"]')}`)).toEqual([`mcp[0].confirm ${rule}`]);
    expect(errorsOf(`${late}${server('[]')}`)).toEqual([]);
  });

  it.each(['min_words = 2', 'backchannels = ["mm-hmm"]', 'wordless_ms = 900'])(
    'do not judge an interruption: %s',
    (line) => {
      const [key = ''] = line.split(' ');
      const alone = `${agent}${model()}`;
      expect(told(`${alone}[turn.interrupt]\n${line}\n`)).toContain(
        `warning: turn.interrupt.${key} has no effect with realtime.words = "vendor" and without [stt]: words come too late to judge an interruption`,
      );
      expect(told(`${late}[turn.interrupt]\n${line}\n`)).toEqual([]);
      expect(told(`${goodFile}${model()}[turn.interrupt]\n${line}\n`)).toEqual([]);
    },
  );
});

it.each([
  ['the voice alone', `${agent}${model()}`, { minWords: 0, confirmMs: 600 }],
  ['words of [stt]', `${goodFile}${model('words = "vendor"')}`, { minWords: 1, confirmMs: 300 }],
  ['words of [stt] too', `${goodFile}${model()}`, { minWords: 1, confirmMs: 300 }],
  ['words that the model writes down beside the call', `${agent}${writing}`, { minWords: 1, confirmMs: 300 }],
])('%s judge an interruption', (_what, file, { minWords, confirmMs }) => {
  const { definition } = load(file, { env: { K: 'k' } });
  const features = { turnModel: false, replayMs: 0 };
  expect(callSettings(definition!, features).interrupt.minWords).toBe(minWords);
  expect(speechSettings(definition!, features).confirmMs).toBe(confirmMs);
});

describe('a model that writes down in a session of its own', () => {
  const features = { turnModel: false, replayMs: 0 };
  const interruptOf = (file: string) => callSettings(load(file).definition!, features).interrupt;

  it('does so where there is no [stt], and is waited for no longer than a word', () => {
    const { definition } = load(`${agent}${writing}`);
    expect(stageDefinitions(definition!).realtime).toMatchObject({ writesOver: true });
    expect(interruptOf(`${agent}${writing}`)).toMatchObject({ tellsLate: true, wordlessMs: 600 });
    expect(speechSettings(definition!, features).lastsMs).toEqual([600]);
    const short = '[turn.interrupt]\nwordless_ms = 400\nmin_words = 2\n';
    expect(interruptOf(`${agent}${writing}${short}`)).toMatchObject({ minWords: 2, wordlessMs: 400 });
    expect(told(`${agent}${writing}${short}`).filter((line) => line.startsWith('warning'))).toEqual([]);
    const never = '[turn.interrupt]\nwordless_ms = 0\n';
    expect(speechSettings(load(`${agent}${writing}${never}`).definition!, features).lastsMs).toEqual([]);
  });

  it.each([
    ['[stt] hears', `${goodFile}${writing}words = "vendor"\n`],
    ['answers with the end of a turn', `${agent}${model()}`],
  ])('does not where %s', (_what, file) => {
    expect(stageDefinitions(load(file, { env: { K: 'k' } }).definition!).realtime).toMatchObject({
      writesOver: false,
    });
    expect(interruptOf(file)).toMatchObject({ tellsLate: false, wordlessMs: 1_000 });
  });
});

describe('what has no effect beside a model that speaks', () => {
  it('is warned of', () => {
    const file = goodFile.replace(
      '[stt]',
      '[agent.pronounce]\n"Acme" = "ak mee"\n\n[turn]\nspeculate = true\n\n[stt]',
    );
    expect(told(file)).toEqual([]);
    expect(told(`${file}${model()}`)).toEqual([
      'warning: agent.pronounce has no effect with [realtime]: the model speaks by itself; realtime.output = "text" lets [tts] speak',
      'warning: turn.speculate has no effect with [realtime]: the model is given whole turns',
    ]);
    expect(told(`${file}${model('output = "text"')}`)).toHaveLength(1);
  });
});

it('a model that hears the caller reads what is hidden from an LLM: one of the two', () => {
  const hidden = '[privacy]\nredact = ["card"]\nhide_from_llm = true\n';
  expect(errorsOf(`${agent}${model()}${hidden}`, { env: { K: 'k' } })).toEqual([
    'privacy.hide_from_llm and [realtime] exclude each other: the model hears what the caller says',
  ]);
  expect(errorsOf(`${goodFile}\n${hidden}`)).toEqual([]);
});
