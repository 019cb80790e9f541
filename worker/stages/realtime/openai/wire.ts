/**
 * One connection's side of the protocol of `openai_realtime`: methods and messages in, messages and events out.
 *
 * Invariant: at most one answer is asked for at a time, and each one given to `respond` is told as `done` exactly once, unless the session dies.
 * Of an answer that was cancelled nothing more is told than that. Errors about what is no longer there are no errors. Pure: no sockets, no
 * time; the time that a cancelled answer is waited for is the owner's, which calls `letGo`.
 */
import { recordOf, recordsOf, textOf, writeJson, type JsonRecord, countOf } from '../../json.ts';
import { causeIn, explained } from '../../failure.ts';
import type { ChatMessage, StageError } from '../../stage.ts';
import type { RealtimeCaps, RealtimeEvent, RealtimeSeed, RealtimeUsage } from '../contract.ts';
import { CallerWords } from './caller-words.ts';
import { errorOf, fatalError } from './errors.ts';
import { Items, keepNewest } from './items.ts';
import { changeOf, itemsOf, sessionOf, withHistory, type RealtimeSettings } from './requests.ts';

/** What an answer cost, by kind of token. Parts are inside the totals, and thinking is inside the text. */
const inside = (fields: JsonRecord, key: string): JsonRecord => recordOf(fields[key]) ?? {};

function usageIn(value: unknown): RealtimeUsage | undefined {
  const usage = recordOf(value);
  if (usage === undefined) return undefined;
  const input = inside(usage, 'input_token_details');
  const output = inside(usage, 'output_token_details');
  return {
    inputTokens: countOf(usage['input_tokens']),
    outputTokens: countOf(usage['output_tokens']),
    cachedTokens: countOf(input['cached_tokens']),
    inputAudioTokens: countOf(input['audio_tokens']),
    outputAudioTokens: countOf(output['audio_tokens']),
    cachedAudioTokens: countOf(inside(input, 'cached_tokens_details')['audio_tokens']),
    reasoningTokens: countOf(output['reasoning_tokens']),
  };
}

export type Effect =
  /** `isSetup`: it opens the session; all others wait until that is `ready`. */
  | { readonly type: 'send'; readonly message: string; readonly isSetup?: true }
  | { readonly type: 'tell'; readonly event: RealtimeEvent };

/** What the server is making, as far as it is known. */
interface Running {
  /** Absent: an answer that nobody here asked for. */
  readonly answer: number | undefined;
  /** The server's name of it; absent until it says so. */
  response: string | undefined;
  isCancelled: boolean;
  /** How often the server would not begin it. */
  readonly refusals: number;
}

interface Owed {
  readonly answer: number;
  readonly refusals: number;
}

/** So often a server may say that it is still busy with another answer. */
const mostRefusals = 3;
const mostOver = 64;
/** No vendor keeps a session for longer: a later end is told in another unit, or by a clock that is wrong. */
const longestToldMs = 24 * 3_600_000;
/** A session that fails so often without an answer in between is of no use. */
const mostServerErrors = 2;

/** What a message was about, in the id that an error about it repeats. */
const about = {
  answer: 'answer_',
  cancel: 'cancel_',
  cut: 'cut_',
  turn: 'turn_',
  item: 'item_',
  update: 'update_',
};

export class OpenAiWire {
  readonly #settings: RealtimeSettings;
  readonly #seed: RealtimeSeed;
  readonly #wallMs: () => number;
  readonly #items: Items;
  readonly #words = new CallerWords();
  readonly #over = new Set<string>();
  /** Responses that were waited for no longer, and their answers: what they cost is told when they end. */
  readonly #letGone = new Map<string, number>();
  /** Items of the answer that was cancelled, of which more came than was told. */
  readonly #dropped = new Set<string>();
  #effects: Effect[] = [];
  #isConfigured = false;
  #isReady = false;
  #sessionId: string | undefined;
  #expiresAtMs: number | undefined;
  #running: Running | undefined;
  #owed: Owed | undefined;
  #sent = 0;
  #serverErrors = 0;
  #limitsResetMs: number | undefined;

