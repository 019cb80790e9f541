/** What the turn machine is told of the agent's side, so that it need not know how responses are made. */
import type { Millis } from '../../../shared/base/units.ts';
import { isLastWord, type Response } from '../answer/response.ts';
import { charsAt } from '../delivery/heard.ts';
import type { PlayoutPosition } from '../events.ts';
import type { Slices } from '../state.ts';
import type { AgentSide, Owed, RunningResponse } from '../turn/turn-actions.ts';

/** Text before and behind the position on the wire whose echo may arrive now. */
const echoBehindChars = 250;
const echoAheadChars = 20;
const restOfWord = /^[\p{L}\p{N}]+/u;

/** Whether the caller's voice may cut the running response. */
export function interruptible({
  setup: { settings },
  delivery: { response },
}: Slices<'setup' | 'delivery'>): boolean {
  return settings.interrupt.enabled && response?.interruptible === true;
}

/** The caller waits for an answer, for the greeting, or for the rest of what a voice has cut. Lines of others wait while anybody speaks. */
export function owesWords({ conversation, delivery }: Slices<'conversation' | 'delivery'>): Owed {
  if (conversation.greets) return 'greeting';
  return conversation.owed || delivery.cutOff.trim() !== '' ? 'answer' : undefined;
}

export function agentSide(
  state: Slices<'setup' | 'delivery' | 'silence' | 'conversation'>,
  now: Millis,
): AgentSide {
  const { delivery, silence } = state;
  const { response, lastSaid, echoes } = delivery;
  return {
    response: response === undefined ? undefined : running(state, response, now),
    lastSaid,
    owes: owesWords(state),
    echoes,
    hasFillers: silence.readyLines.fillers,
  };
}

const running = (state: Slices<'setup' | 'delivery'>, response: Response, now: Millis): RunningResponse => ({
  interruptible: interruptible(state),
  isLastWord: isLastWord(response),
  isFarewell: response.hangUpAfter,
  isWaiting: response.playing.phase === 'waiting',
  isPlayed: response.playing.phase === 'draining' && now >= response.playing.endsBy,
  text: response.writing.text,
  charsAt: (position) =>
    charsAt(response.playing.heard, position?.context === response.context ? position.sentMs : 0),
  textAround: (position) => textAround(response, position),
});

function textAround(response: Response, { context, sentMs }: PlayoutPosition): string {
  if (response.playing.phase === 'waiting' || context !== response.context) return '';
  const at = charsAt(response.playing.heard, sentMs);
  const { text } = response.writing;
  const [from, to] = [Math.max(0, at - echoBehindChars), at + echoAheadChars];
  // Half a word is another word: "stop" is no echo of a stopgap.
  return text.slice(from, to) + (restOfWord.exec(text.slice(to))?.[0] ?? '');
}
