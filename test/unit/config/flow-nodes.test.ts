/** What a node of a flow has of its own: voice, LLM and language, checked with the rest of the file. */
import { describe, expect, it } from 'vitest';
import { errorsOf, goodFile, load } from './agent-text.ts';

const flow = (lines: string, file = goodFile): string => `${file.replace(/prompt = .*\n/, '')}
[flow]
start = "a"
[flow.nodes.a]
prompt = "You welcome."
[[flow.nodes.a.next]]
to = "b"
when = "it is late"
[flow.nodes.b]
prompt = "You part."
${lines}
`;
const ownOf = (text: string) => load(text).definition?.flow?.nodes['b']?.own;

describe('a node of a flow', () => {
  it('has nothing of its own where it says nothing', () => {
    const { definition } = load(flow(''));
    expect(definition?.flow?.nodes['b']).not.toHaveProperty('own');
    expect(definition).not.toHaveProperty('overrides');
  });

  it('may have a voice, an LLM and a language', () => {
    const text = flow('voice = "anna"\nllm = "large"\nlanguage = "de"');
    expect(errorsOf(text)).toEqual([]);
    expect(ownOf(text)).toEqual({ 'tts.voice': 'anna', 'llm.model': 'large', 'agent.language': 'de' });
  });

  it('lets no call have anything otherwise by that', () => {
    expect(load(flow('voice = "anna"')).definition?.overrides?.allow).toEqual([]);
  });

  it('has its language in stages that have one of their own, too', () => {
    const heard = goodFile.replace('[stt.stt_local_ws]', 'language = "en"\n[stt.stt_local_ws]');
    expect(ownOf(flow('language = "de"', heard))).toEqual({ 'agent.language': 'de', 'stt.language': 'de' });
  });

  it.each([
    ['language = "deutsch!"', 'flow.nodes.b.language must be a language tag such as "en" or "en-US"'],
    ['voice = ""', 'flow.nodes.b.voice must not be empty'],
    ['llm = 7', 'flow.nodes.b.llm must be a text in quotes'],
    ['voices = "anna"', 'flow.nodes.b.voices'],
  ])('refuses %j', (lines, message) => {
    expect(errorsOf(flow(lines)).join('; ')).toContain(message);
  });

  it('has neither beside a model that hears and speaks by itself', () => {
    const { problems } = load(
      flow(
        'voice = "anna"\nlanguage = "de"',
        '[agent]\nname = "desk"\n[realtime]\nprovider = "openai_realtime"\napi_key_env = "K"\n[realtime.openai_realtime]\nmodel = "m"\n',
      ),
    );
    const told = problems.map(({ message }) => message);
    expect(told).toContain('flow.nodes.b.voice has no meaning beside [realtime]');
    expect(told).toContain('flow.nodes.b.language has no meaning beside [realtime]');
  });
});
