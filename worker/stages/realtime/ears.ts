/**
 * The ears of a call whose model writes down what it hears. Its words come too late to say whether a voice over the agent is an interruption, so
 * what is said there the STT hears, where there is one, and all that is said behind it in the same turn.
 */
import { unwritten } from '../../core/unwritten.ts';
import type { StageContext, SttSession } from '../stage.ts';
import { OwnWords, type OwnWordsOptions } from './own-words.ts';
import { StandIn } from './stand-in.ts';

export interface EarsOptions extends Pick<OwnWordsOptions, 'open' | 'sink' | 'isTurn' | 'judged' | 'noted'> {
  readonly context: StageContext;
  /** An STT is there. */
  readonly hasStt: boolean;
  /** Gives the model what the caller says. */
  readonly hear: (pcm: Int16Array, ofLine: Int16Array | undefined) => void;
  /** What it was given since the last question. */
  readonly stretch: () => readonly Int16Array[];
  /** No session of the model is there. */
  readonly isDown: () => boolean;
  /** The agent may be heard. */
  readonly isAudible: () => boolean;
}

export class Ears implements SttSession {
  readonly #options: EarsOptions;
  readonly #standIn: StandIn;
  readonly #stt: OwnWords | undefined;
  /** The STT hears the stretch; it has heard one of the running turn. */
  #isOver = false;
  #isInTurn = false;

  constructor(options: EarsOptions) {
    const { context, open, sink, isTurn, noted } = options;
    this.#options = options;
    this.#standIn = new StandIn(open, sink);
    const judged = (isOfWords: boolean): void => {
      this.#isInTurn ||= isOfWords;
      options.judged(isOfWords);
    };
    const others = { context, open, sink, isTurn, noted, judged };
    // While the model is gone another session of the STT hears, and no tool asks for words that come late.
    const never = (): boolean => false;
    this.#stt = options.hasStt ? new OwnWords({ ...others, isAlone: never, needsWords: never }) : undefined;
  }

  audio(pcm: Int16Array, ofLine?: Int16Array): boolean {
    const { isDown, hear, stretch, isAudible } = this.#options;
    const own = this.#standIn.hears(isDown());
    if (own !== undefined) return own.audio(pcm);
    hear(pcm, ofLine);
    if (this.#stt === undefined) return true;
    if (this.#isOver) return this.#stt.audio(pcm);
    this.#isOver = isAudible() || this.#isInTurn;
    if (this.#isOver) for (const chunk of stretch()) this.#stt.audio(chunk);
    return true;
  }

  finalize(): void {
    if (this.#standIn.finalize()) return;
    if (this.#isOver && this.#stt !== undefined) {
      this.#isOver = false;
      this.#stt.finalize();
      return;
    }
    const { context, isTurn: isLong, judged, sink } = this.#options;
    const isTurn = isLong();
    judged(isTurn);
    const tell = (): void => {
      if (isTurn)
        sink({ type: 'transcript', text: unwritten, isFinal: true, speechFinal: true, fromFinalize: true });
      sink({ type: 'finalized' });
    };
    context.clock.after(0, context.bind(tell));
  }

  /** What is said next belongs to another turn. */
  turnIsOver(): void {
    this.#isInTurn = false;
  }

  close(): void {
    this.#standIn.close();
    this.#stt?.close();
  }
}
