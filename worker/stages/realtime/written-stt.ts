/**
 * The words of what is said over the agent where an agent has no STT: the model's own transcription, in a session of its own that is never asked
 * for an answer, so that nothing of a candidate for an interruption reaches the session of the call. Its words come when a stretch is over.
 */
import type { Millis } from '../../../shared/base/units.ts';
import type { SttEvent, SttSession, SttStage, StageContext } from '../stage.ts';
import { Soon } from '../timers.ts';
import type { RealtimeEvent, RealtimeModel, RealtimeSession } from './contract.ts';

/** Words that come later than this are not waited for: their place would be that of the next ones. */
const latestMs: Millis = 3_000;

const seed = { instructions: '', tools: [], history: [] };

export const writtenStt = (model: RealtimeModel): SttStage => ({
  provider: model.provider,
  open: (context, sink) => new WrittenStt(model, { context, sink }),
  // The stage that opened the model closes it.
  close: () => Promise.resolve(),
});

interface Site {
  readonly context: StageContext;
  readonly sink: (event: SttEvent) => void;
}

/** A stretch whose end was told, and its words where they have come. */
interface Asked {
  readonly turn: number;
  text: string | undefined;
}

class WrittenStt implements SttSession {
  readonly #model: RealtimeModel;
  readonly #site: Site;
  readonly #soon: Soon;
  /** Opened with the first sound: in most calls nobody speaks over the agent. */
  #session: RealtimeSession | undefined;
  #asked: Asked[] = [];
  #turn = 0;
  #isInTurn = false;
  #isClosed = false;

  constructor(model: RealtimeModel, site: Site) {
    this.#model = model;
    this.#site = site;
    this.#soon = new Soon(site.context, () => this.#tell());
  }

  audio(pcm: Int16Array): boolean {
    const { context } = this.#site;
    this.#session ??= this.#model.open(context, seed, (event) => this.#take(event));
    if (!this.#isInTurn) this.#session.beginTurn();
    this.#isInTurn = true;
    this.#session.audio(pcm);
    return true;
  }

  finalize(): void {
    const { context } = this.#site;
    this.#turn += 1;
    const asked: Asked = { turn: this.#turn, text: this.#isInTurn ? undefined : '' };
    this.#asked.push(asked);
    if (this.#isInTurn) this.#session?.endTurn(asked.turn);
    this.#isInTurn = false;
    if (asked.text === undefined)
      context.clock.after(
        latestMs,
        context.bind(() => this.#know(asked.turn, '')),
      );
    else this.#soon.ask();
  }

  close(): void {
    this.#isClosed = true;
    this.#soon.close();
    this.#session?.close();
  }

  #take(event: RealtimeEvent): void {
    if (this.#isClosed) return;
    if (event.type === 'user-text' && event.final) this.#know(event.turn, event.text);
    else if (event.type === 'error') {
      this.#isClosed = true;
      this.#site.sink(event);
    }
  }

  #know(turn: number, text: string): void {
    const asked = this.#asked.find((one) => one.turn === turn);
    if (asked === undefined || this.#isClosed) return;
    asked.text ??= text;
    this.#tell();
  }

  /** In the order in which the stretches were spoken. */
  #tell(): void {
    const { sink } = this.#site;
    for (let [first] = this.#asked; first?.text !== undefined && !this.#isClosed; [first] = this.#asked) {
      this.#asked.shift();
      const { text } = first;
      if (text.trim() !== '')
        sink({ type: 'transcript', text, isFinal: true, speechFinal: true, fromFinalize: true });
      sink({ type: 'finalized' });
    }
  }
}
