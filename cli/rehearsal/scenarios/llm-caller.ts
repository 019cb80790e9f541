/** A caller played by an LLM: it knows who it is and what it wants, hears what was said, and says the next line or hangs up. */
import { fail, ok, type Result } from '../../../shared/base/result.ts';
import type { ChatMessage, LlmStage, ToolDeclaration } from '../../../worker/stages/stage.ts';
import { askLlm, type AskOptions } from '../../../worker/stages/ask-llm.ts';
import type { ScenarioCaller } from './scenario.ts';
import type { TurnRecord } from '../transcript.ts';

type Persona = Pick<Extract<ScenarioCaller, { kind: 'llm' }>, 'persona' | 'goal'>;

const hangUpTool: ToolDeclaration = {
  name: 'hang_up',
  description: 'Ends the call. Use it after you said goodbye, or when nothing more can be gained.',
  parameters: { type: 'object', properties: {} },
};

const instructions = ({ persona, goal }: Persona): string =>
  `You play a person who calls on the phone. You are the caller; the other side is a voice agent that you know nothing about.
Who you are: ${persona}
What you want: ${goal}
Write only the words that this person says next: one or two short spoken sentences, no stage directions and no quotes.
Give details when you are asked for them, and make them up when you were given none. When you have what you want, or it cannot be
had, say goodbye and call hang_up.`;

const opening = '[The call is open. You speak first.]';

/** The conversation as the caller remembers it: its own lines are what it said, the agent's are what it heard. */
export function memoryOf(turns: readonly TurnRecord[]): ChatMessage[] {
  const messages: ChatMessage[] = [];
  for (const { caller, said } of turns) {
    if (caller !== undefined) messages.push({ role: 'assistant', text: caller });
    if (said !== '') messages.push({ role: 'user', text: said });
  }
  if (messages[0]?.role !== 'user') messages.unshift({ role: 'user', text: opening });
  if (messages.at(-1)?.role !== 'user') messages.push({ role: 'user', text: '[You hear nothing.]' });
  return messages;
}

export interface NextLine {
  /** Empty: nothing is said. */
  readonly text: string;
  readonly hangsUp: boolean;
}

/** What the caller does next. */
export async function nextLine(
  llm: LlmStage,
  { persona, turns }: { readonly persona: Persona; readonly turns: readonly TurnRecord[] },
  options: AskOptions,
): Promise<Result<NextLine, string>> {
  const answer = await askLlm(
    llm,
    {
      messages: [{ role: 'system', text: instructions(persona) }, ...memoryOf(turns)],
      tools: [hangUpTool],
    },
    options,
  );
  if (!answer.ok) return fail(answer.error);
  const { text, calls } = answer.value;
  return ok({ text, hangsUp: text === '' || calls.some(({ name }) => name === hangUpTool.name) });
}