  /** @param wallMs milliseconds since 1970. */
  constructor(settings: RealtimeSettings, seed: RealtimeSeed, wallMs: () => number) {
    this.#settings = settings;
    this.#seed = seed;
    this.#wallMs = wallMs;
    this.#items = new Items(settings.dialect);
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** An answer whose end is waited for, because nothing can be asked before it; another one is another object. */
  get waitsFor(): object | undefined {
    return this.#running?.isCancelled === true ? this.#running : undefined;
  }

  endTurn(turn: number): Effect[] {
    this.#words.committed(turn);
    this.#send({ type: 'input_audio_buffer.commit', event_id: `${about.turn}${turn}` });
    return this.#take();
  }

  clear(): Effect[] {
    this.#send({ type: 'input_audio_buffer.clear' });
    return this.#take();
  }

  respond(answer: number): Effect[] {
    const owed = { answer, refusals: 0 };
    if (this.#running === undefined) this.#ask(owed);
    else this.#owed = owed;
    return this.#take();
  }

  cancel(): Effect[] {
    if (this.#owed !== undefined) {
      this.#tellDone(this.#owed.answer, { finish: 'cancelled' });
      this.#owed = undefined;
    } else if (this.#running?.isCancelled === false) {
      this.#running.isCancelled = true;
      this.#cancel(this.#running.response);
    }
    return this.#take();
  }

  append(messages: readonly ChatMessage[]): Effect[] {
    const { dialect } = this.#settings;
    const isKnownCall = (id: string): boolean => this.#items.isKnownCall(id);
    for (const item of messages.flatMap((message) => itemsOf(message, { dialect, isKnownCall }))) {
      this.#send({ type: 'conversation.item.create', event_id: this.#nextId(about.item), item });
    }
    return this.#take();
  }

  truncate(item: string, audioMs: number): Effect[] {
    const receivedMs = this.#items.receivedMs(item);
    if (receivedMs === undefined || Number.isNaN(audioMs)) return [];
    const ms = Math.floor(Math.min(audioMs, receivedMs));
    // Of an answer that came as text there is no sound to cut.
    if (audioMs <= 0 || ms > 0) this.#cut(item, ms);
    return this.#take();
  }

  /** The server is to remember so much of an item, and nothing of it where that is nothing. A second cut may be shorter, and is refused where it is not. */
  #cut(item_id: string, ms: number): void {
    const event_id = this.#nextId(about.cut);
    const where = { event_id, item_id };
    if (ms <= 0) this.#send({ type: 'conversation.item.delete', ...where });
    else this.#send({ type: 'conversation.item.truncate', ...where, content_index: 0, audio_end_ms: ms });
  }

  update({ instructions, tools }: Pick<RealtimeSeed, 'instructions' | 'tools'>): Effect[] {
    const session = changeOf(this.#settings, { instructions: this.#withHistory(instructions), tools });
    this.#send({ type: 'session.update', event_id: this.#nextId(about.update), session });
    return this.#take();
  }

  /** What was cancelled is waited for no longer. */
  letGo(): Effect[] {
    const running = this.#running;
    if (running?.isCancelled !== true) return [];
    this.#running = undefined;
    if (running.response !== undefined) this.#isOver(running.response);
    if (running.answer === undefined) this.#cancel(running.response);
    else {
      this.#items.end(running.answer, { runs: false });
      this.#tellDone(running.answer, { finish: 'cancelled' });
      if (running.response !== undefined) this.#letGone.set(running.response, running.answer);
      keepNewest(this.#letGone, mostOver);
    }
    this.#askOwed();
    return this.#take();
  }

  read(message: JsonRecord): Effect[] {
    const type = textOf(message['type']);
    if (type.startsWith('session.') || type === 'conversation.created') this.#readSession(type, message);
    else if (type.startsWith('response.')) this.#readAnswer(type, message);
    else if (type.startsWith('conversation.item.input_audio_transcription.')) this.#readWords(type, message);
    else if (type === 'input_audio_buffer.committed') this.#words.named(textOf(message['item_id']));
    else if (type === 'rate_limits.updated') this.#readLimits(message);
    else if (type === 'error') this.#readError(recordOf(message['error']) ?? {});
    return this.#take();
  }

  #take(): Effect[] {
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }

  #nextId(prefix: string): string {
    this.#sent += 1;
    return `${prefix}${this.#sent}`;
  }

  #send(message: Readonly<Record<string, unknown>>): void {
    this.#effects.push({ type: 'send', message: writeJson(message) });
  }

