/**
 * What the LLM is asked with: the prompt of the agent or of the flow's node, the conversation so far, and what the running
 * answer has done already. And how a response enters the conversation: its tool calls always with their results, its text
 * only as far as it was heard.
 */
import type { ContextMessage, OfferedTool } from '../actions.ts';
import { narrowed } from '../answer/edits.ts';
import { flowPrompt, stepFlow, transitionsOf } from '../flow/flow.ts';
import { addHeard, addMessages, addUser, contextFor, type History, type Said } from './history.ts';
import { unfilled, type Response, type RoundPart } from '../answer/response.ts';
import type { Step, Slices } from '../state.ts';
import { tell, type HeardEnd } from '../told.ts';
import { takeAtSafePoint } from '../tools/tools-cut.ts';
import type { ToolPair } from '../tools/tools-state.ts';

function promptOf({
  conversation: { flow, edits },
  setup: { settings },
}: Slices<'setup' | 'conversation'>): string {
  if (edits.prompt !== undefined) return edits.prompt;
  return flow === undefined || settings.flow === undefined
    ? settings.prompt
    : flowPrompt(flow, settings.flow);
}

/** What the LLM is offered now. The transitions of a flow are no tools that an edit could take away: without them it would be stuck. */
export const offeredTools = ({
  setup: { settings },
  conversation: { flow, edits },
}: Slices<'setup' | 'conversation'>): readonly OfferedTool[] =>
  narrowed(edits, settings.tools.declarations(flow?.node), transitionsOf(flow, settings.flow));

/** The messages of a request; `behind` follows the conversation. */
export const messagesFor = (
  state: Slices<'setup' | 'conversation'>,
  history: Said,
  behind: readonly ContextMessage[] = [],
): ContextMessage[] =>
  contextFor(history, {
    prompt: promptOf(state),
    budgetTokens: state.setup.settings.contextWindowTokens,
    behind,
  });

/** Calls and their results as messages, behind the text that led to them. */
export function pairMessages(
  pairs: readonly ToolPair[],
  { text = '', reasoning }: { text?: string; reasoning?: RoundPart['reasoning'] } = {},
): ContextMessage[] {
  const toolCalls = pairs.map(({ call }) => call);
  return [
    { role: 'assistant', text, toolCalls, ...(reasoning !== undefined && { reasoning }) },
    ...pairs.map(({ call, text: result }): ContextMessage => ({
      role: 'tool',
      callId: call.id,
      name: call.name,
      text: result,
    })),
  ];
}

/** The rounds of the running answer that are over, as the LLM wrote them. */
export function roundMessages(response: Response): ContextMessage[] {
  const messages: ContextMessage[] = [];
  let from = 0;
  for (const { endChars, pairs, reasoning } of response.writing.rounds) {
    const text = unfilled(response, from, endChars).trim();
    messages.push(...pairMessages(pairs, { text, reasoning }));
    from = endChars;
  }
  return messages;
}

/** Brings the response into the conversation; the first `chars` characters of its text were heard. */
export function enterHeard(history: History, response: Response, chars: number): void {
  let from = 0;
  for (const { endChars, pairs, reasoning } of response.writing.rounds) {
    const text = response.writing.text.slice(from, Math.max(from, Math.min(endChars, chars))).trim();
    addMessages(history, pairMessages(pairs, { text, reasoning }), { before: response.writing.notes });
    from = endChars;
  }
  addHeard(history, response.writing.text.slice(from, Math.max(from, chars)), {
    before: response.writing.notes,
  });
}

/** Tells which part of the response was heard, where there is one. */
export function tellHeard(
  step: Parameters<typeof tell>[0],
  { writing: { text }, epoch }: Response,
  { from, to }: { readonly from: number; readonly to: number },
): void {
  const part = heardPart(text, from, to);
  if (part !== '') tell(step, { type: 'bot.heard', epoch, text: part });
}

const heardPart = (text: string, from: number, to: number): string =>
  to > from && text.slice(from, to).trim() !== '' ? text.slice(from, to) : '';

/** Tells the rest of what was heard, up to `to`, and how the response ended; nothing of one for which nothing was written. A stand-in may have no words. */
export function tellHeardEnd(
  step: Parameters<typeof tell>[0],
  response: Response,
  { to, how }: { readonly to: number; readonly how: HeardEnd['how'] },
): void {
  const { epoch, writing, playing, recovery } = response;
  const { text } = writing;
  const { heardText, heardTo, isStandIn, hadText } = recovery;
  const left = writing.splitter.pending.trim() !== '';
  if (text.trim() === '' && !left && !hadText && !isStandIn) return;
  const complete = to >= text.length && !left && writing.phase === 'done' && !isStandIn && how !== 'failed';
  const heard = `${heardText}${text.slice(0, to)}`.trim();
  const part = heardPart(text, Math.max(playing.heard.echoedChars, heardTo), to);
  tell(step, { type: 'bot.heard', epoch, text: part, end: { how, complete, heard } });
}

/** What tools left behind since the last response enters the conversation. */
export function enterToolResults(step: Step<'conversation' | 'tools'>): void {
  const {
    tools,
    conversation: { history },
  } = step.state;
  const { pairs, lateOutcomes } = takeAtSafePoint(tools);
  if (pairs.length > 0) {
    tell(step, { type: 'tools.answered', pairs });
    addMessages(history, pairMessages(pairs));
  }
  for (const { call, text } of lateOutcomes)
    addMessages(history, [{ role: 'system', text: `The earlier call of ${call.name} has ended: ${text}` }]);
}

/** Right before a response starts: the flow moves if it must. Returns the line to say on entry, or nothing. */
export function reachSafePoint(step: Step<'setup' | 'conversation'>): string {
  const { state, now, actions } = step;
  const {
    conversation: { flow },
    setup: { settings },
  } = state;
  if (flow === undefined || settings.flow === undefined) return '';
  let say = '';
  for (const action of stepFlow(flow, { type: 'safe-point.reached' }, { settings: settings.flow, now })) {
    if (action.type !== 'node.enter') continue;
    if (action.isOther) actions.push({ type: 'node.equip', node: action.node });
    state.conversation.edits.prompt = undefined;
    tell(step, { type: 'node.entered', node: action.node });
    say = action.say.trim();
  }
  return say;
}

/**
 * Keys that the caller has pressed enter the conversation. A running answer is none to them: the request that asks for one must end
 * with them.
 */
export function enterKeys({ conversation, delivery }: Slices<'conversation' | 'delivery'>): void {
  for (const note of conversation.notes.splice(0)) {
    addUser(conversation.history, note);
    if (delivery.response !== undefined) delivery.response.writing.notes += 1;
  }
}
