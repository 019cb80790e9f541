/**
 * The speaking model of measurements: a server with OpenAI's realtime protocol that answers by a script at a set pace, faster than it is played. It
 * keeps the conversation of each session as the vendor does, so that a script can look at it.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';

export interface ToldMessage {
  readonly role: string;
  readonly content: string;
}

/** A piece of sound, PCM16 at 24 kHz, with the words that begin in it. */
export interface SpokenPiece {
  readonly text: string;
  readonly sound: Buffer;
}

export interface SpeakingScript {
  /** What callers are taken to have said. */
  readonly heardText: string;
  /** Undefined: no answer comes. */
  readonly reply: (messages: readonly ToldMessage[]) => readonly SpokenPiece[] | undefined;
  readonly wordsMs: number;
  readonly firstMs: number;
  readonly everyMs: number;
  /** How much later than set the first sound was sent. */
  readonly late?: (lateMs: number) => void;
  /** A new connection is cut at once. */
  readonly isCut?: () => boolean;
}

type Fields = Readonly<Record<string, unknown>>;

const bytesPerMs = 48;
const tokensEach = { text_tokens: 100, audio_tokens: 100 };
const usage = {
  total_tokens: 400,
  input_tokens: 200,
  output_tokens: 200,
  input_token_details: { ...tokensEach, cached_tokens: 0 },
  output_token_details: tokensEach,
};

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : {};
/** How histories in instructions name who said a line; notes are the service's. */
const roleOf = new Map([
  ['Caller', 'user'],
  ['You', 'assistant'],
]);
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

export class ScriptedModel {
  readonly #server: Server = createServer((_request, response) => response.writeHead(404).end());
  readonly #sockets = new Set<Duplex>();

  constructor(script: SpeakingScript) {
    new WebSocketServer({ server: this.#server, perMessageDeflate: false }).on('connection', (socket) => {
      new Session(socket, script);
    });
    this.#server.on('connection', (socket: Duplex) => {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => this.#sockets.delete(socket));
      if (script.isCut?.() === true) socket.destroy();
    });
  }

  /** Resolves with the port. */
  start(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen({ port: 0, host: '127.0.0.1', backlog: 1024 }, () =>
        resolve((this.#server.address() as AddressInfo).port),
      );
    });
  }

  /** Breaks all connections. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  close(): void {
    this.cut();
    this.#server.close();
  }
}

interface Kept {
  readonly id: string;
  readonly role: string;
  content: string;
  /** Sound that was made of it. */
  ms: number;
}

interface Answer {
  readonly id: string;
  readonly item: Kept;
  readonly metadata: unknown;
  timer: NodeJS.Timeout | undefined;
}

class Session {
  readonly #socket: WebSocket;
  readonly #script: SpeakingScript;
  #instructions = '';
  #isWrittenDown = false;
  #items: Kept[] = [];
  #made = 0;
  #answer: Answer | undefined;

  constructor(socket: WebSocket, script: SpeakingScript) {
    this.#socket = socket;
    this.#script = script;
    socket.on('error', () => socket.terminate());
    socket.on('message', (data: Buffer) => this.#take(JSON.parse(data.toString()) as Fields));
    socket.on('close', () => clearTimeout(this.#answer?.timer));
    this.#say('session.created', { session: { type: 'realtime', id: this.#newId('sess') } });
  }

  #say(type: string, fields: Fields): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    this.#socket.send(JSON.stringify({ type, event_id: this.#newId('event'), ...fields }));
  }

  #newId(kind: string): string {
    this.#made += 1;
    return `${kind}_${this.#made}`;
  }

  #take(message: Fields): void {
    switch (message['type']) {
      case 'session.update':
        this.#update(fieldsOf(message['session']));
        return;
      case 'input_audio_buffer.clear':
        this.#say('input_audio_buffer.cleared', {});
        return;
      case 'input_audio_buffer.commit':
        this.#commit();
        return;
      case 'conversation.item.create':
        this.#add(fieldsOf(message['item']));
        return;
      case 'conversation.item.truncate':
        this.#truncate(textOf(message['item_id']), Number(message['audio_end_ms']));
        return;
      case 'conversation.item.delete':
        this.#items = this.#items.filter(({ id }) => id !== message['item_id']);
        this.#say('conversation.item.deleted', { item_id: message['item_id'] });
        return;
      case 'response.create':
        this.#begin(fieldsOf(message['response'])['metadata'] ?? null);
        return;
      case 'response.cancel':
        this.#end('cancelled');
        return;
      default: // Sound, which nobody listens to.
    }
  }

