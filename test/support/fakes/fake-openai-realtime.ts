/**
 * A server with the realtime protocol of models that hear and speak: holds a conversation as the real one does, refuses what that
 * refuses, and answers what the script says. It judges no turns: its clients have switched that off.
 */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type {
  ConversationItem,
  RealtimeAudioConfig,
  RealtimeClientEvent,
  RealtimeResponse,
  RealtimeResponseStatus,
  RealtimeResponseUsage,
  RealtimeServerEvent,
  RealtimeSessionCreateRequest,
} from 'openai/resources/realtime/realtime';
import { WebSocketServer, type WebSocket } from 'ws';
import { Observed } from '../process/observed.ts';

export type ScriptedItem =
  | {
      readonly speech: string;
      readonly ms?: number;
      /** Pieces of sound of so many milliseconds. */ readonly pieceMs?: number;
    }
  | { readonly text: string }
  | { readonly call: string; readonly name: string; readonly args: string };

export interface ScriptedReply {
  readonly items?: readonly ScriptedItem[];
  /** Stops before the end until `release`. A cancel ends it all the same. */
  readonly holds?: true;
  /** Does not even answer a cancel until `release`. */
  readonly isStubborn?: true;
  readonly status?: 'completed' | 'incomplete' | 'failed';
  readonly details?: RealtimeResponseStatus;
  readonly usage?: RealtimeResponseUsage;
}

type Without<T, K extends string> = T extends unknown ? Omit<T, K> : never;
/** A message of the server, without its own id. */
export type Said = Without<RealtimeServerEvent, 'event_id'>;

interface Made {
  readonly id: string;
  readonly reply: ScriptedReply;
  readonly output: ConversationItem[];
  readonly metadata: Readonly<Record<string, string>> | null;
}

interface Kept {
  readonly item: ConversationItem;
  /** Sound of it that the model made. */
  audioMs: number;
}

/** PCM16 at 24 kHz. */
const pcmBytesPerMs = 48;
const lawBytesPerMs = 8;
export const usage: RealtimeResponseUsage = {
  total_tokens: 253,
  input_tokens: 132,
  output_tokens: 121,
  input_token_details: {
    text_tokens: 119,
    audio_tokens: 13,
    image_tokens: 0,
    cached_tokens: 64,
    cached_tokens_details: { text_tokens: 52, audio_tokens: 12, image_tokens: 0 },
  },
  output_token_details: { text_tokens: 30, audio_tokens: 91 },
};

interface Refusal {
  readonly code: string | null;
  readonly message: string;
  readonly type?: string;
}

/** A session as its server sees it. */
export class FakeSession {
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly heard: RealtimeClientEvent[] = [];
  readonly said: RealtimeServerEvent[] = [];
  readonly items = new Map<string, Kept>();
  session: Readonly<Record<string, unknown>> = {};
  /** Sound that waits for a commit, and that of each committed turn, in milliseconds. */
  bufferMs = 0;
  readonly turnsMs: number[] = [];
  closed: number | undefined;
  pings = 0;
  private readonly server: FakeOpenAiRealtime;
  private readonly socket: WebSocket;
  private active: Made | undefined;
  private count = 0;

  constructor(server: FakeOpenAiRealtime, socket: WebSocket, request: IncomingMessage) {
    this.server = server;
    this.socket = socket;
    this.url = new URL(request.url ?? '/', 'ws://fake');
    this.headers = request.headers;
  }

  of<T extends RealtimeClientEvent['type']>(type: T): Extract<RealtimeClientEvent, { readonly type: T }>[] {
    return this.heard.filter(
      (one): one is Extract<RealtimeClientEvent, { readonly type: T }> => one.type === type,
    );
  }

  send(message: Said): void {
    this.count += 1;
    const event = { event_id: `event_${this.count}`, ...message } as RealtimeServerEvent;
    this.said.push(event);
    this.socket.send(JSON.stringify(this.server.shown(event)));
  }

  sendText(text: string): void {
    this.socket.send(text);
  }

  end(code: number, reason: string): void {
    this.socket.close(code, reason);
  }

  vanish(): void {
    this.socket.terminate();
  }

  goDeaf(): void {
    this.socket.pause();
  }

