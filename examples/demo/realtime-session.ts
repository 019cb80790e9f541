/**
 * One conversation of the speaking model, in the protocol of OpenAI's: the ear writes down what was committed, the mind answers it, and
 * the voice says the answer.
 *
 * Invariant: one answer at a time. Nothing is answered before the words of every turn in front of it are there. Turns are ended by the client;
 * this server judges none.
 */
import { randomUUID } from 'node:crypto';
import type {
  ConversationItem,
  RealtimeResponse,
  RealtimeServerEvent,
} from 'openai/resources/realtime/realtime';
import { To16k } from './audio.ts';
import { isObject, list, type Fields } from './fields.ts';
import { readTool } from './llm-server.ts';
import { reply, type Message, type Tool } from './replies.ts';
import type { Speak } from './tts-server.ts';
import { Utterance, type Transcribe } from './utterance.ts';
import { defaultVoice, isVoice, sentences, speakable } from './voices.ts';

type Without<T, K extends string> = T extends unknown ? Omit<T, K> : never;
type Said = Without<RealtimeServerEvent, 'event_id'>;

export interface RealtimeEngines {
  readonly transcribe: Transcribe;
  readonly speak: Speak;
  /** Local time, for "what time is it". */
  readonly now: () => Date;
}

interface Entry {
  readonly item: ConversationItem;
  readonly message: Message;
  /** What the caller said, once it is written down. */
  readonly words?: Promise<string>;
  /** Sound that was made of it. */
  ms: number;
}

interface Running {
  readonly id: string;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly output: ConversationItem[];
  readonly abort: AbortController;
  /** Milliseconds of sound. */
  ms: number;
}

interface Settings {
  readonly instructions: string;
  readonly tools: readonly Tool[];
  readonly isText: boolean;
  readonly isWrittenDown: boolean;
  readonly voice: string;
  readonly speed: number;
}

const samplesPerMs = 24;
const shortestTurnMs = 100;
const pieceSamples = 200 * samplesPerMs;
const mostItems = 1_000;
const longestSessionMs = 3_600_000;

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const countWords = (text: string): number => text.split(/\s+/).filter((word) => word !== '').length;
const newId = (kind: string): string => `${kind}_${randomUUID().replaceAll('-', '').slice(0, 20)}`;

/** A client's message that is refused. */
class Refused extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * A conversation that is told in the instructions, as to a model that is to go on with it: lines of the caller and of the agent. A model
 * reads them wherever they stand.
 */
function toldIn(instructions: string): Message[] {
  return instructions.split('\n').flatMap((line): Message[] => {
    const [, who, text] = /^(Caller|You): (.*)$/.exec(line) ?? [];
    return text === undefined ? [] : [{ role: who === 'You' ? 'assistant' : 'user', text, calls: [] }];
  });
}

