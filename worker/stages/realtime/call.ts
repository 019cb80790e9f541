/**
 * One call with a model that hears and speaks by itself, in the form of the three stages that a call has: it hears as STT does, answers as an
 * LLM does, and speaks as TTS does. So turns, history, tools, interruptions, takeover and all that is told of a call are those of every other call,
 * and the providers of the agent file beside it go on with the call where the model fails.
 *
 * Nothing of a mere candidate for an interruption reaches the vendor: audio waits while the agent may be heard, and a turn is committed when
 * the core asks for its answer.
 */
import type { Millis } from '../../../shared/base/units.ts';
import type { Timer } from '../../../shared/runtime/clock.ts';
import type {
  ChatMessage,
  LlmCall,
  LlmEvent,
  LlmRequest,
  LlmRound,
  LlmSession,
  StageError,
  SttEvent,
  SttSession,
  TtsEvent,
  TtsSession,
} from '../stage.ts';
import { writeJson } from '../json.ts';
import type { RealtimeEvent, RealtimeSeed, RealtimeSession } from './contract.ts';
import { unwritten, writtenOut } from '../../core/unwritten.ts';
import type { FailoverReason } from '../failover/provider.ts';
import { SessionConversation, type SyncStep } from './conversation.ts';
import { Ears } from './ears.ts';
import { OwnWords } from './own-words.ts';
import type { RealtimeCallOptions } from './options.ts';
import { resultOf } from './repeated-calls.ts';
import { emptyRequest, partsOf, withWords } from './request-parts.ts';
import { newRound, type Round } from './round.ts';
import { SessionLine, type Opened } from './session-line.ts';
import { Speaking } from './speaking.ts';
import { spendAnswer } from './spending.ts';
import { TurnAudio } from './turn-audio.ts';
import { wholeSentences } from './whole-sentences.ts';
import { writeDown } from './write-down.ts';
import { WrittenWords } from './written-words.ts';

/** What was said before a pause that is longer than any within a turn, and than this, belongs to no turn. */
const longPauseMs: Millis = 5_000;
/** Sound for a turn whose words nobody knows: shorter is a cough or a click. With the moment before the voice and the silence behind it. */
const shortestTurnMs: Millis = 600;
/** A model that says nothing for so long is asked once more, and after as long again another provider answers. */
const silentMs: Millis = 2_500;

/** What a session was opened with. */
interface Opening {
  readonly seed: RealtimeSeed;
  /** The newest request at that time. */
  readonly request: LlmRequest;
  readonly before: readonly ChatMessage[];
  /** The turn that the session is to hear. */
  readonly spoken: ChatMessage | undefined;
  /** Messages of the caller whose words nobody knew. */
  readonly unwritten: readonly ChatMessage[];
}

export class RealtimeCall {
  readonly #options: RealtimeCallOptions;
  readonly #audio = new TurnAudio();
  readonly #conversation = new SessionConversation();
  readonly #speaking: Speaking;
  #line: SessionLine<Opening> | undefined;
  #fallback: LlmSession | undefined;
  #expects: (() => LlmRequest) | undefined;
  /** What the session was told to be, and the newest request. */
  #setup: Pick<RealtimeSeed, 'instructions' | 'tools'> | undefined;
  #newest = emptyRequest;
  #answers = 0;
  #turns = 0;
  /** The turn of the newest request that the session was opened without. */
  #spoken: ChatMessage | undefined;
  #heardAt = -Infinity;
  #isGivenAgain = false;
  #written: WrittenWords | undefined;
  #ears: Ears | undefined;
  /** Messages whose words are owed, oldest first, the newest of all, and what became of those that came. */
  #owed: ChatMessage[] = [];
  #owedFor: ChatMessage | undefined;
  readonly #wordsOf = new WeakMap<ChatMessage, ChatMessage>();
  /** Tools were called, and what they gave is not there yet. */
  #isCalling = false;
  #round: Round | undefined;
  /** The audio of the running turn stands in the request, and is asked for: another session must hear it again. */
  #isAsked = false;
  #watch: Timer | undefined;

