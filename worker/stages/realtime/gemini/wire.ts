/**
 * One session of Gemini Live as a machine: what is told to it in, messages and events out. The service names no answers, so that what it says is
 * laid to the answer that was asked for last; what it says unasked waits for the next.
 *
 * Invariant: exactly one `done` for each answer; after it nothing of that answer. A generation that is no longer wanted is dropped to its end, which
 * the service always tells. Pure: no sockets, no time.
 */
import { isRecord, listOf, parseJson, recordOf, textOf, writeJson, type JsonRecord } from '../../json.ts';
import { PcmBytes } from '../../pcm-bytes.ts';
import { wireNames, type WireNames } from '../../wire-names.ts';
import type { ChatMessage, StageError, ToolCall } from '../../stage.ts';
import type { RealtimeCaps, RealtimeEvent, RealtimeSeed } from '../contract.ts';
import { CallerTurn } from './caller-turn.ts';
import { CallerWords } from './caller-words.ts';
import {
  asked,
  cancelled,
  closeError,
  completed,
  cutShort,
  endingBy,
  endsInMidSentence,
  type Ending,
} from './endings.ts';
import { content, contextUpdate, endingWithUser } from './messages.ts';
import { inWords, seedMessage, setupMessage, spokenText, turnsOf, type GeminiSettings } from './messages.ts';
import { ToolCalls } from './tool-calls.ts';
import { SessionUsage } from './usage.ts';

export const OUTPUT_RATE = 24_000;
/** A connection lives so long, whatever the session does. */
const connectionMs = 600_000;
/** What is said unasked beyond that is lost: two minutes, and as many pieces. */
const mostHeldSamples = 120 * OUTPUT_RATE;
const mostHeldPieces = 4_096;
const mostNotes = 256;

export type WireEvent =
  { readonly type: 'send'; readonly message: string; readonly isSound: boolean } | RealtimeEvent;

/** What an answer is made of, before it is known which. */
type Piece =
  | { readonly type: 'audio'; readonly pcm: Int16Array }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'call'; readonly call: ToolCall }
  | { readonly type: 'end'; readonly ending: Ending; readonly hasItem: boolean };

/** What the service does, as far as it is wanted. `unwanted`: what it begins next is not. */
type Server = 'idle' | 'awaited' | 'unwanted' | 'running';

export interface GeminiWireOptions {
  readonly settings: GeminiSettings;
  readonly seed: RealtimeSeed;
  /** For calls that the service gives no id: never the same in a call. */
  readonly newCallId: () => string;
}

/** What came of a generation. `written`: text where sound was asked for. */
const newSpoken = () => ({ text: '', written: '', hasItem: false, pcm: new PcmBytes() });

export class GeminiWire {
  readonly #settings: GeminiSettings;
  #seed: RealtimeSeed;
  #names: WireNames;
  readonly #calls: ToolCalls;
  readonly #usage = new SessionUsage();
  readonly #turn: CallerTurn;
  readonly #caller: CallerWords;
  #out: WireEvent[] = [];
  #isSetUp = false;
  #isReady = false;
  #notes: ChatMessage[] = [];
  /** The answer that was asked for and is not done. */
  #answer: number | undefined;
  #server: Server = 'idle';
  /** A generation that is not wanted still runs. */
  #isStale = false;
  /** The service has still to say that its turn is complete, which it does late. */
  #isOwed = false;
  /** The service was stopped a moment ago: what comes now is from before. */
  #isStopping = false;
  #stops = 0;
  /** Nothing that was sent may be missing in what the service remembers. */
  #isSettled = true;
  /** Of the generation that runs, or that ran last. */
  #spoken = newSpoken();
  /** The generation is over, but for words that may come late. */
  #ending: Ending | undefined;
  #isCutShort = false;
  #held: Piece[] = [];
  #heldSamples = 0;

  constructor({ settings, seed, newCallId }: GeminiWireOptions) {
    this.#settings = settings;
    this.#seed = seed;
    this.#names = wireNames(seed.tools.map(({ name }) => name));
    this.#calls = new ToolCalls(
      { toWire: (name) => this.#names.toWire(name), fromWire: (name) => this.#names.fromWire(name) },
      newCallId,
    );
    this.#turn = new CallerTurn((message, isSound) => this.#out.push({ type: 'send', message, isSound }));
    this.#caller = new CallerWords(settings.words === 'vendor', (event) => this.#out.push(event));
    if (seed.resume !== undefined) this.#notes.push(...seed.history);
  }

