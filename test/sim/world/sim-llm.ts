/** The simulated LLM. Every word that it writes is its own, so that nobody can say it twice and not be noticed. */
import type { CallEvent } from '../../../worker/core/events.ts';
import type { SimWorld } from './sim-world.ts';

const vocabulary = [
  'table',
  'morning',
  'SQL',
  'order',
  'weather',
  'ticket',
  'window',
  'a',
  'in',
  'reservation',
];

interface Part {
  readonly text: string;
  readonly at: number;
  readonly failsAt: number;
  readonly breaksAt: number;
  readonly delayMs: number;
}

export class SimLlm {
  readonly #world: SimWorld;
  /** Goes up with every request and every end of one. */
  #run = 0;
  #round: number | undefined;
  #words = 0;
  #text = '';
  #repeats: string | undefined;
  /** Everything delivered to the core, by request. */
  readonly written = new Map<number, string>();

  constructor(world: SimWorld) {
    this.#world = world;
  }

  start(round: number): void {
    const { plan } = this.#world;
    const { prng, faults } = plan;
    this.cancel();
    this.#round = round;
    this.written.set(round, '');
    const run = this.#run;
    const firstMs = prng.chance(faults.llmIsLate) ? 1_500 + prng.below(7_000) : plan.llm.firstMs;
    const repeats = this.#repeats;
    this.#repeats = undefined;
    if (prng.chance(faults.llmStalls)) {
      this.#startsAndStops(run, firstMs);
      return;
    }
    const empty = prng.chance(faults.llmIsEmpty) ? prng.pick(['', ' ', '\n']) : undefined;
    const text = empty ?? repeats ?? this.#answer();
    this.#text = text;
    const failsAt = prng.chance(faults.llmFails) ? prng.below(text.length + 1) : Infinity;
    const breaksAt = prng.chance(faults.llmBreaks) ? prng.below(text.length + 1) : Infinity;
    this.#write(run, { text, at: 0, failsAt, breaksAt, delayMs: firstMs });
  }

  cancel(): void {
    this.#run += 1;
    this.#round = undefined;
  }

  /** The worker is gone, and its request with it; a worker that asks again may get the same answer. */
  lose(): void {
    if (this.#round !== undefined && this.#world.plan.prng.chance(0.6)) this.#repeats = this.#text;
    this.cancel();
  }

  /** A few letters perhaps, or a sentence, and then nothing for ever. */
  #startsAndStops(run: number, delayMs: number): void {
    const text = this.#world.plan.prng.pick(['', 'Well', 'Let me see', `${this.#answer()} And then`]);
    this.#text = text;
    if (text !== '') this.#later(run, delayMs, () => this.#tell(text));
  }

  #write(run: number, part: Part): void {
    const { prng, llm } = this.#world.plan;
    this.#later(run, part.delayMs, () => {
      const { text, at, failsAt, breaksAt } = part;
      if (at >= failsAt) {
        this.#end('llm.failed', []);
      } else if (at >= breaksAt) {
        // The adapter notices a stream that stopped.
        this.#later(run, 3_000, () => this.#end('llm.failed', []));
      } else if (at >= text.length) {
        this.#end('llm.done', this.#tools());
      } else {
        const next = at + 1 + prng.below(12);
        this.#tell(text.slice(at, next));
        this.#write(run, { ...part, at: next, delayMs: prng.below(2 * llm.deltaMs) });
      }
    });
  }

  #tools(): readonly string[] {
    const { prng, llm } = this.#world.plan;
    if (prng.chance(llm.endsCall)) return ['end_call'];
    return prng.chance(0.15) ? [prng.pick(['other', 'lookup'])] : [];
  }

  #later(run: number, delayMs: number, what: () => void): void {
    this.#world.time.after(delayMs, () => {
      if (run === this.#run) what();
    });
  }

  #tell(text: string): void {
    const round = this.#round!;
    this.written.set(round, this.written.get(round)! + text);
    this.#world.tell({ type: 'llm.text', round, text });
  }

  #end(type: 'llm.done' | 'llm.failed', tools: readonly string[]): void {
    const round = this.#round!;
    this.cancel();
    const toolCalls = tools.map((name) => ({ id: `t${round}`, name, arguments: '{}' }));
    const finish = tools.length > 0 ? 'tool_calls' : 'stop';
    const event: CallEvent = type === 'llm.done' ? { type, round, finish, toolCalls } : { type, round };
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
