/** The simulated providers. They keep the contracts of the stages unless the plan says that they break them. */
import type { CallEvent } from '../../worker/core/events.ts';
import type { Plan } from './plan.ts';
import type { Timeline } from './timeline.ts';

/** What the judge is told about a fact beside the fact itself. */
export interface Note {
  /** The result belongs to something that is over. */
  readonly stale?: boolean;
}

export interface SimWorld {
  readonly plan: Plan;
  readonly time: Timeline;
  tell(event: CallEvent, note?: Note): void;
}

const prerollMs = 600;

interface Utterance {
  /** Words that no final holds yet. */
  words: string[];
}

export class SimStt {
  readonly #world: SimWorld;
  #session = 0;
  #lastAt = 0;
  #listening = false;
  #utterance: Utterance | undefined;
  #recent: { at: number; word: string }[] = [];

  constructor(world: SimWorld) {
    this.#world = world;
  }

  hear(word: string): void {
    const { prng } = this.#world.plan;
    if (!this.#listening || this.#utterance === undefined) {
      this.#recent.push({ at: this.#world.time.now, word });
      if (this.#recent.length > 8) this.#recent.shift();
      return;
    }
    const utterance = this.#utterance;
    utterance.words.push(word);
    if (prng.chance(this.#world.plan.faults.sttFails / 3)) {
      this.#deliver(100, { type: 'stt.failed' });
    } else if (prng.chance(0.1)) {
      this.#final(utterance, 200);
    } else if (prng.chance(0.7)) {
      this.#deliver(150, { type: 'stt.partial', text: utterance.words.join(' ') });
    }
  }

  listen(): void {
    if (this.#listening) return;
    this.#listening = true;
    this.#utterance ??= { words: [] };
    const from = this.#world.time.now - prerollMs;
    for (const { at, word } of this.#recent) if (at >= from) this.#utterance.words.push(word);
    this.#recent = [];
  }

  finalize(): void {
    this.#listening = false;
    const utterance = this.#utterance ?? { words: [] };
    this.#utterance = undefined;
    const { plan } = this.#world;
    // A finalize that is never answered.
    if (plan.prng.chance(plan.faults.sttStalls)) return;
    if (plan.prng.chance(plan.faults.sttFails)) {
      this.#deliver(plan.stt.finalizeMs, { type: 'stt.failed' });
      return;
    }
    this.#final(utterance, plan.stt.finalizeMs);
    this.#deliver(0, { type: 'stt.finalized' });
  }

  reopen(): void {
    this.#session += 1;
    this.#utterance = this.#listening ? { words: [] } : undefined;
  }

  #final(utterance: Utterance, delayMs: number): void {
    const text = utterance.words.join(' ');
    utterance.words = [];
    if (text !== '') this.#deliver(delayMs, { type: 'stt.final', text });
    else this.#lastAt = Math.max(this.#lastAt, this.#world.time.now + delayMs);
  }

  /** Events of a session arrive in order, and none after it was replaced. */
  #deliver(delayMs: number, event: CallEvent): void {
    const { time } = this.#world;
    const session = this.#session;
    this.#lastAt = Math.max(this.#lastAt, time.now + delayMs);
    time.after(this.#lastAt - time.now, () => {
      if (session !== this.#session) return;
      this.#world.tell(event);
    });
  }
}

const vocabulary = [
  'table',
  'morning',
  'SQL',
  'order',
  'weather',
  'ticket',
  'window',
  'number',
  'a',
  'in',
  'reservation',
];

export class SimLlm {
  readonly #world: SimWorld;
  #round = 0;
  #epoch: number | undefined;
  #words = 0;
  /** Everything delivered to the core, by epoch. */
  readonly written = new Map<number, string>();

  constructor(world: SimWorld) {
    this.#world = world;
  }

  start(epoch: number): void {
    const { plan } = this.#world;
    const { prng, faults } = plan;
    this.cancel();
    this.#epoch = epoch;
    this.written.set(epoch, '');
    const round = this.#round;
    const firstMs = prng.chance(faults.llmIsLate) ? 1_500 + prng.below(9_000) : plan.llm.firstMs;
    if (prng.chance(faults.llmStalls)) {
      this.#startsAndStops(round, firstMs);
      return;
    }
    const text = prng.chance(faults.llmIsEmpty) ? prng.pick(['', ' ', '\n']) : this.#answer();
    const failsAt = prng.chance(faults.llmFails) ? prng.below(text.length + 1) : Infinity;
    const breaksAt = prng.chance(faults.llmBreaks) ? prng.below(text.length + 1) : Infinity;
    this.#write(round, { text, at: 0, failsAt, breaksAt, delayMs: firstMs });
  }

  cancel(): void {
    this.#round += 1;
    this.#epoch = undefined;
  }

  /** A few letters perhaps, and then nothing for ever. */
  #startsAndStops(round: number, delayMs: number): void {
    const text = this.#world.plan.prng.pick(['', 'Well', 'Let me see']);
    if (text !== '') this.#later(round, delayMs, () => this.#text(text));
  }

  #write(
    round: number,
    part: { text: string; at: number; failsAt: number; breaksAt: number; delayMs: number },
  ): void {
    const { prng, llm, settings } = this.#world.plan;
    this.#later(round, part.delayMs, () => {
      const { text, at, failsAt, breaksAt } = part;
      if (at >= failsAt) {
        this.#end('llm.failed', []);
        return;
      }
      // The adapter notices a stream that stopped.
      if (at >= breaksAt) {
        this.#later(round, 3_000, () => this.#end('llm.failed', []));
        return;
      }
      if (at >= text.length) {
        const endsCall = prng.chance(llm.endsCall) && settings.endCallTool;
        this.#end('llm.done', endsCall ? ['end_call'] : prng.chance(0.1) ? ['other'] : []);
        return;
      }
      const next = at + 1 + prng.below(12);
      this.#text(text.slice(at, next));
      this.#write(round, { ...part, at: next, delayMs: prng.below(2 * llm.deltaMs) });
    });
  }

  #later(round: number, delayMs: number, run: () => void): void {
    this.#world.time.after(delayMs, () => {
      if (round === this.#round) run();
    });
  }

  #text(text: string): void {
    const epoch = this.#epoch!;
    this.written.set(epoch, this.written.get(epoch)! + text);
    this.#world.tell({ type: 'llm.text', epoch, text });
  }

  #end(type: 'llm.done' | 'llm.failed', tools: readonly string[]): void {
    const epoch = this.#epoch!;
    this.cancel();
    const toolCalls = tools.map((name) => ({ id: 't', name, arguments: '{}' }));
    const event: CallEvent = type === 'llm.done' ? { type, epoch, toolCalls } : { type, epoch };
    this.#world.tell(event);
    if (this.#world.plan.prng.chance(this.#world.plan.faults.twice)) this.#world.tell(event, { stale: true });
  }

  #answer(): string {
    const { prng } = this.#world.plan;
    let text = '';
    for (let sentences = 1 + prng.below(4); sentences > 0; sentences -= 1) {
      const words = prng.chance(0.05) ? 60 : 2 + prng.below(9);
      for (let word = 0; word < words; word += 1) {
        const stem = prng.pick(vocabulary);
        this.#words += 1;
        text += `${word === 0 ? '' : ' '}${stem === 'SQL' ? stem : `${stem}${this.#words}`}`;
        if (prng.chance(0.06) && word < words - 1) text += ',';
      }
      text += prng.pick(['. ', '? ', '! ', '.\n']);
    }
    return prng.chance(0.5) ? text.trimEnd() : text;
  }
}
