/**
 * Seeded sessions of Gemini Live: a service that says things in any order and any frames that it is known to, and a caller who does anything at any
 * time. Whatever happens, each answer is done once, each call is told once, and no word of an answer that was wanted is lost.
 */
import { expect, it } from 'vitest';
import { newPrng, type Prng } from '../../../shared/base/prng.ts';
import type { RealtimeEvent } from '../../../worker/stages/realtime/contract.ts';
import { GeminiWire, type WireEvent } from '../../../worker/stages/realtime/gemini/wire.ts';
import { tries } from '../../support/sampled.ts';
import { newest, older } from '../../contract/realtime/gemini-session.ts';

type Message = Record<string, unknown>;

/** One stretch of what the model says; the words of it tell which. */
interface Generation {
  readonly id: number;
  text: string;
  isWhole: boolean;
}

/** What is on its way, and what the service does when it hears something. */
class Service {
  readonly #random: Prng;
  readonly flight: Message[] = [];
  readonly generations: Generation[] = [];
  readonly callIds: string[] = [];
  #ids = 0;
  #plan: Message[] = [];
  #now: Generation | undefined;
  /** Generated, and believed to be played. */
  #isPlaying = false;
  #isActive = false;
  readonly #waiting = new Set<string>();

  constructor(random: Prng) {
    this.#random = random;
  }

  get isIdle(): boolean {
    return this.#plan.length === 0 && this.flight.length === 0;
  }

  /** How much that is on its way was said before the service was stopped. */
  before = 0;

