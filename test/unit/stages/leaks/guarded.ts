/** A round of an LLM as the engine gets it, without what leaks of the model's own form. */
import fc from 'fast-check';
import { expect } from 'vitest';
import type { LeakHabit } from '../../../../worker/stages/llm/leak-filter.ts';
import { LeakGuard } from '../../../../worker/stages/llm/leak-guard.ts';
import { OfferedTools } from '../../../../worker/stages/llm/leaked-calls.ts';
import type { LlmEvent } from '../../../../worker/stages/stage.ts';

const properties = { x: { type: 'string' }, n: { type: 'integer' } };
const tool = (name: string, schema: object): { name: string; description: string; parameters: never } => ({
  name,
  description: 'd',
  parameters: schema as never,
});
export const tools = new OfferedTools([
  tool('get', { type: 'object', properties, required: ['x'] }),
  tool('book', { type: 'object', properties: { 'party-size': { type: 'integer' } } }),
  tool('end_call', { type: 'object' }),
]);

interface Given {
  readonly said: string;
  /** `get {"x":"one"}` */
  readonly calls: readonly string[];
  readonly finish: string | undefined;
}

/** What comes out of a round that gives this text in these parts, and then these events. */
export function guarded(
  parts: readonly string[],
  {
    events = [],
    finish = 'stop',
    habit = { thinksFirst: false, isKnown: true },
    thinksApart = () => false,
  }: {
    events?: readonly LlmEvent[];
    finish?: 'stop' | 'length';
    habit?: LeakHabit;
    thinksApart?: () => boolean;
  } = {},
): Given {
  let said = '';
  let ended: string | undefined;
  const calls: { name: string; args: string }[] = [];
  let next = 0;
  const guard = new LeakGuard({
    tools,
    habit,
    thinksApart,
    nextId: () => `call_${next++}`,
    emit: (event) => {
      if (event.type === 'text') said += event.text;
      else if (event.type === 'done') ended = event.finish;
      else if (event.type === 'tool-call') {
        const call = (calls[event.index] ??= { name: event.name ?? '', args: '' });
        call.args += event.arguments;
      }
    },
  });
  for (const text of parts) guard.take({ type: 'text', text });
  for (const event of events) guard.take(event);
  guard.take({ type: 'done', finish, usage: undefined });
  return { said, calls: calls.map(({ name, args }) => `${name} ${args}`), finish: ended };
}

/** The same for every cut into two, character by character, and for cuts by chance. */
export function sameForAnyCut(text: string, expected: Given): void {
  expect(guarded([text])).toEqual(expected);
  expect(guarded(text.split(''))).toEqual(expected);
  for (let at = 1; at < text.length; at += 1)
    expect(guarded([text.slice(0, at), text.slice(at)]), `cut at ${at}`).toEqual(expected);
  fc.assert(
    fc.property(fc.array(fc.nat(text.length), { maxLength: 12 }), (cuts) => {
      const places = [0, ...cuts.sort((a, b) => a - b), text.length];
      expect(guarded(places.slice(1).map((end, at) => text.slice(places[at], end)))).toEqual(expected);
    }),
    { numRuns: 30 },
  );
}
