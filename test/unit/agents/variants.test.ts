/** Stages that calls have otherwise: opened once for those that have the same, and closed when they are not needed. */
import { describe, expect, it } from 'vitest';
import type { AgentDefinition } from '../../../shared/config/agent-file.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { Variants } from '../../../worker/agents/variants.ts';
import { callSettings, knownTexts } from '../../../worker/host/definition.ts';
import { ToolRegistry } from '../../../worker/tools/registry.ts';
import { newFakeWorld } from '../../support/fakes/fake-call.ts';
import { goodFile, load } from '../config/agent-text.ts';

const features = { turnModel: false, replayMs: 1_000 };

/** A flow whose second node has a voice, and whose third one a language. */
const flow = `
[flow]
start = "a"
[flow.nodes.a]
prompt = "A."
max_turns = 1
otherwise = "b"
[flow.nodes.b]
prompt = "B."
voice = "anna"
max_turns = 1
otherwise = "c"
[flow.nodes.c]
prompt = "C."
language = "de"
`;

function newVariants({ withFlow = false } = {}) {
  const file = withFlow ? `${goodFile.replace(/prompt = .*\n/, '')}${flow}` : goodFile;
  const text = `${file}\n[overrides]\nallow = ["agent.*", "tts.voice", "turn.*", "llm.model"]\n`;
  const { definition } = load(text);
  if (definition === undefined) throw new Error('the file is good');
  const world = newFakeWorld();
  const opened: AgentDefinition[] = [];
  const texts: ReturnType<typeof knownTexts>[] = [];
  let closed = 0;
  const base = { ...world.services, settings: callSettings(definition, features) };
  const { services } = world;
  const variants = new Variants({
    agent: {
      definition,
      version: 'v1',
      adapters: { stt: new Map(), llm: new Map(), tts: new Map() },
      env: {},
      packages: new Map(),
    },
    features,
    base,
    registry: new ToolRegistry(
      { tools: [], mcp: [], telephony: definition.telephony },
      { clock: systemClock, log: services.log },
    ),
    openStages: (one, known) => {
      opened.push(one);
      texts.push(known);
      const { stt, llm, tts } = services;
      return {
        services: { stt: { ...stt }, llm: { ...llm }, tts: { ...tts } },
        close: () => Promise.resolve(void (closed += 1)),
      };
    },
  });
  return { variants, opened, texts, base, closed: () => closed };
}

describe('an agent as single calls have it', () => {
  it('keeps the stages of the agent where they are the same', () => {
    const { variants, opened, base } = newVariants();
    const { services } = variants.vary({
      'agent.greeting': 'Hi.',
      'agent.prompt': 'Other.',
      'turn.idle.end_after': 5,
    });
    expect(opened).toEqual([]);
    expect([services.tts, services.llm]).toEqual([base.tts, base.llm]);
    expect(services.settings).toMatchObject({ greeting: 'Hi.', prompt: 'Other.', idle: { endAfter: 5 } });
  });

  it('opens others once for all calls that have the same', () => {
    const { variants, opened } = newVariants();
    const one = variants.vary({ 'tts.voice': 'other', 'agent.greeting': 'For Ada.' });
    const two = variants.vary({ 'tts.voice': 'other', 'agent.greeting': 'For Berta.' });
    const third = variants.vary({ 'tts.voice': 'third' });
    expect(opened.map(({ tts }) => tts?.voice)).toEqual(['other', 'third']);
    expect(one.services.tts).toBe(two.services.tts);
    expect(one.services.tts).not.toBe(third.services.tts);
  });

  it('makes no line ahead of time that is one call', () => {
    const { variants, texts } = newVariants();
    variants.vary({ 'tts.voice': 'other', 'agent.greeting': 'For Ada alone.' });
    expect(texts[0]?.texts.length).toBeGreaterThan(0);
    expect(texts[0]?.texts).not.toContain('For Ada alone.');
  });

  it('has lines of its own where the language is another one', () => {
    const { variants, opened, texts } = newVariants();
    const { services } = variants.vary({ 'agent.language': 'de' });
    expect(opened).toHaveLength(1);
    expect(texts[0]?.farewell.join(' ')).toMatch(/Wiederh/);
    expect(services.carriers.language).toBe('de');
  });

  it('keeps a bounded number of them without a call, and those with one', async () => {
    const { variants, opened, closed } = newVariants();
    const held = variants.vary({ 'tts.voice': 'held' });
    for (let at = 0; at < 40; at += 1) variants.vary({ 'tts.voice': `v${at}` }).release();
    expect([opened.length, closed()]).toEqual([41, 24]);
    variants.vary({ 'tts.voice': 'held' }).release();
    expect(opened).toHaveLength(41);
    held.release();
    await variants.close();
    expect(closed()).toBe(41);
  });
});

describe('an agent in a node of its flow', () => {
  it('has what the node has of its own, above what the call has otherwise, and the call has it again behind it', () => {
    const { variants } = newVariants({ withFlow: true });
    const given = { 'tts.voice': 'other', 'agent.greeting': 'Hi.' };
    const voices: unknown[] = [];
    const at = (node?: string) => {
      const { services, applied, problems } = variants.vary(given, node);
      expect([applied, problems]).toEqual([given, []]);
      return services;
    };
    const [first, second, third] = [at('a'), at('b'), at('c')];
    voices.push(first.tts === at('a').tts, first.tts === second.tts, second.tts === third.tts);
    expect(voices).toEqual([true, false, false]);
    expect(second.settings.greeting).toBe('Hi.');
    expect(third.settings.languages).toEqual(['de']);
    expect(at(undefined).tts).toBe(first.tts);
  });

  it('keeps the stages of the agent that are the same there', () => {
    const { variants, base } = newVariants({ withFlow: true });
    const [own, voiced, german] = ['a', 'b', 'c'].map((node) => variants.vary({}, node).services);
    expect(own).toBe(base);
    expect([voiced?.stt, voiced?.llm]).toEqual([base.stt, base.llm]);
    expect(voiced?.tts).not.toBe(base.tts);
    expect(german?.llm).toBe(base.llm);
    expect(german?.stt).not.toBe(base.stt);
  });

  it('does not become anything that the flow does not have', () => {
    const { variants, base } = newVariants({ withFlow: true });
    expect(variants.vary({}, 'constructor').services).toBe(base);
  });
});