  hear(text: string): void {
    const { realtimeInput, clientContent, toolResponse } = JSON.parse(text) as Record<
      string,
      Message | undefined
    >;
    if (realtimeInput?.['activityStart'] !== undefined) {
      this.#isActive = true;
      this.#interrupt();
    }
    if (realtimeInput?.['activityEnd'] !== undefined) {
      this.#isActive = false;
      this.#generate();
    }
    if (realtimeInput?.['text'] !== undefined && !this.#isActive) this.#generate();
    if (clientContent?.['turnComplete'] === true) {
      this.#interrupt();
      this.#generate();
    }
    for (const { id } of (toolResponse?.['functionResponses'] ?? []) as { id: string }[]) {
      expect(this.#waiting.has(id), 'a result is of a call that waits').toBe(true);
      this.#waiting.delete(id);
    }
    if (toolResponse !== undefined && this.#waiting.size === 0) this.#generate();
  }

  /** Goes on by one step of its own. */
  step(): void {
    const next = this.#plan.shift();
    if (next === undefined) return;
    const said = (next['serverContent'] ?? {}) as Message;
    if (this.#now !== undefined) {
      const words = said['outputTranscription'] as { text: string } | undefined;
      this.#now.text += words?.text ?? '';
      if (said['generationComplete'] === true || next['toolCall'] !== undefined) this.#now.isWhole = true;
      if (said['generationComplete'] === true) this.#now = undefined;
    }
    if (said['turnComplete'] === true) this.#isPlaying = false;
    this.#say(next);
    if (this.#random.chance(0.02) && this.#plan.length > 1 && this.#waiting.size === 0) this.#interrupt();
  }

  #say(message: Message): void {
    const last = this.flight.at(-1);
    const said = message['serverContent'] as Message | undefined;
    const before = last?.['serverContent'] as Message | undefined;
    // Several keys may share a frame where what they say keeps its order.
    const order = [
      'inputTranscription',
      'outputTranscription',
      'modelTurn',
      'interrupted',
      'generationComplete',
      'turnComplete',
    ];
    const highest = Math.max(-1, ...Object.keys(before ?? {}).map((key) => order.indexOf(key)));
    const isLater = said !== undefined && Object.keys(said).every((key) => order.indexOf(key) > highest);
    if (last !== undefined && before !== undefined && isLater && this.#random.chance(0.5))
      this.flight[this.flight.length - 1] = { ...last, ...message, serverContent: { ...before, ...said } };
    else this.flight.push(message);
  }

  /** The next that comes. */
  next(): string {
    this.before = Math.max(0, this.before - 1);
    return JSON.stringify(this.flight.shift());
  }

  #interrupt(): void {
    const wasBusy = this.#plan.length > 0 || this.#isPlaying || this.#waiting.size > 0;
    this.#plan = [];
    this.#now = undefined;
    this.#isPlaying = false;
    if (this.#waiting.size > 0) this.#say({ toolCallCancellation: { ids: [...this.#waiting] } });
    this.#waiting.clear();
    if (wasBusy) {
      this.#say({ serverContent: { interrupted: true } });
      this.#say({ serverContent: { turnComplete: true } });
    }
    this.before = this.flight.length;
  }

  #generate(): void {
    const { pick, chance } = bound(this.#random);
    // What waits for a result goes nowhere, and what runs is not stopped by text alone.
    if (this.#waiting.size > 0 || this.#plan.length > 0) return;
    const heard = [' I', ' want'].map((text) => ({ serverContent: { inputTranscription: { text } } }));
    const kind = pick(['answer', 'answer', 'answer', 'calls', 'silent', 'stalled', 'cut']);
    const id = this.generations.length + 1;
    const isSaying = kind === 'answer' || kind === 'calls' || kind === 'cut';
    this.#now = isSaying ? { id, text: '', isWhole: false } : undefined;
    if (this.#now !== undefined) this.generations.push(this.#now);
    const pieces: Message[] = isSaying
      ? Array.from({ length: 1 + this.#random.below(4) }, (_, at) => [
          {
            serverContent: {
              modelTurn: { parts: [{ inlineData: { mimeType: 'audio/pcm;rate=24000', data: 'AQAB' } }] },
            },
          },
          { serverContent: { outputTranscription: { text: ` g${id}w${at}${at % 2 === 0 ? '.' : ','}` } } },
        ]).flatMap((pair) => (chance(0.5) ? pair : pair.toReversed()))
      : [];
    const words = [...pieces];
    if (kind !== 'stalled')
      words.splice(this.#random.below(words.length + 1), 0, ...(chance(0.7) ? heard : []));
    this.#isPlaying = isSaying;
    this.#plan = [...words, ...this.#endOf(kind)];
  }

  #endOf(kind: string): Message[] {
    const { chance } = bound(this.#random);
    const turnComplete = {
      serverContent: { turnComplete: true },
      usageMetadata: { promptTokenCount: 10, responseTokenCount: 2 },
    };
    if (kind === 'calls') {
      const calls = Array.from({ length: 1 + this.#random.below(2) }, () => ({
        id: `fc_${(this.#ids += 1)}`,
        name: 'look_up',
        args: { n: this.#ids },
      }));
      for (const { id } of calls) {
        this.#waiting.add(id);
        this.callIds.push(id);
      }
      const twice = { serverContent: { modelTurn: { parts: [{ functionCall: calls[0] }] } } };
      const message = { toolCall: { functionCalls: calls } };
      return [...(chance(0.3) ? [twice] : []), message, ...(chance(0.3) ? [message] : [])];
    }
    if (kind === 'stalled') return [];
    if (kind === 'silent' || kind === 'cut') return [turnComplete];
    // Late, or not before the caller speaks again.
    return [{ serverContent: { generationComplete: true } }, ...(chance(0.8) ? [turnComplete] : [])];
  }
}

const bound = (random: Prng) => ({
  pick: <T>(items: readonly T[]): T => random.pick(items),
  chance: (probability: number): boolean => random.chance(probability),
});

class Session {
  readonly #random: Prng;
  readonly #service: Service;
  readonly #wire: GeminiWire;
  readonly #open = new Map<string, string>();
  readonly done = new Map<number, string>();
  readonly text = new Map<number, string>();
  readonly calls: string[] = [];
  readonly finals = new Set<number>();
  #answer: number | undefined;
  #cancelled: number | undefined;
  #answers = 0;
  #turns = 0;
  #isInTurn = false;

  constructor(seed: number) {
    this.#random = newPrng(seed);
    this.#service = new Service(this.#random);
    const model = this.#random.pick([newest, older]);
    this.#wire = new GeminiWire({
      settings: { ...model, baseUrl: 'wss://fake' } as ConstructorParameters<
        typeof GeminiWire
      >[0]['settings'],
      seed: { instructions: 'Be brief.', tools: [], history: [] },
      newCallId: () => 'own',
    });
    this.#wire.opened();
    this.#take(this.#wire.read('{"setupComplete":{}}'));
  }

  run(): void {
    for (let step = 0; step < 150; step += 1) this.#act();
    if (this.#isInTurn) this.#wire.abandonTurn();
    for (let step = 0; step < 300 && this.#answer !== undefined; step += 1) this.#goOn();
    expect(this.#answer, 'every answer ends').toBeUndefined();
    expect([...this.done.keys()]).toEqual(Array.from({ length: this.#answers }, (_, at) => at + 1));
    expect(this.calls).toHaveLength(new Set(this.calls).size);
    for (const id of this.calls) expect(this.#service.callIds).toContain(id);
    this.#judgeWords();
  }

  /** An answer says one generation, whole where it was completed; and never what belongs to another. */
  #judgeWords(): void {
    for (const [answer, text] of this.text) {
      const ids = new Set([...text.matchAll(/g(\d+)w/g)].map(([, id]) => id));
      expect(ids.size, `answer ${answer} is of one generation`).toBeLessThan(2);
      const said = this.#service.generations.find(({ id }) => String(id) === [...ids][0]);
      const finish = this.done.get(answer);
      if (said === undefined || !said.isWhole || finish === 'cancelled') continue;
      expect(text, `answer ${answer}, ${finish}`).toBe(said.text.trimStart());
    }
  }

  #act(): void {
    const roll = this.#random.below(10);
    // People are slower than the network: what was said before the service was stopped comes before it is stopped again.
    if (roll < 6 || this.#service.before > 0) this.#goOn();
    else if (this.#isInTurn) this.#inTurn();
    else if (roll === 6) {
      this.#isInTurn = true;
      this.#take(this.#wire.beginTurn());
    } else if (this.#answer !== undefined) {
      if (this.#random.chance(0.15)) this.#cancel();
    } else if (this.#open.size > 0) this.#answerCalls();
    else if (this.#random.chance(0.3)) {
      if (this.#random.chance(0.5)) this.#take(this.#wire.append([{ role: 'user', text: 'Typed.' }]));
      this.#respond();
    }
  }

  #inTurn(): void {
    const message = this.#wire.audio(new Int16Array(320).fill(this.#random.below(99)));
    if (message !== undefined) this.#service.hear(message);
    if (this.#random.chance(0.5)) return;
    this.#isInTurn = false;
    if (this.#random.chance(0.3)) {
      this.#wire.abandonTurn();
      return;
    }
    if (this.#answer !== undefined && this.#random.chance(0.8)) this.#cancel();
    this.#turns += 1;
    this.#take(this.#wire.endTurn(this.#turns));
    if (this.#random.chance(0.3)) this.#take(this.#wire.append([{ role: 'system', text: 'A note.' }]));
    this.#respond();
  }

  #answerCalls(): void {
    const results = [...this.#open].map(
      ([callId, name]) => ({ role: 'tool', callId, name, text: '{"ok":true}' }) as const,
    );
    this.#open.clear();
    this.#take(this.#wire.append(results));
    for (let step = this.#random.below(6); step > 0; step -= 1) this.#goOn();
    this.#respond();
  }

  #respond(): void {
    this.#answers += 1;
    const before = this.#answer;
    this.#answer = this.#answers;
    this.#take(this.#wire.respond(this.#answers));
    if (before !== undefined) expect(this.done.has(before)).toBe(true);
  }

  #cancel(): void {
    this.#cancelled = this.#answer;
    this.#take(this.#wire.cancel());
  }

  /** The service works, what it said comes, or time passes. */
  #goOn(): void {
    const { flight } = this.#service;
    if (this.#random.chance(0.5)) this.#service.step();
    if (this.#random.chance(0.5) && flight.length > 0) this.#take(this.#wire.read(this.#service.next()));
    if (this.#service.before === 0) this.#wire.hasStopped();
    if (!this.#service.isIdle) return;
    if (this.#wire.isEnding) this.#take(this.#wire.wordsAreOver());
    else if (this.#answer !== undefined && this.#random.chance(0.2)) this.#cancel();
  }

  #take(events: readonly WireEvent[]): void {
    for (const event of events) {
      if (event.type === 'send') this.#service.hear(event.message);
      else this.#tell(event);
    }
  }

  #tell(event: RealtimeEvent): void {
    expect(event.type).not.toBe('error');
    if (event.type === 'user-text' && event.final) {
      expect(this.finals.has(event.turn), 'one final for a turn').toBe(false);
      this.finals.add(event.turn);
    }
    if (event.type === 'tool-cancelled') for (const id of event.ids) this.#open.delete(id);
    if (!('answer' in event)) return;
    expect(this.done.has(event.answer), `${event.type} behind the end of ${event.answer}`).toBe(false);
    if (event.type === 'text') this.text.set(event.answer, (this.text.get(event.answer) ?? '') + event.text);
    if (event.type === 'tool-call') {
      this.calls.push(event.id);
      this.#open.set(event.id, event.name);
    }
    if (event.type === 'done') {
      this.done.set(event.answer, event.finish);
      if (this.#cancelled === event.answer) expect(event.finish).toBe('cancelled');
      if (this.#answer === event.answer) this.#answer = undefined;
    }
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
