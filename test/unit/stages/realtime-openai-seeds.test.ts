/**
 * Seeded sessions of OpenAI's protocol: a server that tells calls and ends twice, words late and in any order, answers by itself, refuses what
 * comes too early and complains of cuts, and a caller who does anything at any time. Whatever happens, each answer is done once, each call is told
 * once, the words of a turn are that turn's, and nothing is cut that the server has not sent.
 */
import { expect, it } from 'vitest';
import { newPrng, type Prng } from '../../../shared/base/prng.ts';
import type { RealtimeEvent } from '../../../worker/stages/realtime/contract.ts';
import { dialects } from '../../../worker/stages/realtime/openai/declaration.ts';
import { OpenAiWire, type Effect } from '../../../worker/stages/realtime/openai/wire.ts';
import { tries } from '../../support/sampled.ts';

type Message = Record<string, unknown>;

/** 10 ms of sound, in base64. */
const piece = Buffer.alloc(480).toString('base64');
const pieceMs = 10;

interface Response {
  readonly id: string;
  readonly metadata: unknown;
  text: string;
  readonly plan: Message[];
  readonly output: Message[];
  readonly status: string;
}

class Server {
  readonly #random: Prng;
  /** On its way to the client, in order; and what comes at any time. */
  readonly flight: Message[] = [];
  readonly late: Message[] = [];
  readonly responses: Response[] = [];
  readonly callsOf = new Map<string, string>();
  readonly turns: string[] = [];
  readonly #sentMs = new Map<string, number>();
  #running: Response | undefined;
  #made = 0;

  constructor(random: Prng) {
    this.#random = random;
  }

  get isIdle(): boolean {
    return this.flight.length === 0 && this.#running === undefined;
  }

