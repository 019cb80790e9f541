/** An answer that is asked for at a pause, before the turn is certainly over, and what came of earlier ones. */
import { flag, leftOut, maybe, number, record, text } from '../../../shared/base/codec.ts';
import type { Millis } from '../../../shared/base/units.ts';
import type { CallEvent } from '../events.ts';

/** Nothing of it leaves the core before the turn is over. */
export interface Speculation {
  readonly round: number;
  /** The words of the turn that the LLM was asked with. */
  readonly text: string;
  /** Messages of the context at that time, without the turn. */
  readonly basis: number;
  /** The words were a guess of STT. */
  readonly guessed: boolean;
  held: string;
  firstTextAt: Millis | undefined;
  /** TTS was told how it begins. */
  isPrepared: boolean;
  done: Extract<CallEvent, { type: 'llm.done' }> | undefined;
}

export interface Speculations {
  running: Speculation | undefined;
  /** Requests of the present turn whose answers were thrown away. */
  wasted: number;
  /** False once a guess of STT turned out to be written differently from the final text. */
  trustsStt: boolean;
}

export const newSpeculation = (): Speculations => ({ running: undefined, wasted: 0, trustsStt: true });

/** What was asked for is worth nothing. */
export function wasteSpeculation(speculation: Speculations): void {
  if (speculation.running !== undefined) speculation.wasted += 1;
  speculation.running = undefined;
}

export const speculationCodec = record<Speculations>({
  running: maybe(
    record<Speculation>({
      round: number,
      text: text(),
      basis: number,
      guessed: flag,
      // Its request dies with the worker; that there was one is all that counts.
      held: leftOut(() => ''),
      firstTextAt: leftOut(() => undefined),
      isPrepared: leftOut(() => false),
      done: leftOut(() => undefined),
    }),
  ),
  wasted: number,
  trustsStt: flag,
});
