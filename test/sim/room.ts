/**
 * A call in a room where somebody else talks without an end: voice detection hears a voice at every moment, and STT writes down the caller alone, word by word.
 * The core sees events; what the caller hears is judged by the clock.
 */
import { newPrng, type Prng } from '../../shared/base/prng.ts';
import type { CallAction } from '../../worker/core/actions.ts';
import type { CallEvent, PlayoutPosition } from '../../worker/core/events.ts';
import type { CallState } from '../../worker/core/state.ts';
import { scriptSettings } from '../support/core/script-settings.ts';
import type { Core } from '../support/core/core.ts';
import { SimPlayout } from './world/playout.ts';

const tickMs = 20;
const llmMs = 300;
const ttsMs = 150;
const msPerChar = 50;
const wordMs = 300;

export interface RoomReport {
  /** From the end of a question's words, or the opening of the call, to the first sound of the agent, in milliseconds; Infinity: never. */
  readonly waits: readonly number[];
  /** Cuts of the agent that no word of the caller asked for. */
  readonly cuts: number;
  /** Requests to the LLM beyond one for each question. */
  readonly extra: number;
}

export class Room {
  readonly #core: Core;
  readonly #prng: Prng;
  readonly #state: CallState;
  #now = 0;
  #due: { at: number; run: () => void }[] = [];
  readonly #playout: SimPlayout;
  #context = 0;
  /** What TTS was given in the context. */
  #said = { chars: 0 };
  /** What STT has heard and not told as final. */
  #words: string[] = [];
  #listens = false;
  /** The caller waits since then. */
  #owedAt: number | undefined;
  readonly #waits: number[] = [];
  #cuts = 0;
  #requests = 0;