  constructor(options: RealtimeCallOptions) {
    this.#options = options;
    const { context, cascade, sampleRate, modelSpeaks } = options;
    this.#speaking = new Speaking({
      context,
      sampleRate,
      modelSpeaks,
      openTts: (sink) => cascade.tts.open(context, sink),
    });
  }

  // ---- as STT ----

  openStt(sink: (event: SttEvent) => void): SttSession {
    const { context } = this.#options;
    // A session that takes the place of another is given all of the turn at once, and the model has it.
    this.#isGivenAgain = this.#written !== undefined;
    if (this.#isGivenAgain)
      context.clock.after(
        0,
        context.bind(() => {
          this.#isGivenAgain = false;
        }),
      );
    return this.#options.words === 'vendor' ? this.#openEars(sink) : this.#openOwnStt(sink);
  }

  #openEars(sink: (event: SttEvent) => void): SttSession {
    const { context, cascade, hasStt } = this.#options;
    const written = this.#writeFor(sink);
    this.#ears = new Ears({
      context,
      hasStt,
      open: (told) => cascade.stt.open(context, told),
      sink,
      hear: (pcm, ofLine) => this.#hear(pcm, ofLine),
      stretch: () => this.#audio.part,
      isDown: () => this.#isDown,
      isAudible: () => this.#speaking.isAudible,
      isTurn: () => this.#isTurn(),
      judged: (isOfWords) => this.#judged(isOfWords),
      noted: () => written.note(),
    });
    return this.#ears;
  }

  #hear(pcm: Int16Array, ofLine: Int16Array | undefined): void {
    if (this.#isGivenAgain) return;
    const { context, maxSilenceMs } = this.#options;
    const now = context.clock.now();
    if (now - this.#heardAt > Math.max(longPauseMs, maxSilenceMs)) {
      this.#audio.forget(this.#line?.session);
      this.#written?.forget();
      this.#ears?.turnIsOver();
    }
    this.#heardAt = now;
    this.#audio.add(pcm, ofLine);
    const session = this.#line?.session;
    if (session !== undefined && !this.#speaking.isAudible) this.#audio.flow(session);
  }

  #openOwnStt(sink: (event: SttEvent) => void): SttSession {
    const { context, cascade } = this.#options;
    const written = this.#writeFor(sink);
    const own = new OwnWords({
      context,
      open: (told) => cascade.stt.open(context, told),
      sink,
      isAlone: () => this.#isDown,
      isTurn: () => this.#isTurn(),
      // A yes to what a tool asks is read in them.
      needsWords: () => this.#isCalling,
      judged: (isOfWords) => this.#judged(isOfWords),
      noted: () => written.note(),
    });
    return {
      audio: (pcm: Int16Array, ofLine?: Int16Array) => {
        this.#hear(pcm, ofLine);
        return own.audio(pcm);
      },
      hasRoom: () => own.hasRoom(),
      finalize: () => own.finalize(),
      close: () => own.close(),
    };
  }

  #writeFor(sink: (event: SttEvent) => void): WrittenWords {
    this.#written = new WrittenWords(this.#options.context, (text) => {
      const message = this.#owed.shift();
      if (message !== undefined)
        this.#wordsOf.set(message, { ...message, text: writtenOut(message.text, text) });
      sink({ type: 'written', text });
    });
    return this.#written;
  }

  /** Nobody else speaks, and the newest stretch is long enough. */
  #isTurn(): boolean {
    return !this.#speaking.isAudible && this.#audio.partMs >= shortestTurnMs;
  }

  #judged(isOfWords: boolean): void {
    if (isOfWords) this.#audio.keepPart();
    else this.#audio.dropPart(this.#line?.session);
  }

  // ---- as TTS ----

  openTts(sink: (event: TtsEvent) => void): TtsSession {
    return this.#speaking.open(sink);
  }

  // ---- as LLM ----

  get #isDown(): boolean {
    return this.#line !== undefined && this.#line.session === undefined;
  }

  openLlm(call: LlmCall): LlmSession {
    const { context, vendor, cascade } = this.#options;
    this.#expects = call.expects;
    this.#fallback = cascade.llm.open(context, call);
    this.#line = new SessionLine({
      context,
      vendor,
      opening: (handle) => this.#opening(handle),
      isCurrent: ({ request }) => request === this.#newest,
      isQuiet: () => this.#round === undefined && !this.#audio.isPending && !this.#speaking.isAudible,
      opened: (opened) => this.#opened(opened),
      told: (event) => this.#onTold(event),
      lost: (error) => this.#onLost(error),
    });
    return {
      start: (request, sink) => this.#start(request, sink),
      close: () => {
        this.#watch?.cancel();
        this.#round = undefined;
        this.#line?.close();
        this.#fallback?.close();
      },
    };
  }

  /**
   * A session is opened with all that was said and heard, but for the turn that it is given as sound, or with the handle of a session that it goes
   * on from. An answer that is being heard is told with the next question, as far as it was heard by then.
   */
  #opening(resume: string | undefined): Opening {
    const request = this.#newest;
    if (resume !== undefined && this.#setup !== undefined) {
      const seed = { ...this.#setup, history: [], resume };
      return { seed, request, before: [], spoken: undefined, unwritten: [] };
    }
    const asked = this.#asked();
    const { instructions, history } = partsOf(asked);
    const isAsked = this.#isAsked && this.#round?.hasBegun !== true;
    const spoken = isAsked ? history.findLastIndex(({ role }) => role === 'user') : -1;
    const before = spoken < 0 ? history : history.filter((_, index) => index !== spoken);
    const known = before.map((message) => this.#wordsOf.get(message) ?? message);
    const seed = { instructions, tools: asked.tools, history: known };
    const unknown = known.filter(({ text }) => text.includes(unwritten));
    return { seed, request, before, spoken: history[spoken], unwritten: unknown };
  }

  /** The question that has no answer yet, or else what would be asked now. */
  #asked(): LlmRequest {
    const newest = this.#newest;
    if (this.#round === undefined ? this.#isAsked : !this.#round.hasBegun) return newest;
    const now = this.#expects?.() ?? newest;
    if (newest === emptyRequest || !this.#audio.isPending) return now;
    // The turn whose sound waits to be asked about is no text.
    const isTold = (message: ChatMessage): boolean =>
      message.role !== 'user' ||
      newest.messages.some((one) => one === message || this.#wordsOf.get(one)?.text === message.text);
    return { ...now, messages: now.messages.filter(isTold) };
  }

  #opened({ session, opening }: Opened<Opening>): void {
    const { seed, before, spoken, unwritten: unknown } = opening;
    this.#spoken = spoken;
    this.#setup = { instructions: seed.instructions, tools: seed.tools };
    // One that goes on from another holds what that held.
    if (seed.resume === undefined) this.#conversation.seeded(before, unknown);
    // A turn that was answered in part is not to be heard again.
    if (this.#round?.hasBegun === true) this.#turnIsOver();
    this.#audio.moved();
    if (!this.#speaking.isAudible) this.#audio.flow(session);
  }

  #start(request: LlmRequest, sink: (event: LlmEvent) => void): LlmRound {
    this.#isCalling = false;
    const round = newRound(request, sink);
    this.#round = round;
    this.#newest = request;
    this.#ask(round);
    return { cancel: () => this.#cancel(round) };
  }

  /** Brings the session to where the request is, and asks it. */
  #ask(round: Round): void {
    const line = this.#line;
    const hasAudio = this.#audio.isPending;
    this.#isAsked = hasAudio;
    if (hasAudio) {
      this.#turns += 1;
      this.#ears?.turnIsOver();
      this.#oweWords(round.request);
    }
    if (line?.session === undefined) this.#conversation.settled();
    const refusal = line === undefined ? 'failed' : line.refusal();
    if (line === undefined || refusal !== undefined) {
      this.#conversation.settled();
      this.#answerInstead(round, refusal ?? 'failed');
      return;
    }
    line.asked();
    const plan = this.#conversation.plan(round.request, {
      hasAudio,
      caps: line.caps,
    });
    const isReplaced = plan.rebuild || !this.#isSetUp(round.request);
    if (isReplaced) {
      this.#conversation.settled();
      line.replace();
    }
    const { session } = line;
    if (session === undefined) {
      this.#answerInstead(round, 'failed');
      return;
    }
    // The session that replaces another one holds all but the turn that it is to hear.
    const steps = isReplaced ? [] : plan.steps;
    for (const step of steps) this.#perform(step, session);
    if (isReplaced) this.#commitSpoken(session);
    this.#respond(round, session);
  }

  /** The words of the turn come later, as its message says. */
  #oweWords({ messages }: LlmRequest): void {
    const said = messages.findLast(({ role }) => role === 'user');
    if (said?.text.includes(unwritten) !== true || said === this.#owedFor) return;
    this.#owedFor = said;
    this.#owed.push(said);
    this.#written?.owe(this.#turns);
  }

  #respond(round: Round, session: RealtimeSession): void {
    this.#answers += 1;
    round.answer = this.#answers;
    round.askedAt = this.#options.context.clock.now();
    this.#options.vendor.primary.meter.requested(this.#line?.name);
    this.#conversation.answerBegan();
    this.#speaking.answerBegan(round.answer, session.outputRate);
    session.respond(round.answer);
    this.#watchSilence(round);
  }

  /** The session hears the turn that it was opened without. */
  #commitSpoken(session: RealtimeSession): void {
    if (this.#spoken === undefined) return;
    this.#commit(session);
    this.#conversation.heard(this.#spoken);
    this.#spoken = undefined;
  }

  #commit(session: RealtimeSession): void {
    this.#options.vendor.primary.meter.spent('audio_seconds', this.#audio.seconds);
    this.#audio.commit(session, this.#turns);
  }

  /** Tells the session of another prompt or other tools; false where it cannot be told. */
  #isSetUp(request: LlmRequest): boolean {
    const { instructions } = partsOf(request);
    const { tools } = request;
    if (instructions === this.#setup?.instructions && isSame(tools, this.#setup.tools)) return true;
    const line = this.#line;
    if (line?.session === undefined || !line.caps.updates) return false;
    this.#setup = { instructions, tools };
    line.session.update(this.#setup);
    return true;
  }

  #perform(step: SyncStep, session: RealtimeSession): void {
    switch (step.type) {
      case 'append':
        session.append(step.messages);
        return;
      case 'commit':
        this.#commit(session);
        return;
      case 'cut':
        session.truncate(step.item, this.#speaking.msOf(step.item, step.chars));
    }
  }

  // ---- what the model tells ----

  #onTold(event: Exclude<RealtimeEvent, { type: 'ready' | 'expiring' | 'resumable' | 'error' }>): void {
    if (event.type === 'item-done') return;
    if (event.type === 'user-text') {
      if (event.final) this.#written?.told(event.turn, event.text);
      return;
    }
    if (event.type === 'tool-cancelled') {
      for (const id of event.ids) this.#conversation.callCancelled(id);
      return;
    }
    const round = this.#round;
    const isLate = round === undefined || event.answer !== round.answer || round.instead !== undefined;
    // An answer that was cancelled is charged all the same.
    if (event.type === 'done' && event.usage !== undefined)
      spendAnswer(this.#options.vendor.primary.meter, event.usage, { isLate });
    if (isLate) return;
    if (event.type !== 'done') this.#began(round);
    switch (event.type) {
      case 'text':
        this.#say(round, event);
        return;
      case 'audio':
        // Sound without words is heard all the same.
        if (!this.#speaking.hasWords(round.answer)) this.#say(round, { item: event.item, text: ' ' });
        this.#speaking.audio(round.answer, event.item, event.pcm);
        return;
      case 'tool-call': {
        const result = resultOf(round.request, event);
        if (result !== undefined) {
          round.repeated.push(result);
          return;
        }
        this.#conversation.called(event.id);
        round.sink({
          type: 'tool-call',
          index: round.calls,
          id: event.id,
          name: event.name,
          arguments: event.arguments,
        });
        round.calls += 1;
        return;
      }
      case 'done':
        this.#onDone(round, event);
    }
  }

  #began(round: Round): void {
    if (round.hasBegun) return;
    const { context, vendor } = this.#options;
    vendor.primary.meter.firstResult(context.clock.now() - round.askedAt);
    this.#line?.worked();
    round.hasBegun = true;
    this.#watch?.cancel();
  }

  #say(
    round: Round,
    { item, text, isWritten }: Pick<Extract<RealtimeEvent, { type: 'text' }>, 'item' | 'text' | 'isWritten'>,
  ): void {
    this.#conversation.said(item, text);
    // The core has a line spoken of the words that the model does not speak.
    if (isWritten !== true) this.#speaking.words(round.answer, item, text);
    round.sink({ type: 'text', text });
  }

  #onDone(round: Round, { finish, usage, failed }: Extract<RealtimeEvent, { type: 'done' }>): void {
    this.#watch?.cancel();
    this.#speaking.answerEnded(round.answer);
    // Nobody here cancelled it: the vendor broke it off.
    if (finish === 'failed' || finish === 'cancelled') {
      const error: StageError = failed ?? { kind: 'disconnected' };
      this.#line?.failed(error);
      if (!round.hasBegun) this.#answerInstead(round, 'failed');
      else this.#over(round, { type: 'error', error });
      return;
    }
    if (finish === 'completed') this.#conversation.answerEnded();
    if (this.#gaveAgain(round)) return;
    if (finish === 'completed' && !round.hasBegun) {
      this.#onSilence(round);
      return;
    }
    const ended = finish === 'length' || finish === 'content_filter' ? finish : 'stop';
    this.#over(round, {
      type: 'done',
      finish: round.calls > 0 ? 'tool_calls' : ended,
      usage,
    });
  }

  /** The model has the results of calls that it made once more; true where it goes on from nothing else. */
  #gaveAgain(round: Round): boolean {
    const session = this.#line?.session;
    const results = round.repeated.splice(0);
    if (results.length === 0 || session === undefined) return false;
    session.append(results);
    if (round.calls > 0 || round.wasAskedAgain) return false;
    round.wasAskedAgain = true;
    round.hasBegun = false;
    this.#respond(round, session);
    return true;
  }

  /** Nobody has to hear it again: from now on its words stand for it. */
  #turnIsOver(): void {
    this.#audio.answered();
    this.#isAsked = false;
  }

  #over(round: Round, event: LlmEvent): void {
    this.#round = undefined;
    this.#turnIsOver();
    this.#isCalling = event.type === 'done' && event.finish === 'tool_calls';
    round.sink(event);
  }

  // ---- where the model fails ----

  /** The session is gone. Questions that nobody has heard of yet are asked of the next one. */
  #onLost(error: StageError): void {
    const round = this.#round;
    if (round === undefined || round.instead !== undefined) return;
    this.#watch?.cancel();
    if (!round.hasBegun) this.#again(round);
    else {
      this.#speaking.answerEnded(round.answer);
      this.#over(round, { type: 'error', error });
    }
  }

  /** Asks the session that took the place of one that was lost, or somebody else. */
  #again(round: Round): void {
    const session = this.#line?.session;
    if (session === undefined) {
      this.#answerInstead(round, 'failed');
      return;
    }
    this.#commitSpoken(session);
    this.#respond(round, session);
  }

  #watchSilence(round: Round): void {
    const { context } = this.#options;
    this.#watch?.cancel();
    this.#watch = context.clock.after(
      silentMs,
      context.bind(() => this.#onSilence(round)),
    );
  }

  #onSilence(round: Round): void {
    if (this.#round !== round || round.hasBegun) return;
    const session = this.#line?.session;
    if (round.wasAskedAgain || session === undefined) {
      this.#line?.gaveUp({ kind: 'timeout', what: 'answer' });
      this.#answerInstead(round, 'failed');
      return;
    }
    round.wasAskedAgain = true;
    session.cancel();
    this.#respond(round, session);
  }

  /** The LLM beside the model answers, and the TTS beside it speaks. */
  #answerInstead(round: Round, reason: FailoverReason): void {
    const { context, cascade, vendor } = this.#options;
    this.#watch?.cancel();
    this.#speaking.answerEnded(round.answer);
    vendor.failedOver(reason);
    const { chunks } = this.#audio;
    const isUnwritten = this.#isAsked && round.request.messages.some(({ text }) => text.includes(unwritten));
    this.#audio.forget(this.#line?.session);
    this.#isAsked = false;
    if (!isUnwritten) {
      this.#askFallback(round, round.request);
      return;
    }
    const turn = this.#turns;
    round.instead = writeDown({ context, stt: cascade.stt, chunks }, (text) => {
      this.#written?.know(turn, text);
      if (this.#round === round) this.#askFallback(round, withWords(round.request, text));
    });
  }

  #askFallback(round: Round, request: LlmRequest): void {
    const { modelSpeaks, sentences } = this.#options;
    const take = (event: LlmEvent): void => {
      if (this.#round !== round) return;
      if (event.type === 'done' || event.type === 'error') this.#over(round, event);
      else round.sink(event);
    };
    round.instead = this.#fallback?.start(request, modelSpeaks ? wholeSentences(sentences, take) : take);
  }

  #cancel(round: Round): void {
    if (this.#round !== round) return;
    this.#round = undefined;
    this.#watch?.cancel();
    this.#turnIsOver();
    if (round.instead !== undefined) round.instead.cancel();
    else {
      this.#line?.abandoned();
      this.#line?.session?.cancel();
    }
    this.#speaking.answerEnded(round.answer);
  }
}

const isSame = (one: unknown, other: unknown): boolean => writeJson(one) === writeJson(other);
