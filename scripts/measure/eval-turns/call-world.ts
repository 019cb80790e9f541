/**
 * The call core of the service with everything around it played: STT that knows the words, an LLM and a TTS that answer after fixed
 * times, a transport that plays in real time. Time is that of the audio. It notes when a turn was decided, when the agent became audible,
 * and when the caller cut it; it decides nothing.
 */
import { CallDriver } from '../../../worker/call/driver.ts';
import type { CallAction } from '../../../worker/core/actions.ts';
import type { CallEvent, PlayoutPosition } from '../../../worker/core/events.ts';
import type { Told } from '../../../worker/core/told.ts';
import type { CallSettings } from '../../../worker/core/settings.ts';
import { newCall, type CallState } from '../../../worker/core/state.ts';
import { unwritten } from '../../../worker/core/unwritten.ts';
import { WordEar, type SpokenWord } from './words.ts';

/** Audio before the start of speech that STT is given. */
const prerollMs = 600;
const finalAfterMs = 150;
/** The same of a vendor's transcription of a whole stretch. */
const vendorFinalAfterMs = 600;
const firstTextAfterMs = 400;
const firstAudioAfterMs = 200;
/** Of the agent's answers; what it says in a scenario has the pace of its recording. */
const answerMsPerChar = 60;
const shortAnswer = 'Let me look at that for you. I will tell you in a moment.';

/** Something that the agent said. */
export interface Said {
  text: string;
  readonly fromMs: number;
  /** When its last sound was played, or it was cut. */
  toMs: number;
  end: 'none' | 'whole' | 'cut';
}

export interface CallNotes {
  /** When the core decided that a turn is over. */
  readonly decidedMs: number[];
  /** When the agent's answer became audible. */
  readonly audibleMs: number[];
  /** When a response that was audible was cut by the caller. */
  readonly cutMs: number[];
  /** Time for which the output was held at a sample. */
  heldMs: number;
  /** When the agent's voice stopped: held or cut. */
  readonly stoppedMs: number[];
  /** How long the caller waited by the figures of the service, and when the answer began. */
  readonly measured: { readonly responseMs: number; readonly atMs: number }[];
  /** Requests to the LLM. */
  requests: number;
  /** STT has told a word of the caller's. */
  hasWords: boolean;
  readonly said: Said[];
  /** When the agent could be heard. */
  readonly sounds: { readonly fromMs: number; toMs: number }[];
  /** What the core took for a turn of the caller, and when. */
  readonly turns: { readonly text: string; readonly atMs: number }[];
}

export interface CallWorldOptions {
  readonly settings: CallSettings;
  /** Everything that STT could write down. */
  readonly words: readonly SpokenWord[];
  /** STT tells words while they are spoken; else only when it is asked for them. */
  readonly streams: boolean;
  /** The model writes words down behind its answer: of a stretch of voice is told that it is a turn, and nothing of what was said. */
  readonly isLate?: boolean | undefined;
  /** An STT hears the caller over the agent all the same: it tells words while they are spoken, or when a stretch is over. */
  readonly hearsOver?: 'streamed' | 'at the end' | undefined;
  /** The agent speaks from the first moment, and for as long as the scenario lasts: so long for a character. */
  readonly botMsPerChar: number | undefined;
  /** What the LLM answers; absent: a sentence or two. */
  readonly answer?: string | undefined;
  /** STT has told words. */
  readonly heardWords: () => void;
  /** The turn model is asked; `judged` answers. */
  readonly judge: (ask: number) => void;
}

interface Output {
  readonly context: number;
  text: string;
  said: Said | undefined;
  audioMs: number;
  sentMs: number;
  /** When its first audio exists. */
  audioAt: number | undefined;
  flushed: boolean;
}

export class CallWorld {
  readonly notes: CallNotes = {
    decidedMs: [],
    audibleMs: [],
    cutMs: [],
    heldMs: 0,
    stoppedMs: [],
    measured: [],
    requests: 0,
    hasWords: false,
    said: [],
    sounds: [],
    turns: [],
  };
  readonly #options: CallWorldOptions;
  readonly #state: CallState;
  readonly #driver: CallDriver;
  readonly #ear: WordEar;
  readonly #later: { readonly atMs: number; readonly tell: () => void }[] = [];
  #now = 0;
  #output: Output | undefined;
  /** STT has audio that it was not asked about. */
  #isGiven = false;
  /** STT hears this stretch, and the others of its turn. */
  #isOver = false;
  /** The output gives way, and stands still from then on. */
  #heldFrom = Infinity;
  #phase = '';