  #update(session: Fields): void {
    this.#instructions = textOf(session['instructions']) || this.#instructions;
    const input = fieldsOf(fieldsOf(session['audio'])['input']);
    if ('transcription' in input) this.#isWrittenDown = input['transcription'] !== null;
    this.#say('session.updated', { session });
  }

  #commit(): void {
    const item = this.#keep('user', this.#script.heardText);
    this.#say('input_audio_buffer.committed', { item_id: item.id, previous_item_id: null });
    if (!this.#isWrittenDown) return;
    setTimeout(() => {
      const what = 'conversation.item.input_audio_transcription.completed';
      this.#say(what, { item_id: item.id, content_index: 0, transcript: item.content });
    }, this.#script.wordsMs);
  }

  #keep(role: string, content: string): Kept {
    const item = { id: this.#newId('item'), role, content, ms: 0 };
    this.#items.push(item);
    return item;
  }

  #add(item: Fields): void {
    const [part] = Array.isArray(item['content']) ? (item['content'] as unknown[]) : [];
    const kept = this.#keep(textOf(item['role']) || 'tool', textOf(fieldsOf(part)['text']));
    this.#say('conversation.item.added', { item: { ...item, id: kept.id }, previous_item_id: null });
  }

  /** Keeps the words whose end is nearest. */
  #truncate(id: string, ms: number): void {
    const item = this.#items.find((one) => one.id === id);
    if (item === undefined || item.ms === 0 || ms > item.ms) {
      const error = { type: 'invalid_request_error', code: 'invalid_value', message: 'no such cut' };
      this.#say('error', { error });
      return;
    }
    const words = item.content.trim().split(' ');
    const chars = (item.content.trim().length * ms) / item.ms;
    const parts = words.map((_, at) => words.slice(0, at + 1).join(' ')).concat('');
    const off = (part: string): number => Math.abs(part.length - chars);
    item.content = parts.reduce((best, part) => (off(part) < off(best) ? part : best), '');
    item.ms = ms;
    this.#say('conversation.item.truncated', { item_id: id, content_index: 0, audio_end_ms: ms });
  }

  /** All that it was told, the history that its instructions hold first. */
  #messages(): ToldMessage[] {
    const told = this.#instructions.split('\n').flatMap((line): ToldMessage[] => {
      const [, who, content = ''] = /^(Caller|You|Note): (.*)$/.exec(line) ?? [];
      return who === undefined ? [] : [{ role: roleOf.get(who) ?? 'system', content }];
    });
    return [...told, ...this.#items.map(({ role, content }) => ({ role, content }))];
  }

  #begin(metadata: unknown): void {
    if (this.#answer !== undefined) {
      const code = 'conversation_already_has_active_response';
      this.#say('error', { error: { type: 'invalid_request_error', code, message: 'one at a time' } });
      return;
    }
    const pieces = this.#script.reply(this.#messages());
    if (pieces === undefined) return;
    const id = this.#newId('resp');
    const item = this.#keep('assistant', '');
    const answer: Answer = { id, item, metadata, timer: undefined };
    this.#answer = answer;
    this.#say('response.created', {
      response: { id, object: 'realtime.response', status: 'in_progress', metadata },
    });
    this.#say('response.output_item.added', {
      response_id: id,
      output_index: 0,
      item: { id: item.id, type: 'message', role: 'assistant', content: [] },
    });
    this.#speak(answer, pieces);
  }

  #speak(answer: Answer, pieces: readonly SpokenPiece[]): void {
    const { firstMs, everyMs, late } = this.#script;
    const startAt = performance.now() + firstMs;
    let next = 0;
    const step = (): void => {
      if (next === 0) late?.(performance.now() - startAt);
      const piece = pieces[next];
      next += 1;
      if (piece === undefined) {
        this.#end('completed');
        return;
      }
      this.#piece(answer, piece);
      answer.timer = setTimeout(step, Math.max(0, startAt + next * everyMs - performance.now()));
    };
    answer.timer = setTimeout(step, firstMs);
  }

  #piece({ id, item }: Answer, { text, sound }: SpokenPiece): void {
    const place = { response_id: id, item_id: item.id, output_index: 0, content_index: 0 };
    item.content += text;
    item.ms += sound.length / bytesPerMs;
    if (text !== '') this.#say('response.output_audio_transcript.delta', { ...place, delta: text });
    this.#say('response.output_audio.delta', { ...place, delta: sound.toString('base64') });
  }

  #end(status: 'completed' | 'cancelled'): void {
    const answer = this.#answer;
    if (answer === undefined) return;
    this.#answer = undefined;
    clearTimeout(answer.timer);
    const { id, item, metadata } = answer;
    const whole = {
      id: item.id,
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_audio', transcript: item.content }],
    };
    const place = { response_id: id, item_id: item.id, output_index: 0, content_index: 0 };
    if (status === 'completed') this.#say('response.output_audio.done', place);
    this.#say('response.output_item.done', { response_id: id, output_index: 0, item: whole });
    this.#say('response.done', {
      response: { id, object: 'realtime.response', status, metadata, output: [whole], usage },
    });
  }
}

/** The part of an agent file that names it. */
export const modelTable = (port: number, words: 'own' | 'vendor'): string => `
[realtime]
provider = "openai_realtime"
words = "${words}"
[realtime.openai_realtime]
base_url = "ws://127.0.0.1:${port}"
`;