  greet(): void {
    if (this.server.greets === 'session.created')
      this.send({ type: 'session.created', session: this.whole() });
    else this.send({ type: 'conversation.created', conversation: { id: 'conv_1' } });
  }

  private whole(): RealtimeSessionCreateRequest {
    return { type: 'realtime', ...this.session, ...this.server.known };
  }

  refuse({ code, message, type = 'invalid_request_error' }: Refusal, about?: RealtimeClientEvent): void {
    const event_id = this.server.forgetsIds ? null : (about?.event_id ?? null);
    this.send({ type: 'error', error: { type, code, message, param: null, event_id } });
  }

  hear(event: RealtimeClientEvent): void {
    this.heard.push(event);
    const refusal = this.server.refusals.get(event.type)?.shift();
    if (refusal !== undefined) {
      this.refuse(refusal, event);
      return;
    }
    switch (event.type) {
      case 'session.update':
        this.update(event);
        return;
      case 'input_audio_buffer.append':
        this.bufferMs += Buffer.from(event.audio, 'base64').length / this.bytesPerMs('input');
        return;
      case 'input_audio_buffer.clear':
        this.bufferMs = 0;
        this.send({ type: 'input_audio_buffer.cleared' });
        return;
      case 'input_audio_buffer.commit':
        this.commit(event);
        return;
      case 'conversation.item.create':
        this.add(event.item, event);
        return;
      case 'conversation.item.delete':
        this.remove(event);
        return;
      case 'conversation.item.truncate':
        this.truncate(event);
        return;
      case 'response.create':
        this.answer(event);
        return;
      case 'response.cancel':
        this.cancel(event);
        return;
      default:
        this.refuse({ code: 'invalid_value', message: 'unknown event' }, event);
    }
  }

  /** Ends the answer that is held. */
  release(): void {
    if (this.active !== undefined) this.finish(this.active);
  }

  private update(event: Extract<RealtimeClientEvent, { type: 'session.update' }>): void {
    const wrong = this.server.judge(event.session as unknown as Record<string, unknown>);
    if (wrong !== undefined) {
      this.refuse(wrong, event);
      return;
    }
    this.session = { ...this.session, ...event.session };
    if (this.server.updates) this.send({ type: 'session.updated', session: this.whole() });
  }

  private commit(event: RealtimeClientEvent): void {
    if (this.bufferMs < 100) {
      const message = `Error committing input audio buffer: buffer too small. Expected at least 100ms of audio, but buffer only has ${this.bufferMs}ms of audio.`;
      this.refuse({ code: 'input_audio_buffer_commit_empty', message }, event);
      return;
    }
    this.turnsMs.push(this.bufferMs);
    this.bufferMs = 0;
    const item_id = this.newItemId();
    const previous_item_id = [...this.items.keys()].at(-1) ?? null;
    this.send({ type: 'input_audio_buffer.committed', item_id, previous_item_id });
    this.keep({
      id: item_id,
      type: 'message',
      role: 'user',
      status: 'completed',
      content: [{ type: 'input_audio' }],
    });
    if (!this.server.transcribesLate) this.transcribe(item_id);
  }

  /** Says what the turn was, in pieces and as a whole. */
  transcribe(item_id = this.lastUserItem()): void {
    const words = this.server.transcripts.shift();
    if (words === undefined) return;
    const what = 'conversation.item.input_audio_transcription';
    const place = { item_id, content_index: 0 };
    for (const [at, word] of words.split(' ').entries())
      this.send({ type: `${what}.delta`, ...place, delta: at === 0 ? word : ` ${word}` });
    this.send({
      type: `${what}.completed`,
      ...place,
      transcript: words,
      usage: { type: 'duration', seconds: 1 },
    });
  }

  private lastUserItem(): string {
    const users = [...this.items.values()].filter(({ item }) => 'role' in item && item.role === 'user');
    return users.at(-1)?.item.id ?? '';
  }

  private newItemId(): string {
    this.server.made += 1;
    return `item_${this.server.made}`;
  }

