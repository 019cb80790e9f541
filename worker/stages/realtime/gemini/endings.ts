/**
 * What ends of answers and of sessions mean. The service tells no errors: a reason at the end of a turn, and close codes, are all there is. Pure.
 */
import type { StageError } from '../../stage.ts';
import type { RealtimeEvent } from '../contract.ts';

type Done = Extract<RealtimeEvent, { readonly type: 'done' }>;
export type Ending = Pick<Done, 'finish' | 'failed'>;

export const completed: Ending = { finish: 'completed' };
/** It ended with calls of tools. */
export const asked: Ending = { finish: 'completed' };
export const cancelled: Ending = { finish: 'cancelled' };
/** It ended in the middle of what it said: asked again with nothing new, the model goes on. */
export const cutShort: Ending = { finish: 'length' };

/** The model failed at its own output; another try may do better. */
const broken = new Set(['MALFORMED_FUNCTION_CALL', 'MAX_REGENERATION_REACHED']);

/** What the service gives as the reason of an end without an answer; undefined where it gives none. */
export function endingBy(reason: string): Ending | undefined {
  if (reason === '' || reason === 'TURN_COMPLETE_REASON_UNSPECIFIED') return undefined;
  if (reason === 'NEED_MORE_INPUT') return completed;
  if (broken.has(reason)) return { finish: 'failed', failed: { kind: 'rejected', status: 502 } };
  return { finish: 'content_filter' };
}

/** Shorter ones may well be whole: "Sure" and "Okay". */
const leastCutChars = 20;
const endsInWord = /[\p{L}\p{M}\p{N},،、–-]\s*$/u;
/** Scripts in which sentences end without a sign. */
const withoutSigns = /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]\s*$/u;

/** Transcripts have punctuation, so that words without an end are the beginning of a sentence. */
export const endsInMidSentence = (text: string): boolean =>
  text.length >= leastCutChars && endsInWord.test(text) && !withoutSigns.test(text);

/** What a close means. `isReady`: the session had begun, so that model and address are right. */
export function closeError({
  code,
  reason,
  isReady,
}: {
  code: number;
  reason: string;
  isReady: boolean;
}): StageError {
  switch (code) {
    // The message was wrong, or the handle: it is not to be sent again as it was.
    case 1007:
      return { kind: 'rejected', status: 400 };
    // At the start the model is wrong. Later it is a fault that answers to results of tools are known to have.
    case 1008:
      return isReady ? { kind: 'rejected', status: 400, retryable: true } : { kind: 'rejected', status: 404 };
    case 1009:
      return { kind: 'rejected', status: 413 };
    case 1011:
      return { kind: 'rejected', status: /quota|resource.?exhausted/i.test(reason) ? 429 : 503 };
    default:
      return { kind: 'disconnected' };
  }
}