  #tell(...events: readonly RealtimeEvent[]): void {
    this.#effects.push(...events.map((event) => ({ type: 'tell', event }) as const));
  }

  #fail(error: StageError, fields: JsonRecord): void {
    this.#tell({ type: 'error', error: explained(error, causeIn({ error: fields })) });
  }

  #tellDone(
    answer: number,
    how: Pick<Extract<RealtimeEvent, { type: 'done' }>, 'finish' | 'usage' | 'failed'>,
  ): void {
    this.#tell({ type: 'done', answer, ...how });
  }

  #withHistory(instructions: string): string {
    return withHistory(instructions, this.#seed.history, this.#settings.dialect.longestInstructions);
  }

  // ---- The session ---------------------------------------------------------------------------------------------------

  #readSession(type: string, message: JsonRecord): void {
    const session = recordOf(message['session']) ?? {};
    const { id, expires_at: expiresAt } = session;
    if (typeof id === 'string') this.#sessionId ??= id;
    if (typeof expiresAt === 'number' && expiresAt > 0) this.#expiresAtMs = expiresAt * 1000;
    if (type === 'session.updated') {
      if (this.#isConfigured && !this.#isReady) this.#becomeReady();
    } else if (!this.#isConfigured) {
      this.#isConfigured = true;
      const { tools, instructions } = this.#seed;
      const configured = sessionOf(this.#settings, { instructions: this.#withHistory(instructions), tools });
      const update = { type: 'session.update', event_id: this.#nextId(about.update), session: configured };
      this.#effects.push({ type: 'send', message: writeJson(update), isSetup: true });
    }
  }

  #becomeReady(): void {
    this.#isReady = true;
    const { dialect, output } = this.#settings;
    const caps: RealtimeCaps = {
      truncates: dialect.truncates && output === 'audio',
      removes: dialect.truncates,
      answersTurns: false,
      answersTools: false,
      updates: true,
      cancels: true,
    };
    const told = this.#expiresAtMs === undefined ? 0 : this.#expiresAtMs - this.#wallMs();
    // A clock that is wrong says nothing.
    const expiresInMs = told > 0 && told <= longestToldMs ? told : dialect.sessionMs;
    this.#tell({
      type: 'ready',
      ...(this.#sessionId !== undefined && { session: this.#sessionId }),
      caps,
      ...(expiresInMs !== undefined && { expiresInMs }),
    });
  }

  #readLimits(message: JsonRecord): void {
    const seconds = recordsOf(message['rate_limits'])
      .map((limit) => Number(limit['reset_seconds']))
      .filter((value) => value > 0);
    this.#limitsResetMs = seconds.length === 0 ? undefined : Math.max(...seconds) * 1000;
  }

  #readWords(type: string, message: JsonRecord): void {
    if (this.#settings.words === 'own') return;
    const item = textOf(message['item_id']);
    const step = type.slice(type.lastIndexOf('.') + 1);
    const whole = message['transcript'];
    if (step === 'delta') this.#tell(...this.#words.piece(item, textOf(message['delta'])));
    else if (step === 'updated') this.#tell(...this.#words.soFar(item, textOf(whole)));
    else if (step === 'completed')
      this.#tell(...this.#words.whole(item, typeof whole === 'string' ? whole : undefined));
    // Of a noise there are no words, which is no fault.
    else if (step === 'failed') this.#tell(...this.#words.whole(item));
  }

  // ---- Answers -------------------------------------------------------------------------------------------------------

  #ask(owed: Owed): void {
    const { answer, refusals } = owed;
    this.#owed = undefined;
    this.#running = { answer, refusals, response: undefined, isCancelled: false };
    const labels = this.#settings.dialect.labels
      ? { response: { metadata: { answer: String(answer) } } }
      : {};
    this.#send({ type: 'response.create', event_id: `${about.answer}${answer}`, ...labels });
  }

  #askOwed(): void {
    if (this.#running === undefined && this.#owed !== undefined) this.#ask(this.#owed);
  }

  #cancel(response: string | undefined): void {
    const event_id = this.#nextId(about.cancel);
    this.#send({
      type: 'response.cancel',
      event_id,
      ...(response !== undefined && { response_id: response }),
    });
  }

  /** Takes note that this response is over; true when it was before. */
  #isOver(response: string): boolean {
    const was = response !== '' && this.#over.has(response);
    if (response !== '') this.#over.add(response);
    keepNewest(this.#over, mostOver);
    return was;
  }

  /** Whether an event about a response is about the answer that runs: also one that names no response, or gives no label back. */
  #isRunning(response: string, label: string | undefined): boolean {
    const running = this.#running;
    if (running === undefined || this.#over.has(response)) return false;
    if (running.response !== undefined) return response === '' || running.response === response;
    if (running.answer === undefined) return false;
    return label === undefined || !this.#settings.dialect.labels || label === String(running.answer);
  }

  #readAnswer(type: string, message: JsonRecord): void {
    const response = recordOf(message['response']);
    const id = textOf(response?.['id']) || textOf(message['response_id']);
    // A proxy may leave labels out; an answer without one says so.
    const hasLabel = response === undefined || 'metadata' in response;
    const label = hasLabel ? textOf(recordOf(response?.['metadata'])?.['answer']) : undefined;
    const isRunning = this.#isRunning(id, label);
    const running = this.#running;
    if (type === 'response.done') {
      const wasOver = this.#isOver(id);
      // An answer that keeps the server from the next one need not be known.
      const isAwaited = running !== undefined && running.answer === undefined;
      const isEnd = running !== undefined && (isAwaited || (isRunning && !wasOver));
      if (!isEnd || isAwaited || running.isCancelled) this.#forget(response ?? {});
      if (isEnd) this.#finish(running, response ?? {});
      this.#tellLateUsage(id, response ?? {});
      return;
    }
    if (!isRunning || running === undefined) {
      // Nobody asked for it: a server that answers by itself.
      if (type === 'response.created' && !this.#isOver(id)) this.#cancel(id);
      return;
    }
    if (id !== '') running.response ??= id;
    const { answer, isCancelled } = running;
    if (answer !== undefined && !isCancelled) this.#readPart(answer, type, message);
    else if (textOf(message['delta']) !== '') this.#dropped.add(textOf(message['item_id']));
  }

  #tellLateUsage(response: string, { usage: told }: JsonRecord): void {
    const answer = this.#letGone.get(response);
    const usage = usageIn(told);
    this.#letGone.delete(response);
    if (answer !== undefined && usage !== undefined) this.#tellDone(answer, { finish: 'cancelled', usage });
  }

  /** The server remembers what it made of an answer that nobody wants any more, and that was told to nobody. */
  #forget(response: JsonRecord): void {
    const made = recordsOf(response['output']).filter((item) => item['type'] === 'message');
    const dropped = [...this.#dropped];
    this.#dropped.clear();
    for (const item of new Set([...dropped, ...made.map(({ id }) => textOf(id))])) {
      const receivedMs = this.#items.receivedMs(item);
      if (item === '' || !this.#settings.dialect.truncates) continue;
      if (receivedMs === undefined) this.#cut(item, 0);
      else if (dropped.includes(item) && receivedMs > 0) this.#cut(item, receivedMs);
    }
  }

  #readPart(answer: number, type: string, message: JsonRecord): void {
    const item = textOf(message['item_id']);
    const part = type.slice('response.'.length).replace(/^output_/, '');
    const delta = textOf(message['delta']);
    switch (part) {
      case 'audio.delta':
        this.#tell(...this.#items.sound(answer, item, delta));
        return;
      case 'text.delta':
        this.#tell(...this.#text(answer, item, delta));
        return;
      case 'audio_transcript.delta':
        this.#tell(...this.#items.words(answer, item, delta));
        return;
      case 'text.done':
        this.#tell(...this.#text(answer, item, textOf(message['text']), { isWhole: true }));
        return;
      case 'audio_transcript.done':
        this.#tell(...this.#items.allWords(answer, item, textOf(message['transcript'])));
        return;
      case 'item.done':
        this.#tell(...this.#items.complete(answer, recordOf(message['item']) ?? {}));
        return;
      case 'function_call_arguments.done':
        this.#items.call(message);
    }
  }

  /** Text that was asked for, or that came in place of sound. */
  #text(answer: number, item: string, text: string, { isWhole = false } = {}): RealtimeEvent[] {
    if (this.#settings.output === 'audio') return this.#items.written(answer, item, text, { isWhole });
    return isWhole ? this.#items.allWords(answer, item, text) : this.#items.words(answer, item, text);
  }

  #finish(running: Running, response: JsonRecord): void {
    const { answer, isCancelled } = running;
    this.#running = undefined;
    if (answer !== undefined) this.#finishAnswer(answer, { isCancelled, response });
    this.#askOwed();
  }

  #finishAnswer(
    answer: number,
    { isCancelled, response }: { readonly isCancelled: boolean; readonly response: JsonRecord },
  ): void {
    const details = recordOf(response['status_details']) ?? {};
    const usage = usageIn(response['usage']);
    const counted = usage === undefined ? {} : { usage };
    if (isCancelled) {
      this.#items.end(answer, { runs: false });
      this.#tellDone(answer, { finish: 'cancelled', ...counted });
      return;
    }
    const finish = finishOf(textOf(response['status']), textOf(details['reason']));
    const runs = finish === 'completed';
    if (runs) {
      this.#serverErrors = 0;
      this.#tell(...recordsOf(response['output']).flatMap((item) => this.#items.complete(answer, item)));
    }
    this.#tell(...this.#items.end(answer, { runs }));
    const error = recordOf(details['error']) ?? {};
    const failed = finish === 'failed' && explained(errorOf(error, this.#limitsResetMs), causeIn({ error }));
    this.#tellDone(answer, { finish, ...counted, ...(failed && { failed }) });
  }

  // ---- Errors --------------------------------------------------------------------------------------------------------

  #readError(error: JsonRecord): void {
    const code = textOf(error['code']);
    const id = textOf(error['event_id']);
    const fatal = fatalError(error);
    if (!this.#isReady || fatal !== undefined || code === 'session_expired') {
      this.#fail(fatal ?? errorOf(error), error);
    } else if (code === 'conversation_already_has_active_response') {
      this.#busy(id);
    } else if (code === 'input_audio_buffer_commit_empty' || id.startsWith(about.turn)) {
      this.#tell(...(this.#settings.words === 'own' ? [] : this.#words.refused()));
    } else if (id.startsWith(about.answer)) {
      this.#refused(id, error);
    } else if (id.startsWith(about.update)) {
      this.#fail({ kind: 'protocol', rule: 'the provider takes its configuration' }, error);
    } else if (id.startsWith(about.item) && code !== 'item_create_duplicate_item_id') {
      // The server would have to guess what it does not know; a new session is told everything.
      this.#fail({ kind: 'protocol', rule: 'the provider takes what is added to its history' }, error);
    } else if (textOf(error['type']) === 'server_error') {
      this.#serverErrors += 1;
      if (this.#serverErrors >= mostServerErrors) this.#fail({ kind: 'disconnected' }, error);
    }
    // Anything else is about what is no longer there: a cut beyond the end, a cancel of what was over.
  }

  /** The answer that was asked for and that the server has not begun, where the error is about it. */
  #unbegun(id: string): number | undefined {
    const { answer, response } = this.#running ?? {};
    const isIts = id === '' || id === `${about.answer}${answer ?? ''}`;
    return response === undefined && isIts ? answer : undefined;
  }

  /** The server makes another answer still: this one is asked for again when that is over. */
  #busy(id: string): void {
    const answer = this.#unbegun(id);
    if (answer === undefined) return;
    const wasCancelled = this.#running?.isCancelled === true;
    const refusals = (this.#running?.refusals ?? 0) + 1;
    this.#running = { answer: undefined, refusals, response: undefined, isCancelled: true };
    if (wasCancelled) this.#tellDone(answer, { finish: 'cancelled' });
    else if (refusals > mostRefusals)
      this.#tellDone(answer, { finish: 'failed', failed: { kind: 'rejected', status: 409 } });
    else this.#owed = { answer, refusals };
  }

  #refused(id: string, error: JsonRecord): void {
    const answer = this.#unbegun(id);
    if (answer === undefined) return;
    const finish = this.#running?.isCancelled === true ? 'cancelled' : 'failed';
    const failed = explained(errorOf(error, this.#limitsResetMs), causeIn({ error }));
    this.#running = undefined;
    this.#tellDone(answer, { finish, ...(finish === 'failed' && { failed }) });
    this.#askOwed();
  }
}

function finishOf(status: string, reason: string): Extract<RealtimeEvent, { type: 'done' }>['finish'] {
  if (status === 'completed' || status === 'cancelled') return status;
  if (status === '') return 'completed';
  if (status !== 'incomplete') return 'failed';
  return reason === 'content_filter' ? reason : 'length';
}