  private keep(item: ConversationItem): void {
    const previous_item_id = [...this.items.keys()].at(-1) ?? null;
    this.items.set(item.id ?? '', { item, audioMs: 0 });
    this.send({ type: 'conversation.item.added', item, previous_item_id });
    this.send({ type: 'conversation.item.done', item, previous_item_id });
  }

  private add(item: ConversationItem, event: RealtimeClientEvent): void {
    if (item.id !== undefined && this.items.has(item.id)) {
      this.refuse({ code: 'item_create_duplicate_item_id', message: 'There is such an item.' }, event);
      return;
    }
    this.keep({ ...item, id: item.id ?? this.newItemId() });
  }

  private remove(event: Extract<RealtimeClientEvent, { type: 'conversation.item.delete' }>): void {
    if (this.items.delete(event.item_id))
      this.send({ type: 'conversation.item.deleted', item_id: event.item_id });
    else this.refuse({ code: 'item_delete_invalid_item_id', message: 'There is no such item.' }, event);
  }

  private truncate(event: Extract<RealtimeClientEvent, { type: 'conversation.item.truncate' }>): void {
    const { item_id, content_index, audio_end_ms } = event;
    const kept = this.items.get(item_id);
    if (!Number.isInteger(audio_end_ms))
      this.refuse({ code: 'invalid_type', message: 'Expected an integer.' }, event);
    else if (kept === undefined)
      this.refuse({ code: 'item_truncate_invalid_item_id', message: 'There is no such item.' }, event);
    else if (kept.audioMs === 0)
      this.refuse(
        { code: 'unsupported_content_type', message: 'Only model output audio messages can be truncated' },
        event,
      );
    else if (audio_end_ms > kept.audioMs) {
      const message = `Audio content of ${kept.audioMs}ms is already shorter than ${audio_end_ms}ms`;
      this.refuse({ code: 'invalid_value', message }, event);
    } else {
      kept.audioMs = audio_end_ms;
      this.send({ type: 'conversation.item.truncated', item_id, content_index, audio_end_ms });
    }
  }

  private answer(event: Extract<RealtimeClientEvent, { type: 'response.create' }>): void {
    if (this.active !== undefined) {
      const message = `Conversation already has an active response in progress: ${this.active.id}. Wait until the response is finished before creating a new one.`;
      this.refuse({ code: 'conversation_already_has_active_response', message }, event);
      return;
    }
    this.begin(event.response?.metadata ?? null);
  }

  /** Begins an answer, as a server does by itself whose voice detection is on. */
  begin(metadata: Made['metadata'] = null): void {
    this.server.made += 1;
    const reply = this.server.replies.shift() ?? { items: [{ speech: 'Hello there.' }] };
    const made: Made = { id: `resp_${this.server.made}`, reply, output: [], metadata };
    this.active = made;
    this.send({ type: 'response.created', response: this.shownAs(made, 'in_progress') });
    this.send({
      type: 'rate_limits.updated',
      rate_limits: [{ name: 'tokens', limit: 40_000, remaining: 0, reset_seconds: 2.5 }],
    });
    for (const item of reply.items ?? []) this.make(made, item);
    if (reply.holds !== true) this.finish(made);
  }

  private shownAs(made: Made, status: NonNullable<RealtimeResponse['status']>): RealtimeResponse {
    const { id, output, metadata } = made;
    return { id, object: 'realtime.response', status, output: [...output], metadata };
  }