  /** The socket is open; the message that goes first. */
  opened(): string {
    this.#isSetUp = true;
    return setupMessage(this.#settings, this.#seed, this.#names);
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** An answer is over but for words that may be on their way; {@link wordsAreOver} ends it when they had their time. */
  get isEnding(): boolean {
    return this.#ending !== undefined;
  }

  /** How often the service was stopped; {@link hasStopped} says when what it had said before has come. */
  get stops(): number {
    return this.#stops;
  }

  /** The service's words for a turn, as far as they have come and more may; {@link callerIsWritten} ends them. */
  get callerText(): string | undefined {
    return this.#caller.open;
  }

  // ---- what the engine says ----

  /** While an answer is not over its sound waits, because it would stop it: the caller may only have coughed. */
  beginTurn(): readonly WireEvent[] {
    this.#caller.begin();
    this.#turn.begin();
    if (this.#answer === undefined) this.#hearTurn();
    return this.#take();
  }

  /** The message that goes at once, where one does. */
  audio(pcm: Int16Array): string | undefined {
    return this.#turn.audio(pcm);
  }

  /** The service is told when the answer is asked for, together with what is to be known for it. */
  endTurn(turn: number): readonly WireEvent[] {
    if (this.#turn.end()) this.#caller.end(turn);
    return this.#take();
  }

  abandonTurn(): void {
    this.#turn.abandon();
  }

  respond(answer: number): readonly WireEvent[] {
    this.#endNow();
    if (this.#answer !== undefined) this.#drop();
    this.#answer = answer;
    for (const message of this.#calls.responses(true)) this.#sendResponse(message);
    const isComing = this.#server === 'awaited' || this.#server === 'running' || this.#held.length > 0;
    if (this.#turn.isEnded) this.#answerTurn();
    else if (isComing && !(this.#server === 'idle' && this.#notes.length > 0)) this.#tellHeld();
    else this.#nudge();
    return this.#take();
  }

  /** There is no message for it: what still comes is dropped. */
  cancel(): readonly WireEvent[] {
    if (this.#answer !== undefined) this.#drop();
    return this.#take();
  }

  append(messages: readonly ChatMessage[]): readonly WireEvent[] {
    const results = messages.filter((message) => message.role === 'tool');
    const strange = new Set<ChatMessage>(this.#calls.answer(results));
    for (const message of this.#calls.responses(false)) this.#sendResponse(message);
    this.#notes.push(...messages.filter((message) => message.role !== 'tool' || strange.has(message)));
    this.#notes.splice(0, Math.max(0, this.#notes.length - mostNotes));
    return this.#take();
  }

  update(changed: Pick<RealtimeSeed, 'instructions' | 'tools'>): readonly WireEvent[] {
    this.#names = wireNames([...this.#seed.tools, ...changed.tools].map(({ name }) => name));
    if (!this.#isSetUp) this.#seed = { ...this.#seed, ...changed };
    else if (!this.#settings.contextUpdate)
      return [failure({ kind: 'protocol', rule: 'a session keeps its instructions' })];
    else this.#send(contextUpdate(changed, this.#settings, this.#names));
    return this.#take();
  }

  hasStopped(): void {
    this.#isStopping = false;
  }

  callerIsWritten(): readonly WireEvent[] {
    this.#caller.settle();
    return this.#take();
  }

  wordsAreOver(): readonly WireEvent[] {
    const isCut = this.#ending === completed && endsInMidSentence(this.#spoken.text);
    this.#endNow(isCut ? cutShort : this.#ending);
    return this.#take();
  }

  // ---- what the service says ----

  /** @param text a message, in a text frame or a binary one */
  read(text: string): readonly WireEvent[] {
    // Only arguments of tools have numbers whose digits matter.
    const message = text.includes('"functionCall') ? parseJson(text) : quickly(text);
    if (!isRecord(message)) return [failure({ kind: 'protocol', rule: 'a message is a JSON object' })];
    const said = recordOf(message['serverContent']) ?? {};
    if (message['setupComplete'] !== undefined) this.#begin(recordOf(message['setupComplete']) ?? {});
    const usage = recordOf(message['usageMetadata']);
    if (usage !== undefined) this.#usage.count(usage);
    this.#caller.hear(said['inputTranscription']);
    this.#words(textOf(recordOf(said['outputTranscription'])?.['text']));
    const parts = listOf(recordOf(said['modelTurn'])?.['parts']).map((part) => recordOf(part) ?? {});
    for (const part of parts) this.#part(part);
    this.#toolCalls([
      ...parts.map((part) => part['functionCall']),
      ...listOf(recordOf(message['toolCall'])?.['functionCalls']),
    ]);
    this.#cancelCalls(recordOf(message['toolCallCancellation'])?.['ids']);
    if (said['interrupted'] === true) this.#interrupted();
    if (said['generationComplete'] === true) this.#generated();
    if (said['turnComplete'] === true) this.#turnComplete(textOf(said['turnCompleteReason']));
    this.#resumable(recordOf(message['sessionResumptionUpdate']));
    const goAway = recordOf(message['goAway']);
    if (goAway !== undefined) this.#out.push({ type: 'expiring', inMs: millisIn(goAway['timeLeft']) });
    return this.#take();
  }

  closed(code: number, reason: string): StageError {
    return closeError({ code, reason, isReady: this.#isReady });
  }

  #begin(complete: JsonRecord): void {
    if (this.#isReady) return;
    this.#isReady = true;
    const { resume, history } = this.#seed;
    const seed = resume === undefined ? seedMessage(history, this.#settings.seeding) : undefined;
    if (seed !== undefined) this.#send(seed);
    const session = textOf(complete['sessionId']);
    const caps: RealtimeCaps = {
      truncates: false,
      removes: false,
      answersTurns: false,
      answersTools: true,
      updates: this.#settings.contextUpdate,
      cancels: false,
    };
    this.#out.push({ type: 'ready', ...(session !== '' && { session }), caps, expiresInMs: connectionMs });
  }

  /** Whether what comes now belongs to a generation that is wanted. */
  #isWanted(): boolean {
    if (this.#turn.isOpen || this.#isStale || this.#ending !== undefined) return false;
    if (this.#server === 'running') return true;
    // Behind the end of an answer nothing begins by itself: it is what comes too late of it.
    if (this.#server === 'idle' && this.#isOwed) return false;
    const isUnwanted = this.#server === 'unwanted' || this.#isStopping;
    this.#isStale = isUnwanted;
    if (!isUnwanted) this.#server = 'running';
    else if (this.#server === 'unwanted') this.#server = 'idle';
    this.#calls.beginGeneration();
    this.#spoken = newSpoken();
    return !isUnwanted;
  }

  #part(part: JsonRecord): void {
    if (part['thought'] === true) return;
    const text = textOf(part['text']);
    if (this.#settings.output === 'text') this.#words(text);
    // With sound, text beside it is not what is said.
    else if (text !== '' && this.#isWanted()) this.#spoken.written += text;
    const { mimeType, data } = recordOf(part['inlineData']) ?? {};
    if (!textOf(mimeType).startsWith('audio/') || !this.#isWanted()) return;
    const rate = /rate=(\d+)/.exec(textOf(mimeType))?.[1];
    if (rate !== undefined && Number(rate) !== OUTPUT_RATE) {
      this.#out.push(failure({ kind: 'protocol', rule: 'audio has 24000 samples a second' }));
      return;
    }
    const pcm = this.#spoken.pcm.take(Buffer.from(textOf(data), 'base64'));
    if (pcm.length > 0) this.#piece({ type: 'audio', pcm });
  }

  #words(given: string): void {
    const isLate = this.#ending !== undefined;
    // Nothing begins with a blank.
    if (given === '' || (given.trim() === '' && this.#server !== 'running')) return;
    if (!isLate && !this.#isWanted()) return;
    const text = this.#spoken.text === '' ? given.trimStart() : given;
    if (text === '') return;
    this.#spoken.text += text;
    this.#piece({ type: 'text', text });
    if (isLate && !endsInMidSentence(this.#spoken.text)) this.#endNow();
  }

  #toolCalls(said: readonly unknown[]): void {
    const given = said.filter(isRecord);
    if (given.length === 0) return;
    // A call behind the end of an answer must not be lost: the model waits for its result.
    if (this.#ending === undefined && this.#server === 'idle') this.#isOwed = false;
    if (this.#ending === undefined && !this.#isWanted()) return;
    const calls = this.#calls.take(given);
    for (const call of calls) this.#piece({ type: 'call', call });
    // A model that does not wait for results goes on speaking.
    if (calls.length === 0 || this.#settings.behavior === 'NON_BLOCKING') return;
    this.#end(asked);
    this.#usage.endTurn();
  }

  #cancelCalls(wireIds: unknown): void {
    const ids = this.#calls.cancel(listOf(wireIds).filter((id) => typeof id === 'string'));
    if (ids.length > 0) this.#out.push({ type: 'tool-cancelled', ids });
  }

  /** Of a generation that runs; of one that is still played, or that was not begun, it tells nothing. */
  #interrupted(): void {
    if (this.#server === 'running') this.#end(cancelled);
    this.#isStale = false;
    this.#isStopping = false;
    this.#isOwed = true;
  }

  #generated(): void {
    const isStale = this.#isStale;
    this.#isStale = false;
    this.#isStopping = false;
    this.#isOwed = true;
    if (!isStale && this.#server === 'running') this.#end(completed);
  }

  /** Comes long behind the end of what was said, or before it: then the answer is cut. */
  #turnComplete(reason: string): void {
    this.#usage.endTurn();
    const isLate = this.#isStale || this.#isOwed || this.#turn.isOpen || this.#isStopping;
    this.#isStale = false;
    this.#isStopping = false;
    this.#isOwed = false;
    if (this.#ending !== undefined) this.#endNow();
    if (!this.#turn.isOpen && !(isLate && this.#server === 'awaited')) {
      this.#isSettled = true;
      this.#caller.settle();
    }
    if (isLate) return;
    if (this.#server === 'running') this.#endNow(endingBy(reason) ?? cutShort);
    // The model has heard, and has nothing to say.
    else if (this.#server === 'awaited') this.#endNow(endingBy(reason) ?? completed);
    else if (this.#server === 'unwanted') this.#server = 'idle';
  }

  #resumable(update: JsonRecord | undefined): void {
    const handle = textOf(update?.['newHandle']);
    if (update?.['resumable'] !== true || handle === '') return;
    // Of what is on its way nobody knows whether the handle covers it.
    if (this.#isSettled && this.#notes.length === 0) this.#out.push({ type: 'resumable', handle });
  }

  // ---- answers ----

  #piece(piece: Piece): void {
    if (piece.type === 'audio' || piece.type === 'text') this.#spoken.hasItem = true;
    if (this.#answer !== undefined) {
      this.#tell(this.#answer, piece);
      return;
    }
    if (piece.type === 'audio') this.#heldSamples += piece.pcm.length;
    const isFull = this.#heldSamples > mostHeldSamples || this.#held.length >= mostHeldPieces;
    if (!isFull || piece.type === 'end') this.#held.push(piece);
  }

  #tell(answer: number, piece: Piece): void {
    const item = String(answer);
    switch (piece.type) {
      case 'audio':
        this.#out.push({ type: 'audio', answer, item, pcm: piece.pcm });
        return;
      case 'text':
        this.#out.push({ type: 'text', answer, item, text: piece.text });
        return;
      case 'call':
        this.#out.push({ type: 'tool-call', answer, ...piece.call });
        return;
      case 'end':
        if (piece.hasItem) this.#out.push({ type: 'item-done', answer, item });
        this.#tellDone(answer, piece.ending);
    }
  }

  #tellDone(answer: number, ending: Ending): void {
    const usage = this.#usage.take();
    this.#out.push({ type: 'done', answer, ...ending, ...(usage !== undefined && { usage }) });
    this.#answer = undefined;
    if (this.#turn.waits && !this.#turn.isEnded) this.#hearTurn();
  }

  #tellHeld(): void {
    const held = this.#held;
    this.#forgetHeld();
    for (const piece of held) this.#piece(piece);
  }

  #forgetHeld(): void {
    this.#held = [];
    this.#heldSamples = 0;
  }

  /** The generation is over. Its words may still be on their way where they end in the middle of a sentence, or have not come at all. */
  #end(ending: Ending): void {
    if (ending === completed) this.#sayWritten();
    this.#server = 'idle';
    this.#isOwed = true;
    this.#isSettled = true;
    this.#caller.settleIfHeard();
    this.#ending = ending;
    const { text, hasItem } = this.#spoken;
    const isWaiting = hasItem && (text === '' || endsInMidSentence(text));
    if (this.#settings.output === 'text' && ending === completed && isWaiting) this.#endNow(cutShort);
    else if (ending.finish !== 'completed' || !isWaiting) this.#endNow();
  }

  /** The model wrote its answer where it should have spoken it. */
  #sayWritten(): void {
    const { written, hasItem } = this.#spoken;
    if (!hasItem) this.#words(written);
  }

  #endNow(ending = this.#ending): void {
    this.#ending = undefined;
    if (ending === undefined) return;
    this.#server = 'idle';
    this.#isSettled = true;
    this.#isCutShort = ending === cutShort;
    this.#piece({ type: 'end', ending, hasItem: this.#spoken.hasItem });
    this.#spoken = { ...this.#spoken, hasItem: false };
  }

  /** What the service is about to say, or says, is not wanted any more. */
  #drop(): void {
    if (this.#server === 'running') this.#isStale = true;
    const isUnbegun = this.#server === 'awaited' || this.#server === 'unwanted';
    this.#server = isUnbegun ? 'unwanted' : 'idle';
    this.#forgetHeld();
    this.#ending = undefined;
    if (this.#answer !== undefined) this.#tellDone(this.#answer, cancelled);
  }

  // ---- sending ----

  /** The service is to speak from here on. */
  #await(): void {
    this.#endNow();
    this.#server = 'awaited';
    this.#isSettled = false;
    this.#forgetHeld();
  }

  #sendResponse(message: JsonRecord): void {
    this.#send(writeJson(message));
    // A model that does not wait may be speaking.
    if (this.#server !== 'running') this.#await();
  }

  /** The service hears the caller from here on, and stops what it says. */
  #hearTurn(): void {
    if (this.#isStale || this.#server !== 'idle') this.#stop();
    if (this.#server === 'running') this.#isStale = true;
    // Of what it had not begun it says at most that it was interrupted, and that its turn is complete.
    this.#isOwed ||= this.#server === 'awaited' || this.#server === 'unwanted';
    this.#server = 'idle';
    this.#forgetHeld();
    // A model that does not wait for results still wants them.
    if (this.#settings.behavior !== 'NON_BLOCKING') this.#calls.interrupt();
    this.#turn.flow();
  }

  /** What follows stops the service. */
  #stop(): void {
    this.#isStopping = true;
    this.#stops += 1;
  }

  #answerTurn(): void {
    if (this.#turn.waits) this.#hearTurn();
    if (this.#notes.length > 0) this.#send(spokenText(inWords(this.#notes)));
    this.#notes = [];
    this.#turn.close();
    this.#await();
  }

  /** Has the model speak without the caller: to what waits to be told, or to nothing. */
  #nudge(): void {
    const isNews = this.#notes.length > 0;
    const goOn = this.#isCutShort
      ? 'you were cut off; go on exactly where you stopped'
      : 'it is your turn to speak';
    const notes: readonly ChatMessage[] = isNews ? this.#notes : [{ role: 'system', text: goOn }];
    this.#notes = [];
    const mayRun = this.#isStale || this.#server === 'unwanted';
    if (this.#settings.seeding === 'content' && !this.#turn.isOpen) {
      if (mayRun) this.#stop();
      this.#send(content(endingWithUser(turnsOf(notes)), true));
    } else {
      // Nothing but an activity stops what runs. Of what has not begun there may be none, and then words are enough.
      if (!this.#turn.isOpen && (this.#isStale || (isNews && mayRun))) {
        this.#stop();
        this.#turn.open();
      }
      this.#send(spokenText(inWords(notes)));
      if (this.#turn.isOpen) this.#turn.close();
    }
    this.#isCutShort = false;
    this.#await();
  }

  #send(message: string): void {
    this.#out.push({ type: 'send', message, isSound: false });
  }

  #take(): readonly WireEvent[] {
    const out = this.#out;
    this.#out = [];
    return out;
  }
}

const failure = (error: StageError): WireEvent => ({ type: 'error', error });

function quickly(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The caller names the rule that was broken.
    return undefined;
  }
}

/** Of `"50s"`; none where it says no time. */
function millisIn(duration: unknown): number {
  const seconds = /^(\d{1,6}(?:\.\d{1,9})?)s$/.exec(textOf(duration))?.[1];
  return seconds === undefined ? 0 : Math.round(Number(seconds) * 1_000);
}