export class RealtimeSession {
  readonly #engines: RealtimeEngines;
  readonly #send: (event: RealtimeServerEvent) => void;
  readonly #id = newId('sess');
  readonly #expiresAt: number;
  #settings: Settings = {
    instructions: '',
    tools: [],
    isText: false,
    isWrittenDown: false,
    voice: defaultVoice,
    speed: 1,
  };
  #entries: Entry[] = [];
  #hearing = new To16k();
  #turn: Utterance;
  #turnMs = 0;
  #running: Running | undefined;

  constructor(engines: RealtimeEngines, send: (event: RealtimeServerEvent) => void) {
    this.#engines = engines;
    this.#send = send;
    this.#turn = new Utterance(engines.transcribe);
    this.#expiresAt = Math.floor((Date.now() + longestSessionMs) / 1000);
    this.#say({ type: 'session.created', session: this.#shown() });
  }

  /** When the session ends whatever goes on in it. */
  get endsInMs(): number {
    return longestSessionMs;
  }

  expire(): void {
    this.#refuse(new Refused('session_expired', 'Your session hit the maximum duration of 60 minutes.'));
  }

  close(): void {
    this.#running?.abort.abort();
    this.#turn.drop();
  }

  /** Takes one message of the client. */
  take(text: string): void {
    let message: unknown;
    try {
      message = JSON.parse(text);
    } catch {
      message = undefined;
    }
    const fields = isObject(message) ? message : {};
    try {
      this.#do(textOf(fields['type']), fields);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      this.#refuse(error, textOf(fields['event_id']));
    }
  }

  #do(type: string, fields: Fields): void {
    switch (type) {
      case 'session.update':
        this.#update(isObject(fields['session']) ? fields['session'] : {});
        return;
      case 'input_audio_buffer.append':
        this.#hear(textOf(fields['audio']));
        return;
      case 'input_audio_buffer.clear':
        this.#forgetTurn();
        this.#say({ type: 'input_audio_buffer.cleared' });
        return;
      case 'input_audio_buffer.commit':
        this.#commit();
        return;
      case 'conversation.item.create':
        this.#add(isObject(fields['item']) ? fields['item'] : {});
        return;
      case 'conversation.item.delete':
        this.#remove(textOf(fields['item_id']));
        return;
      case 'conversation.item.truncate':
        this.#truncate(textOf(fields['item_id']), fields['audio_end_ms']);
        return;
      case 'response.create':
        this.#begin(isObject(fields['response']) ? fields['response'] : {});
        return;
      case 'response.cancel':
        this.#cancel(fields['response_id']);
        return;
      default:
        throw new Refused('invalid_value', 'type must be that of a client event that this server takes');
    }
  }

  #say(event: Said): void {
    this.#send({ event_id: newId('event'), ...event } as RealtimeServerEvent);
  }

  #refuse(error: Error, eventId = ''): void {
    const isKnown = error instanceof Refused;
    this.#say({
      type: 'error',
      error: {
        type: isKnown ? 'invalid_request_error' : 'server_error',
        code: isKnown ? error.code : null,
        message: isKnown ? error.message : 'the demo server failed',
        param: null,
        event_id: eventId === '' ? null : eventId,
      },
    });
  }

  // ---- The session ---------------------------------------------------------------------------------------------------

  #shown() {
    const { instructions, isText } = this.#settings;
    return {
      id: this.#id,
      object: 'realtime.session',
      type: 'realtime' as const,
      model: 'demo-rules',
      expires_at: this.#expiresAt,
      output_modalities: isText ? ['text' as const] : ['audio' as const],
      instructions,
    };
  }

  #update(session: Fields): void {
    if (session['type'] !== 'realtime')
      throw new Refused('missing_required_parameter', "session.type must be 'realtime'");
    const { instructions, tools, output_modalities: modalities } = session;
    if (modalities !== undefined && !['audio', 'text'].includes(list(modalities).join()))
      throw new Refused('invalid_value', 'session.output_modalities must be audio or text');
    const audio = isObject(session['audio']) ? session['audio'] : {};
    const input = isObject(audio['input']) ? audio['input'] : {};
    const output = isObject(audio['output']) ? audio['output'] : {};
    for (const { format } of [input, output])
      if (isObject(format) && (format['type'] !== 'audio/pcm' || format['rate'] !== 24_000))
        throw new Refused('invalid_value', 'session.audio formats must be audio/pcm at 24000 Hz');
    if (isObject(input['turn_detection']))
      throw new Refused(
        'invalid_value',
        'session.audio.input.turn_detection must be null: clients end turns here',
      );
    const before = this.#settings;
    this.#settings = {
      instructions: typeof instructions === 'string' ? instructions : before.instructions,
      tools:
        tools === undefined ? before.tools : list(tools).map((tool, at) => readTool({ function: tool }, at)),
      isText: modalities === undefined ? before.isText : list(modalities).includes('text'),
      isWrittenDown: 'transcription' in input ? isObject(input['transcription']) : before.isWrittenDown,
      voice: isVoice(output['voice']) ? output['voice'] : before.voice,
      speed: typeof output['speed'] === 'number' ? output['speed'] : before.speed,
    };
    this.#say({ type: 'session.updated', session: this.#shown() });
  }

  // ---- The caller ----------------------------------------------------------------------------------------------------

  #hear(base64: string): void {
    const bytes = Buffer.from(base64, 'base64');
    const samples = Int16Array.from({ length: bytes.length >> 1 }, (_, at) => bytes.readInt16LE(at * 2));
    this.#turnMs += samples.length / samplesPerMs;
    this.#turn.add(this.#hearing.take(samples));
  }

  #forgetTurn(): void {
    this.#turn.drop();
    this.#nextTurn();
  }

  #nextTurn(): void {
    this.#turn = new Utterance(this.#engines.transcribe);
    this.#hearing = new To16k();
    this.#turnMs = 0;
  }

  #commit(): void {
    if (this.#turnMs < shortestTurnMs)
      throw new Refused('input_audio_buffer_commit_empty', 'a turn must have at least 100ms of audio');
    const turn = this.#turn;
    const ms = this.#turnMs;
    this.#nextTurn();
    const id = newId('item');
    const words = turn.finish();
    this.#say({ type: 'input_audio_buffer.committed', item_id: id, previous_item_id: this.#lastId() });
    const item: ConversationItem = {
      id,
      type: 'message',
      role: 'user',
      status: 'completed',
      content: [{ type: 'input_audio' }],
    };
    this.#keep({ item, message: { role: 'user', text: '', calls: [] }, words, ms });
    const isWrittenDown = this.#settings.isWrittenDown;
    words.then(
      (transcript) => {
        if (isWrittenDown) this.#tellWords(id, transcript, ms);
      },
      () => {
        if (isWrittenDown) this.#tellUnheard(id);
      },
    );
  }

  #tellWords(item_id: string, transcript: string, ms: number): void {
    const type = 'conversation.item.input_audio_transcription.completed';
    const usage = { type: 'duration', seconds: ms / 1000 } as const;
    this.#say({ type, item_id, content_index: 0, transcript, usage });
  }

  #tellUnheard(item_id: string): void {
    const type = 'conversation.item.input_audio_transcription.failed';
    const error = { type: 'transcription_error', code: 'overloaded', message: 'the recognizer is busy' };
    this.#say({ type, item_id, content_index: 0, error });
  }

  // ---- The conversation ----------------------------------------------------------------------------------------------

  #lastId(): string | null {
    return this.#entries.at(-1)?.item.id ?? null;
  }

  #keep(entry: Entry): void {
    const previous_item_id = this.#lastId();
    this.#entries.push(entry);
    if (this.#entries.length > mostItems) this.#entries.shift();
    this.#say({ type: 'conversation.item.added', item: entry.item, previous_item_id });
    this.#say({ type: 'conversation.item.done', item: entry.item, previous_item_id });
  }

  #add(item: Fields): void {
    const id = textOf(item['id']) || newId('item');
    if (this.#entries.some((entry) => entry.item.id === id))
      throw new Refused('item_create_duplicate_item_id', 'item.id must be new');
    const kept = { ...item, id } as unknown as ConversationItem;
    if (item['type'] === 'function_call_output') {
      const message = { role: 'tool', text: textOf(item['output']), calls: [] };
      this.#keep({ item: kept, message, ms: 0 });
      return;
    }
    const role = textOf(item['role']);
    if (item['type'] !== 'message' || role === '')
      throw new Refused('invalid_value', 'item.type must be message or function_call_output');
    const parts = list(item['content']).map((part) => (isObject(part) ? textOf(part['text']) : ''));
    this.#keep({ item: kept, message: { role, text: parts.join(' '), calls: [] }, ms: 0 });
  }

  #remove(id: string): void {
    if (!this.#entries.some(({ item }) => item.id === id))
      throw new Refused('item_delete_invalid_item_id', 'item_id must be that of an item');
    this.#entries = this.#entries.filter(({ item }) => item.id !== id);
    this.#say({ type: 'conversation.item.deleted', item_id: id });
  }

  #truncate(id: string, ms: unknown): void {
    const at = this.#entries.findIndex(({ item }) => item.id === id);
    const entry = this.#entries[at];
    if (entry === undefined)
      throw new Refused('item_truncate_invalid_item_id', 'item_id must be that of an item');
    if (typeof ms !== 'number' || !Number.isInteger(ms) || ms < 0)
      throw new Refused('invalid_value', 'audio_end_ms must be a whole number');
    if (entry.ms === 0)
      throw new Refused('unsupported_content_type', 'Only model output audio messages can be truncated');
    if (ms > entry.ms)
      throw new Refused('invalid_value', `Audio content of ${entry.ms}ms is already shorter than ${ms}ms`);
    const { text } = entry.message;
    const heard = text.slice(0, Math.floor((text.length * ms) / entry.ms));
    this.#entries[at] = { ...entry, message: { ...entry.message, text: heard }, ms };
    this.#say({ type: 'conversation.item.truncated', item_id: id, content_index: 0, audio_end_ms: ms });
  }

  // ---- Answers -------------------------------------------------------------------------------------------------------

  #begin({ metadata }: Fields): void {
    if (this.#running !== undefined)
      throw new Refused(
        'conversation_already_has_active_response',
        `Conversation already has an active response in progress: ${this.#running.id}. Wait until the response is finished before creating a new one.`,
      );
    const labels = isObject(metadata)
      ? Object.fromEntries(Object.entries(metadata).map(([name, value]) => [name, textOf(value)]))
      : null;
    const running: Running = {
      id: newId('resp'),
      metadata: labels,
      output: [],
      abort: new AbortController(),
      ms: 0,
    };
    this.#running = running;
    this.#say({ type: 'response.created', response: this.#responseOf(running, 'in_progress') });
    this.#answer(running).catch(() => this.#end(running, 'failed'));
  }

  #cancel(id: unknown): void {
    const running = this.#running;
    if (running === undefined || (id !== undefined && id !== running.id))
      throw new Refused('response_cancel_not_active', 'Cancellation failed: no active response found');
    running.abort.abort();
    this.#end(running, 'cancelled');
  }

  async #answer(running: Running): Promise<void> {
    const told = await Promise.all(
      this.#entries.map(async ({ message, words }) =>
        words === undefined ? message : { ...message, text: await words },
      ),
    );
    if (running.abort.signal.aborted) return;
    const { instructions, tools } = this.#settings;
    const said = [...toldIn(instructions), ...told.filter(({ role }) => role !== 'system')];
    const { text, call } = reply({ messages: said, tools, now: this.#engines.now() });
    if (text !== '') await this.#speakItem(running, text);
    if (running.abort.signal.aborted) return;
    if (call !== undefined) this.#callItem(running, call.name, JSON.stringify(call.arguments));
    this.#end(running, 'completed');
  }

  async #speakItem(running: Running, text: string): Promise<void> {
    const { isText, speed } = this.#settings;
    const id = newId('item');
    const place = {
      response_id: running.id,
      item_id: id,
      output_index: running.output.length,
      content_index: 0,
    };
    const { response_id, output_index } = place;
    const head = { id, type: 'message', role: 'assistant' } as const;
    const growing: ConversationItem = { ...head, status: 'in_progress', content: [] };
    this.#say({ type: 'response.output_item.added', response_id, output_index, item: growing });
    const part = isText
      ? ({ type: 'text', text: '' } as const)
      : ({ type: 'audio', transcript: '' } as const);
    this.#say({ type: 'response.content_part.added', ...place, part });
    const content = isText
      ? ({ type: 'output_text', text } as const)
      : ({ type: 'output_audio', transcript: text } as const);
    const item: ConversationItem = { ...head, status: 'completed', content: [content] };
    const entry: Entry = { item, message: { role: 'assistant', text, calls: [] }, ms: 0 };
    running.output.push(item);
    this.#keep(entry);
    if (isText) {
      for (const delta of text.match(/\S+\s*/g) ?? [])
        this.#say({ type: 'response.output_text.delta', ...place, delta });
      this.#say({ type: 'response.output_text.done', ...place, text });
    } else {
      await this.#sound(running, entry, { ...place, text, speed });
      if (running.abort.signal.aborted) return;
      this.#say({ type: 'response.output_audio.done', ...place });
      this.#say({ type: 'response.output_audio_transcript.done', ...place, transcript: text });
    }
    this.#say({ type: 'response.output_item.done', response_id, output_index, item });
  }

  /** Sentence by sentence, words before their sound, as fast as the voice makes them. */
  async #sound(
    running: Running,
    entry: Entry,
    {
      text,
      speed,
      ...place
    }: {
      readonly response_id: string;
      readonly item_id: string;
      readonly output_index: number;
      readonly content_index: number;
      readonly text: string;
      readonly speed: number;
    },
  ): Promise<void> {
    const { signal } = running.abort;
    const { voice } = this.#settings;
    for (const [at, sentence] of sentences(text).entries()) {
      const spoken = speakable(sentence);
      const samples =
        spoken === ''
          ? new Int16Array()
          : await this.#engines.speak(
              { text: spoken, voice: isVoice(voice) ? voice : defaultVoice, speed },
              signal,
            );
      if (signal.aborted) return;
      const delta = at === 0 ? sentence : ` ${sentence}`;
      this.#say({ type: 'response.output_audio_transcript.delta', ...place, delta });
      for (let from = 0; from < samples.length; from += pieceSamples) {
        const piece = samples.subarray(from, from + pieceSamples);
        const audio = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength).toString('base64');
        this.#say({ type: 'response.output_audio.delta', ...place, delta: audio });
      }
      running.ms += samples.length / samplesPerMs;
      entry.ms += samples.length / samplesPerMs;
    }
  }

  #callItem(running: Running, name: string, values: string): void {
    const id = newId('item');
    const place = { response_id: running.id, output_index: running.output.length };
    const called = { call_id: newId('call'), name } as const;
    const item: ConversationItem = {
      id,
      type: 'function_call',
      ...called,
      arguments: values,
      status: 'completed',
    };
    running.output.push(item);
    const growing: ConversationItem = { ...item, arguments: '', status: 'in_progress' };
    this.#say({ type: 'response.output_item.added', ...place, item: growing });
    this.#keep({ item, message: { role: 'assistant', text: '', calls: [name] }, ms: 0 });
    const args = { ...place, item_id: id, call_id: called.call_id };
    this.#say({ type: 'response.function_call_arguments.delta', ...args, delta: values });
    this.#say({ type: 'response.function_call_arguments.done', ...args, arguments: values, name });
    this.#say({ type: 'response.output_item.done', ...place, item });
  }

  #responseOf(
    { id, output, metadata }: Running,
    status: NonNullable<RealtimeResponse['status']>,
  ): RealtimeResponse {
    return { id, object: 'realtime.response', status, output: [...output], metadata };
  }

  #end(running: Running, status: 'completed' | 'cancelled' | 'failed'): void {
    if (this.#running !== running) return;
    this.#running = undefined;
    const details = {
      completed: {},
      cancelled: { status_details: { type: 'cancelled', reason: 'client_cancelled' } },
      failed: { status_details: { type: 'failed', error: { type: 'server_error', code: 'overloaded' } } },
    } as const;
    const response = {
      ...this.#responseOf(running, status),
      ...details[status],
      usage: this.#usageOf(running),
    };
    this.#say({ type: 'response.done', response });
  }

  /** Words stand for tokens of text here, and tenths of a second for tokens of sound. */
  #usageOf({ ms, output }: Running): NonNullable<RealtimeResponse['usage']> {
    const heardMs = this.#entries.reduce((sum, entry) => sum + entry.ms, 0) - ms;
    const texts = this.#entries.reduce((sum, { message }) => sum + countWords(message.text), 0);
    const input = {
      text_tokens: countWords(this.#settings.instructions) + texts,
      audio_tokens: Math.round(Math.max(0, heardMs) / 100),
      cached_tokens: 0,
    };
    const written = output.reduce((sum, item) => sum + countWords(JSON.stringify(item)), 0);
    const made = { text_tokens: written, audio_tokens: Math.round(ms / 100) };
    const input_tokens = input.text_tokens + input.audio_tokens;
    const output_tokens = made.text_tokens + made.audio_tokens;
    return {
      total_tokens: input_tokens + output_tokens,
      input_tokens,
      output_tokens,
      input_token_details: input,
      output_token_details: made,
    };
  }
}