  private make(made: Made, scripted: ScriptedItem): void {
    const id = this.newItemId();
    const output_index = made.output.length;
    const response_id = made.id;
    if ('call' in scripted) {
      this.makeCall(made, scripted, { id, output_index });
      return;
    }
    const isSpeech = 'speech' in scripted;
    const words = isSpeech ? scripted.speech : scripted.text;
    const place = { response_id, item_id: id, output_index, content_index: 0 };
    const content = isSpeech
      ? ([{ type: 'output_audio', transcript: words }] as const)
      : ([{ type: 'output_text', text: words }] as const);
    const head = { id, type: 'message', role: 'assistant' } as const;
    const growing: ConversationItem = { ...head, status: 'in_progress', content: [] };
    const item: ConversationItem = { ...head, status: 'completed', content: [...content] };
    made.output.push(item);
    this.send({ type: 'response.output_item.added', response_id, output_index, item: growing });
    this.send({ type: 'conversation.item.added', item: growing, previous_item_id: null });
    this.send({
      type: 'response.content_part.added',
      ...place,
      part: isSpeech ? { type: 'audio', transcript: '' } : { type: 'text', text: '' },
    });
    const kept: Kept = { item, audioMs: 0 };
    this.items.set(id, kept);
    const pieces = words.split(/(?<= )/);
    for (const delta of pieces)
      this.send({
        type: isSpeech ? 'response.output_audio_transcript.delta' : 'response.output_text.delta',
        ...place,
        delta,
      });
    if (isSpeech) {
      const { ms = 400, pieceMs = 200 } = scripted;
      for (let at = 0; at < ms; at += pieceMs) this.sound(place, Math.min(pieceMs, ms - at));
      kept.audioMs = ms;
    }
    if (made.reply.holds === true) return;
    if (isSpeech) {
      this.send({ type: 'response.output_audio.done', ...place });
      this.send({ type: 'response.output_audio_transcript.done', ...place, transcript: words });
    } else this.send({ type: 'response.output_text.done', ...place, text: words });
    this.send({ type: 'response.output_item.done', response_id, output_index, item });
    this.send({ type: 'conversation.item.done', item, previous_item_id: null });
  }

  private bytesPerMs(way: 'input' | 'output'): number {
    const { audio } = this.session as { readonly audio?: RealtimeAudioConfig };
    const type = audio?.[way]?.format?.type ?? this.session[`${way}_audio_format`];
    return /pcm[ua]|g711/.test(String(type)) ? lawBytesPerMs : pcmBytesPerMs;
  }

  /** A rising line, so that lost and doubled samples show. */
  private sound(
    place: { response_id: string; item_id: string; output_index: number; content_index: number },
    ms: number,
  ): void {
    const isG711 = this.bytesPerMs('output') === lawBytesPerMs;
    const bytes = isG711
      ? Uint8Array.from({ length: ms * lawBytesPerMs }, (_, at) => at % 256)
      : Int16Array.from({ length: (ms * pcmBytesPerMs) / 2 }, (_, at) => at % 1000);
    const delta = Buffer.from(bytes.buffer).toString('base64');
    this.send({ type: 'response.output_audio.delta', ...place, delta });
  }

  private makeCall(
    made: Made,
    { call, name, args }: Extract<ScriptedItem, { call: string }>,
    { id, output_index }: { readonly id: string; readonly output_index: number },
  ): void {
    const response_id = made.id;
    const place = { response_id, item_id: id, output_index, call_id: call };
    const head = { id, type: 'function_call', call_id: call, name } as const;
    const item: ConversationItem = { ...head, status: 'completed', arguments: args };
    made.output.push(item);
    this.items.set(id, { item, audioMs: 0 });
    const growing: ConversationItem = { ...head, status: 'in_progress', arguments: '' };
    this.send({ type: 'response.output_item.added', response_id, output_index, item: growing });
    const half = Math.ceil(args.length / 2);
    for (const delta of [args.slice(0, half), args.slice(half)])
      this.send({ type: 'response.function_call_arguments.delta', ...place, delta });
    this.send({ type: 'response.function_call_arguments.done', ...place, arguments: args, name });
    this.send({ type: 'response.output_item.done', response_id, output_index, item });
  }

  private cancel(event: Extract<RealtimeClientEvent, { type: 'response.cancel' }>): void {
    const { active } = this;
    const isIt = active !== undefined && (event.response_id === undefined || event.response_id === active.id);
    if (!isIt) {
      this.refuse(
        { code: 'response_cancel_not_active', message: 'Cancellation failed: no active response found' },
        event,
      );
      return;
    }
    if (active.reply.isStubborn === true) return;
    this.active = undefined;
    const details: RealtimeResponseStatus = { type: 'cancelled', reason: 'client_cancelled' };
    this.send({
      type: 'response.done',
      response: {
        ...this.shownAs(active, 'cancelled'),
        status_details: details,
        usage: active.reply.usage ?? usage,
      },
    });
  }