  hear(text: string): void {
    const message = JSON.parse(text) as Message;
    switch (message['type']) {
      case 'session.update':
        this.#say({ type: 'session.updated', session: {} });
        return;
      case 'input_audio_buffer.commit':
        this.#commit(message);
        return;
      case 'response.create':
        if (this.#running !== undefined)
          this.#refuse('conversation_already_has_active_response', message['event_id']);
        else this.#begin((message['response'] as Message)['metadata']);
        return;
      case 'response.cancel': {
        const { response_id: id } = message;
        if (this.#running === undefined || (id !== undefined && id !== this.#running.id))
          this.#refuse('response_cancel_not_active', message['event_id']);
        else this.#end('cancelled');
        return;
      }
      case 'conversation.item.truncate':
        this.#truncate(message);
        return;
      case 'conversation.item.delete':
        if (!this.#sentMs.has(String(message['item_id'])))
          this.#refuse('item_delete_invalid_item_id', message['event_id']);
        return;
      case 'conversation.item.create': {
        const { type, call_id: id } = message['item'] as Message;
        if (type === 'function_call_output') expect(this.callsOf.has(String(id)), 'a known call').toBe(true);
      }
    }
  }

  /** Goes on by one step of its own. */
  step(): void {
    if (this.#running === undefined) {
      // Nobody has asked for it.
      if (this.#random.chance(0.02)) this.#begin(null);
      return;
    }
    const next = this.#running.plan.shift();
    if (next === undefined) this.#end(this.#running.status);
    else {
      this.#say(next);
      if (next['type'] === 'response.output_audio_transcript.delta')
        this.#running.text += String(next['delta']);
      if (next['type'] === 'response.output_audio.delta') this.#heard(String(next['item_id']));
    }
    if (this.#random.chance(0.01)) this.#say({ type: 'rate_limits.updated', rate_limits: [] });
  }

  #heard(item: string): void {
    this.#sentMs.set(item, (this.#sentMs.get(item) ?? 0) + pieceMs);
  }

  #id(kind: string): string {
    return `${kind}_${(this.#made += 1)}`;
  }

  #say(message: Message): void {
    this.flight.push(message);
  }

  #refuse(code: string, event_id: unknown): void {
    this.#say({ type: 'error', error: { type: 'invalid_request_error', code, event_id, message: '' } });
  }

  #commit({ event_id }: Message): void {
    if (this.#random.chance(0.05)) {
      this.turns.push('');
      this.#refuse('input_audio_buffer_commit_empty', event_id);
      return;
    }
    const item_id = this.#id('item');
    const transcript = `turn ${this.turns.push(`turn ${this.turns.length + 1}`)}`;
    this.#say({ type: 'input_audio_buffer.committed', item_id });
    const prefix = 'conversation.item.input_audio_transcription.';
    const completed = { type: `${prefix}completed`, item_id, transcript };
    if (this.#random.chance(0.3)) this.late.push({ type: `${prefix}delta`, item_id, delta: 'tu' });
    if (this.#random.chance(0.8)) this.late.push(completed);
    if (this.#random.chance(0.2)) this.late.push(completed);
  }

  #truncate({ item_id: item, audio_end_ms: ms, event_id }: Message): void {
    expect(Number.isInteger(ms), 'whole milliseconds').toBe(true);
    expect(ms, 'within what was sent').toBeLessThanOrEqual(this.#sentMs.get(String(item)) ?? 0);
    if (this.#random.chance(0.3)) this.#refuse('invalid_value', event_id);
  }

  #begin(metadata: unknown): void {
    const random = this.#random;
    const id = this.#id('resp');
    const plan: Message[] = [];
    const output: Message[] = [];
    for (let left = random.below(4); left > 0; left -= 1) {
      const item = random.chance(0.3) ? this.#planCall(id, plan) : this.#planSpeech(id, plan);
      output.push(item);
    }
    const status = random.pick(['completed', 'completed', 'completed', 'completed', 'failed', 'incomplete']);
    const response = { id, metadata, text: '', plan, output, status };
    this.responses.push(response);
    this.#running = response;
    this.#say({ type: 'response.created', response: { id, metadata } });
  }

  #planSpeech(response_id: string, plan: Message[]): Message {
    const item_id = this.#id('item');
    const place = { response_id, item_id, content_index: 0 };
    let text = '';
    for (let at = 1 + this.#random.below(3); at > 0; at -= 1) {
      const delta = ` ${item_id}w${at}`;
      text += delta;
      plan.push({ type: 'response.output_audio_transcript.delta', ...place, delta });
      plan.push({ type: 'response.output_audio.delta', ...place, delta: piece });
    }
    const content = [{ type: 'output_audio', transcript: text }];
    const item = { id: item_id, type: 'message', role: 'assistant', content };
    const over = { type: 'response.output_item.done', response_id, item };
    plan.push(over, ...(this.#random.chance(0.2) ? [over] : []));
    return item;
  }

  #planCall(response_id: string, plan: Message[]): Message {
    const call_id = this.#id('call');
    this.callsOf.set(call_id, response_id);
    const call = { call_id, name: 'look_up', arguments: '{}' };
    const item = { id: this.#id('item'), type: 'function_call', ...call };
    plan.push({ type: 'response.function_call_arguments.done', response_id, item_id: item.id, ...call });
    plan.push({ type: 'response.output_item.done', response_id, item });
    return item;
  }

  #end(status: string): void {
    const running = this.#running;
    if (running === undefined) return;
    this.#running = undefined;
    const { id, metadata, output } = running;
    const done = { type: 'response.done', response: { id, metadata, status, output } };
    this.#say(done);
    if (this.#random.chance(0.1)) this.#say(done);
  }
}

class Session {
  readonly #random: Prng;
  readonly #server: Server;
  readonly #wire: OpenAiWire;
  readonly done = new Map<number, string>();
  readonly text = new Map<number, string>();
  readonly calls: string[] = [];
  readonly #finals = new Set<number>();
  readonly #items: string[] = [];
  readonly #cancelled = new Set<number>();
  #answer: number | undefined;
  #answers = 0;
  #turns = 0;
  #waitsSince: object | undefined;

  constructor(seed: number) {
    this.#random = newPrng(seed);
    this.#server = new Server(this.#random);
    const settings = {
      dialect: dialects.openai,
      baseUrl: 'ws://127.0.0.1',
      model: 'm',
      language: 'en',
      output: 'audio',
      words: 'vendor',
    } as const;
    this.#wire = new OpenAiWire(settings, { instructions: 'x', tools: [], history: [] }, () => 0);
    this.#take(this.#wire.read({ type: 'session.created', session: {} }));
    this.#take(this.#wire.read({ type: 'session.updated', session: {} }));
  }

  run(): void {
    for (let step = 0; step < 150; step += 1) this.#act();
    for (let step = 0; step < 1_000 && this.done.size < this.#answers; step += 1) this.#goOn();
    expect([...this.done.keys()].toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: this.#answers }, (_, at) => at + 1),
    );
    expect(this.calls).toHaveLength(new Set(this.calls).size);
    for (const id of this.calls) {
      const made = this.#server.responses.find((one) => one.id === this.#server.callsOf.get(id));
      expect(made?.status, 'a call is of an answer that is whole').toBe('completed');
    }
    for (const [answer, text] of this.text) this.#judgeText(answer, text);
  }

  /** What is told of an answer is what the server said for it, all of it where it was completed. */
  #judgeText(answer: number, text: string): void {
    const said = this.#server.responses.filter(
      ({ metadata }) => (metadata as Message | null)?.['answer'] === String(answer),
    );
    const whole = said.map((one) => one.text);
    if (this.done.get(answer) === 'completed') expect(whole).toContain(text);
    else expect(whole.some((one) => one.startsWith(text))).toBe(true);
  }

  #act(): void {
    const random = this.#random;
    const roll = random.below(12);
    if (roll < 8) this.#goOn();
    else if (roll === 8) {
      this.#turns += 1;
      this.#take(this.#wire.endTurn(this.#turns));
    } else if (roll === 9) this.#cut();
    else if (this.#answer !== undefined) {
      if (!random.chance(0.3)) return;
      this.#cancelled.add(this.#answer);
      this.#take(this.#wire.cancel());
      // The core asks at once, before the vendor has let go.
      this.#answer = undefined;
      if (random.chance(0.5)) this.#respond();
    } else {
      const results = this.calls.map(
        (callId) => ({ role: 'tool', callId, name: 'look_up', text: '1' }) as const,
      );
      if (random.chance(0.2)) this.#take(this.#wire.append(results.slice(-1)));
      this.#respond();
    }
  }

  #cut(): void {
    if (this.#items.length === 0) return;
    const ms = this.#random.pick([0, 5, 10.7, 15, 1_000, Number.NaN]);
    this.#take(this.#wire.truncate(this.#random.pick(this.#items), ms));
  }

  #respond(): void {
    this.#answers += 1;
    this.#answer = this.#answers;
    this.#take(this.#wire.respond(this.#answers));
  }

  /** The server works, what it said comes, or time passes. */
  #goOn(): void {
    const random = this.#random;
    const { flight, late } = this.#server;
    if (random.chance(0.5)) this.#server.step();
    const next = random.chance(0.5) ? flight.shift() : undefined;
    if (next !== undefined) this.#take(this.#wire.read(next));
    if (late.length > 0 && random.chance(0.1)) {
      const [words] = late.splice(random.below(late.length), 1);
      if (words !== undefined) this.#take(this.#wire.read(words));
    }
    // A cancelled answer is waited for, and then no longer.
    const waitsFor = this.#wire.waitsFor;
    if (waitsFor !== undefined && waitsFor === this.#waitsSince && random.chance(0.05))
      this.#take(this.#wire.letGo());
    this.#waitsSince = waitsFor;
  }

  #take(effects: readonly Effect[]): void {
    for (const effect of effects) {
      if (effect.type === 'send') this.#server.hear(effect.message);
      else this.#tell(effect.event);
    }
  }