  constructor(core: Core, seed: number) {
    this.#core = core;
    this.#prng = newPrng(seed * 7_919 + 11);
    const interrupt = { ...scriptSettings.interrupt, minWords: 1, wordlessMs: 1_000 };
    this.#state = core.newCall({
      ...scriptSettings,
      greeting: 'Hello, how can I help you today?',
      interrupt,
    });
    this.#playout = new SimPlayout({
      frame: () => this.#hears(),
      mark: (id) => this.#tell({ type: 'mark.sent', id }),
      started: (context, audioAt) => this.#tell({ type: 'playout.started', context, audioAt }),
      drained: (context, sentMs) => this.#tell({ type: 'playout.drained', context, sentMs }),
      starved: (context, sentMs) => this.#tell({ type: 'playout.starved', context, sentMs }),
      fed: (context) => this.#tell({ type: 'playout.fed', context }),
    });
  }

  /** Three questions into a voice that begins before or behind the greeting and never ends. */
  run(): RoomReport {
    const questions = 3;
    this.#tell({ type: 'lines.ready', fillers: true, farewell: true });
    if (this.#prng.chance(0.5)) this.#voice();
    this.#owedAt = 0;
    this.#tell({ type: 'call.opened' });
    if (this.#prng.chance(0.5)) this.#pass(this.#prng.below(3_000));
    this.#voice();
    this.#quiet();
    for (let question = 1; question <= questions; question += 1) {
      this.#pass(500 + this.#prng.below(2_500));
      this.#asks(question);
      this.#quiet();
    }
    if (this.#owedAt !== undefined) this.#waits.push(Infinity);
    return { waits: this.#waits, cuts: this.#cuts, extra: Math.max(0, this.#requests - questions) };
  }

  // ---- the room ----

  /** The voice is told again at times, as one that pauses shortly is; it never stops. */
  #voice(): void {
    const isFaint = this.#prng.chance(0.3);
    this.#tell({
      type: 'speech.started',
      isFaint,
      isDoubtful: isFaint && this.#prng.chance(0.5),
      position: this.#position,
    });
    this.#in(200 + this.#prng.below(200), () =>
      this.#tell({ type: 'speech.confirmed', position: this.#position }),
    );
    this.#in(1_000, () => this.#tell({ type: 'voice.lasted', lastedMs: 1_000, position: this.#position }));
  }

  #asks(question: number): void {
    const count = 3 + this.#prng.below(5);
    for (let word = 0; word < count; word += 1) {
      if (this.#listens) this.#words.push(`word${question}${'abcdefgh'.charAt(word)}`);
      const text = this.#words.join(' ');
      if (this.#listens)
        this.#tell({ type: 'stt.partial', text, speechFinal: false, position: this.#position });
      this.#pass(wordMs);
    }
    this.#owedAt = this.#now;
  }

  /** Until the agent has nothing more to say. */
  #quiet(): void {
    this.#pass(9_000);
  }

  // ---- time ----

  #pass(ms: number): void {
    const until = this.#now + ms;
    while (this.#now < until) {
      this.#now += tickMs;
      for (const due of this.#due.filter(({ at }) => at <= this.#now)) {
        this.#due = this.#due.filter((one) => one !== due);
        due.run();
      }
      const deadline = this.#core.nextDeadline(this.#state);
      if (deadline !== undefined && deadline <= this.#now)
        this.#tell({ type: 'deadline.reached', position: this.#position });
      this.#playout.tick();
    }
  }

  #in(ms: number, run: () => void): void {
    this.#due.push({ at: this.#now + ms, run });
  }

  get #position(): PlayoutPosition {
    return this.#playout.position;
  }

  #hears(): void {
    if (this.#owedAt === undefined) return;
    this.#waits.push(this.#now - this.#owedAt);
    this.#owedAt = undefined;
  }

  // ---- the shell ----

  #tell(event: CallEvent): void {
    for (const action of this.#core.step(this.#state, event, this.#now)) this.#perform(action);
  }

  #perform(action: CallAction): void {
    switch (action.type) {
      case 'stt.listen':
        this.#listens = true;
        if (action.fresh) this.#words = [];
        return;
      case 'stt.flush':
      case 'stt.finalize':
        this.#listens = false;
        this.#in(200, () => this.#finalizes());
        return;
      case 'llm.start': {
        const { round } = action;
        this.#requests += 1;
        this.#in(llmMs, () => {
          this.#tell({ type: 'llm.text', round, text: 'Here is what I know about that, and a bit more.' });
          this.#tell({ type: 'llm.done', round, finish: 'stop', toolCalls: [] });
        });
        return;
      }
      case 'playout.open':
        this.#context = action.context;
        this.#said = { chars: 0 };
        this.#playout.open(action.context, action.from);
        return;
      case 'tts.speak':
        this.#speaks(action.context, action.text);
        return;
      case 'tts.flush': {
        const { context } = action;
        this.#in(ttsMs, () => this.#flushed(context));
        return;
      }
      case 'playout.pause':
        this.#playout.hold(true, action.duckMs);
        return;
      case 'playout.duck':
      case 'playout.resume':
        this.#playout.hold(false);
        return;
      case 'playout.clear':
        if (action.wire && this.#owedAt === undefined && this.#words.length === 0) this.#cuts += 1;
        this.#playout.clear();
        return;
      case 'playout.mark':
        this.#playout.mark(action.context, action.id);
        return;
      case 'playout.finish':
        this.#playout.finish(action.context);
        return;
      default:
    }
  }

  #speaks(context: number, text: string): void {
    const said = this.#said;
    said.chars += text.length;
    const { chars } = said;
    this.#in(ttsMs, () => {
      if (context !== this.#context) return;
      this.#playout.audio(context, text.length * msPerChar, this.#now);
      this.#tell({ type: 'tts.spoken', context, chars, audioMs: chars * msPerChar });
    });
  }

  #flushed(context: number): void {
    if (context !== this.#context) return;
    this.#playout.finish(context);
    this.#tell({ type: 'tts.flushed', context, audioMs: this.#said.chars * msPerChar });
  }

  #finalizes(): void {
    const text = this.#words.join(' ');
    this.#words = [];
    if (text !== '') this.#tell({ type: 'stt.final', text, speechFinal: true, position: this.#position });
    this.#tell({ type: 'stt.finalized', position: this.#position });
  }
}