  private finish(made: Made): void {
    this.active = undefined;
    const { status = 'completed', details, usage: spent = usage } = made.reply;
    this.send({
      type: 'response.done',
      response: {
        ...this.shownAs(made, status),
        ...(details !== undefined && { status_details: details }),
        usage: spent,
      },
    });
  }
}

export class FakeOpenAiRealtime extends Observed {
  readonly sessions: FakeSession[] = [];
  readonly replies: ScriptedReply[] = [];
  /** What the caller is taken to have said, turn by turn. */
  readonly transcripts: string[] = [];
  /** Words of a turn come only when the test says so. */
  transcribesLate = false;
  /** The next messages of a type that are refused, and how. */
  readonly refusals = new Map<string, Refusal[]>();
  /** Errors name no message that caused them. */
  forgetsIds = false;
  greets: 'session.created' | 'conversation.created' = 'session.created';
  /** Answers updates of the session. */
  updates = true;
  /** Fields of every session that it tells. */
  known: Readonly<Record<string, unknown>> = { id: 'sess_1', object: 'realtime.session' };
  refuseWith: number | undefined;
  /** Of all sessions, for names that are never used twice. */
  made = 0;
  private readonly http: Server = createServer();
  private readonly upgraded: Duplex[] = [];
  private readonly sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });

  constructor() {
    super();
    this.http.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      this.upgraded.push(socket);
      socket.on('error', () => undefined);
      if (this.refuseWith !== undefined)
        socket.end(`HTTP/1.1 ${this.refuseWith} Refused\r\nContent-Length: 0\r\n\r\n`);
      else this.sockets.handleUpgrade(request, socket, head, (peer) => this.accept(peer, request));
    });
  }

  get baseUrl(): string {
    return `ws://127.0.0.1:${(this.http.address() as AddressInfo).port}`;
  }

  /** The newest session. */
  get last(): FakeSession {
    const session = this.sessions.at(-1);
    if (session === undefined) throw new Error('no session yet');
    return session;
  }

  start(): Promise<void> {
    return new Promise((resolve) => this.http.listen(0, '127.0.0.1', () => resolve()));
  }

  close(): Promise<void> {
    for (const socket of this.upgraded) socket.destroy();
    this.http.closeAllConnections();
    return new Promise((resolve) => this.http.close(() => resolve()));
  }

  /** What a session may not be set to. */
  judge(session: Readonly<Record<string, unknown>>): Refusal | undefined {
    if (session['type'] !== 'realtime')
      return { code: 'missing_required_parameter', message: "Missing required parameter: 'session.type'." };
    if ('temperature' in session)
      return { code: 'unknown_parameter', message: "Unknown parameter: 'session.temperature'." };
    const modalities = session['output_modalities'];
    if (Array.isArray(modalities) && modalities.length !== 1)
      return { code: 'invalid_value', message: 'Supported combinations are: text and audio.' };
    return undefined;
  }

  /** The message as this kind of server sends it. */
  shown(event: RealtimeServerEvent): unknown {
    return event;
  }

  private accept(socket: WebSocket, request: IncomingMessage): void {
    const session = new FakeSession(this, socket, request);
    this.sessions.push(session);
    socket.on('error', () => undefined);
    socket.on('ping', () => {
      session.pings += 1;
      this.changed();
    });
    socket.on('close', (code) => {
      session.closed = code;
      this.changed();
    });
    socket.on('message', (data: Buffer) => {
      session.hear(JSON.parse(data.toString('utf8')) as RealtimeClientEvent);
      this.changed();
    });
    session.greet();
    this.changed();
  }
}

/** The shape before the present one: everything at the top of the session, and other names of messages. */
export class FlatRealtime extends FakeOpenAiRealtime {
  override judge(session: Readonly<Record<string, unknown>>): undefined | { code: string; message: string } {
    const unknown = ['type', 'audio', 'output_modalities', 'max_output_tokens'].find((key) => key in session);
    if (unknown === undefined) return undefined;
    return { code: 'unknown_parameter', message: `Unknown parameter: 'session.${unknown}'.` };
  }

  override shown(event: RealtimeServerEvent): unknown {
    const type = event.type
      .replace(/^response[.]output_(audio|text)/, 'response.$1')
      .replace('conversation.item.added', 'conversation.item.created');
    return { ...event, type };
  }
}