  #tell(event: RealtimeEvent): void {
    expect(event.type).not.toBe('error');
    if (event.type === 'user-text' && event.final) {
      expect(this.#finals.has(event.turn), 'one final for a turn').toBe(false);
      this.#finals.add(event.turn);
      expect(event.text).toBe(this.#server.turns[event.turn - 1]);
    }
    if (!('answer' in event)) return;
    const { answer } = event;
    expect(this.done.has(answer), `${event.type} behind the end of ${answer}`).toBe(false);
    if (event.type === 'done') {
      this.done.set(answer, event.finish);
      if (this.#cancelled.has(answer)) expect(event.finish).toBe('cancelled');
      if (this.#answer === answer) this.#answer = undefined;
      return;
    }
    if (event.type !== 'item-done')
      expect(this.#cancelled.has(answer), `${event.type} of a cancelled answer`).toBe(false);
    if (event.type === 'text') this.text.set(answer, (this.text.get(answer) ?? '') + event.text);
    if (event.type === 'audio') this.#items.push(event.item);
    if (event.type === 'tool-call') this.calls.push(event.id);
  }
}

const seeds = tries(20_000, 400);

it(`holds ${seeds} sessions to their answers`, () => {
  for (let seed = 1; seed <= seeds; seed += 1) {
    try {
      new Session(seed).run();
    } catch (error) {
      throw new Error(`seed ${seed}`, { cause: error });
    }
  }
});