  constructor(options: CallWorldOptions) {
    this.#options = options;
    this.#state = newCall(options.settings);
    this.#ear = new WordEar(options.words);
    this.#driver = new CallDriver(this.#state, {
      now: () => this.#now,
      stepped: () => this.#noteDecision(),
      perform: (order) => this.#perform(order),
    });
    this.tell({ type: 'call.opened' });
  }

  get nowMs(): number {
    return this.#now;
  }

  /** How far playback got, as the shell reports it with facts about speech. */
  get position(): PlayoutPosition | undefined {
    return this.#output && { context: this.#output.context, sentMs: this.#output.sentMs };
  }

  /** The agent can be heard now. */
  get isAudible(): boolean {
    return this.#output?.said !== undefined && this.#now < this.#heldFrom;
  }

  tell(event: CallEvent): void {
    this.#driver.tell(event);
  }

  #noteDecision(): void {
    const { turn } = this.#state.caller;
    if (turn.phase === 'finalizing' && this.#phase !== 'finalizing')
      this.notes.decidedMs.push(turn.decidedAt);
    this.#phase = turn.phase;
  }

  /** Lets time pass, and everything that becomes due in it. */
  advanceTo(untilMs: number): void {
    for (;;) {
      const next = this.#later.reduce((earliest, { atMs }) => Math.min(earliest, atMs), Infinity);
      const deadline = this.#driver.deadline ?? Infinity;
      const at = Math.max(this.#now, Math.min(next, deadline));
      if (at > untilMs) break;
      this.#play(at);
      const due = this.#later.findIndex(({ atMs }) => atMs === next);
      if (next <= deadline && due >= 0) this.#later.splice(due, 1)[0]?.tell();
      else this.tell({ type: 'deadline.reached' });
    }
    this.#play(untilMs);
    const { streams, hearsOver } = this.#options;
    if (hearsOver !== undefined && this.#isGiven && this.#output?.said !== undefined) this.#isOver = true;
    if (!streams && !(this.#isOver && hearsOver === 'streamed')) return;
    const text = this.#ear.partial(this.#now);
    if (text !== undefined && text !== '') {
      this.#hearWords();
      this.tell({ type: 'stt.partial', text, speechFinal: false, position: this.position });
    }
  }

  #in(ms: number, tell: () => void): void {
    this.#later.push({ atMs: this.#now + ms, tell });
  }

  /** The transport plays until `untilMs`, in real time, unless the output is held. */
  #play(untilMs: number): void {
    const passedMs = untilMs - this.#now;
    this.#now = untilMs;
    const output = this.#output;
    if (output?.audioAt === undefined || untilMs < output.audioAt) return;
    const heldMs = Math.min(passedMs, Math.max(0, untilMs - this.#heldFrom));
    this.notes.heldMs += output.said === undefined ? 0 : heldMs;
    const playedMs = passedMs - heldMs;
    if (playedMs === 0) return;
    const { context } = output;
    if (output.said === undefined) {
      output.said = { text: output.text, fromMs: untilMs, toMs: untilMs, end: 'none' };
      this.notes.said.push(output.said);
      if (this.#options.botMsPerChar === undefined) this.notes.audibleMs.push(untilMs);
      this.tell({ type: 'playout.started', context, audioAt: output.audioAt });
    }
    const before = output.sentMs;
    output.sentMs = Math.min(output.audioMs, output.sentMs + playedMs);
    if (output.sentMs > before) this.#noteSound(output.said, untilMs - passedMs);
    if (output.flushed && output.sentMs >= output.audioMs) {
      output.said.end = 'whole';
      this.#output = undefined;
      this.tell({ type: 'playout.drained', context, sentMs: output.audioMs });
    }
  }

  #noteSound(said: Said, fromMs: number): void {
    said.toMs = this.#now;
    const last = this.notes.sounds.at(-1);
    if (last !== undefined && last.toMs >= fromMs) last.toMs = this.#now;
    else this.notes.sounds.push({ fromMs, toMs: this.#now });
  }

  #hearWords(): void {
    this.notes.hasWords = true;
    this.#options.heardWords();
  }

  #perform(action: CallAction): void {
    switch (action.type) {
      case 'stt.listen':
        this.#isGiven = true;
        this.#ear.listen(this.#now - prerollMs);
        return;
      case 'stt.finalize':
      case 'stt.flush':
        this.#finalize();
        return;
      case 'turn.judge':
        this.#options.judge(action.ask);
        return;
      case 'llm.start': {
        this.notes.requests += 1;
        this.#isOver = false;
        const { round } = action;
        this.#in(firstTextAfterMs, () => {
          this.tell({ type: 'llm.text', round, text: this.#options.answer ?? shortAnswer });
          this.tell({ type: 'llm.done', round, finish: 'stop', toolCalls: [] });
        });
        return;
      }
      case 'playout.open':
        this.#heldFrom = Infinity;
        this.#output = {
          context: action.context,
          text: '',
          said: undefined,
          audioMs: 0,
          sentMs: 0,
          audioAt: undefined,
          flushed: false,
        };
        return;
      case 'told':
        this.#noteTold(action.event);
        return;
      case 'playout.pause':
        if (this.#output?.said !== undefined) this.notes.stoppedMs.push(this.#now);
        this.#heldFrom = this.#now + (action.duckMs ?? 0);
        return;
      case 'playout.duck':
        // Callers hear that the agent gives way to them; behind a pause it goes on.
        if (this.#output?.said !== undefined && this.#heldFrom === Infinity)
          this.notes.stoppedMs.push(this.#now);
        this.#heldFrom = Infinity;
        return;
      case 'playout.resume':
        this.#heldFrom = Infinity;
        return;
      case 'playout.clear':
        this.#noteCut();
        this.#output = undefined;
        this.#heldFrom = Infinity;
        return;
      case 'tts.speak':
        this.#speak(action.context, action.text);
        return;
      case 'tts.flush':
        this.#flush(action.context);
        return;
      default:
        // Marks, cancellations, measurements and faults change nothing here.
        return;
    }
  }

  #noteTold(event: Told['event']): void {
    if (event.type === 'turn.measured')
      this.notes.measured.push({ responseMs: event.times.responseMs, atMs: this.#now });
    if (event.type === 'user.text') this.notes.turns.push({ text: event.text, atMs: this.#now });
  }

  #noteCut(): void {
    const said = this.#output?.said;
    if (said === undefined) return;
    said.end = 'cut';
    this.notes.cutMs.push(this.#now);
    this.notes.stoppedMs.push(this.#now);
  }

  #finalize(): void {
    const heard = this.#ear.finish(this.#now);
    const isLate = this.#options.isLate === true && !this.#isOver;
    if (heard === '') this.#isOver = false;
    // As a call of such a model says: what was said over the agent is none.
    const text = !isLate ? heard : this.#output?.said === undefined && this.#isGiven ? unwritten : '';
    this.#isGiven = false;
    const afterMs = this.#options.hearsOver === 'at the end' ? vendorFinalAfterMs : finalAfterMs;
    this.#in(isLate ? 0 : afterMs, () => {
      if (text !== '') this.#hearWords();
      // A text that ends because that was asked for is no evidence.
      if (text !== '') this.tell({ type: 'stt.final', text, speechFinal: false, position: this.position });
      this.tell({ type: 'stt.finalized', position: this.position });
    });
  }

  #speak(context: number, text: string): void {
    const output = this.#output;
    if (output?.context !== context) return;
    // An agent that has been speaking all the time begins at once.
    const { botMsPerChar } = this.#options;
    const delayMs = botMsPerChar === undefined ? firstAudioAfterMs : 0;
    output.audioAt ??= this.#now + delayMs;
    output.text += text;
    if (output.said !== undefined) output.said.text = output.text;
    output.audioMs += text.length * (botMsPerChar ?? answerMsPerChar);
    const { audioMs } = output;
    const chars = output.text.length;
    this.#in(delayMs, () => this.tell({ type: 'tts.spoken', context, chars, audioMs }));
  }

  #flush(context: number): void {
    const output = this.#output;
    if (output?.context !== context) return;
    output.flushed = true;
    const { audioMs } = output;
    this.#in(this.#options.botMsPerChar === undefined ? firstAudioAfterMs : 0, () =>
      this.tell({ type: 'tts.flushed', context, audioMs }),
    );
  }
}
