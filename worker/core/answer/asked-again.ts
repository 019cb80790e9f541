/** An answer that the LLM was still writing when its worker died: the LLM is asked the same again, and nobody hears it twice. */
import type { Step } from '../state.ts';
import { unfilled, type Response } from './response.ts';
import { startRound } from './speaking.ts';

/**
 * The LLM was still writing: it is asked the same again, and what it had written before is expected first. One that speaks itself would say it in
 * other words: it goes on from those that are being said.
 */
export function askAgain(step: Step<'setup' | 'numbers' | 'conversation'>, response: Response): void {
  const before = written(response);
  if (step.state.setup.settings.modelSpeaks === true && before.trim() !== '') {
    goOnBehind(step, response, before);
    return;
  }
  response.writing.expected = before;
  startRound(step, response);
}

/**
 * Takes off `text` what is expected first. Undefined when the LLM writes something else this time: it is asked to go on
 * from what it had written then.
 */
export function unexpectedText(
  step: Step<'setup' | 'numbers' | 'conversation'>,
  response: Response,
  text: string,
): string | undefined {
  const { expected } = response.writing;
  if (expected === '') return text;
  const length = Math.min(expected.length, text.length);
  if (expected.slice(0, length) === text.slice(0, length)) {
    response.writing.expected = expected.slice(length);
    return text.slice(length);
  }
  response.writing.expected = '';
  step.actions.push({ type: 'llm.cancel' });
  goOnBehind(step, response, written(response));
  return undefined;
}

function goOnBehind(
  step: Step<'setup' | 'numbers' | 'conversation'>,
  response: Response,
  before: string,
): void {
  // Streams stop between words, and a new message does not begin with a space.
  if (/\S$/.test(before)) response.writing.splitter.pending += ' ';
  startRound(step, response, {
    behind: [
      { role: 'assistant', text: before },
      { role: 'system', text: goOn },
    ],
  });
}

/** What the LLM wrote in its newest round, without the fillers between. */
const written = (response: Response): string =>
  unfilled(response, response.writing.rounds.at(-1)?.endChars ?? 0) + response.writing.splitter.pending;

const goOn = 'Your last message was cut off. Go on exactly where it stops, and repeat nothing of it.';
