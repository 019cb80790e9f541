/** What a turn amounts to once its text is known. */
import { isLaughter, mayBeInvented, withoutListening } from '../turn/backchannels.ts';
import { echoWithinMs } from '../turn/candidate.ts';
import { withoutEcho } from '../turn/phrases.ts';
import { asksAt, isQuestion, listensOn } from '../turn/nods.ts';
import { spokenWords } from '../../../shared/languages/spelling.ts';
import type { Slices } from '../state.ts';
import type { Finalizing } from '../turn/turn.ts';

/** What the words of a turn amount to: something said, the agent's own voice, words of listening, or no words at all. */
export function kindOf(
  state: Slices<'setup' | 'delivery'>,
  turn: Finalizing,
  { text }: { text: string },
): 'words' | 'echo' | 'listening' | 'silence' {
  const words = spokenWords(text);
  // Some STT write a lone full stop for a noise.
  if (words.length === 0) return 'silence';
  if (isLaughter(words)) return 'listening';
  const {
    delivery: { lastSaid },
    setup: { listening, invented, vocabulary },
  } = state;
  const near = turn.startedAt - lastSaid.endedAt < echoWithinMs;
  const own = near ? withoutEcho(words, spokenWords(lastSaid.text), listening) : words;
  if (own.length === 0) {
    state.delivery.echoes = true;
    return 'echo';
  }
  // A cough of which STT makes a "thank you" is no turn.
  if (turn.isVoice !== true && mayBeInvented(own, invented)) return 'silence';
  const isAsked = asksAt(lastSaid.text, lastSaid.text.length);
  const evidence = { words: own, isQuestion: isQuestion(text), isAsked, unfinished: false, patient: false };
  const listensOnly =
    withoutListening(own, listening).length === 0 || listensOn(evidence, vocabulary, listening);
  return turn.interrupted && state.delivery.cutOff.trim() !== '' && listensOnly ? 'listening' : 'words';
}
