/** What comes from elsewhere into a simulated call: the turn model, tools, lines of others, and results of what is over. */
import { newPrng, type Prng } from '../../../shared/base/prng.ts';
import {
  edit,
  end,
  handsBack,
  operatorLeaves,
  operatorSays,
  say,
  takesOver,
  typed,
  type Given,
} from '../../support/core/given.ts';
import type { CallEvent } from '../../../worker/core/events.ts';
import type { ToolOutcome } from '../../../worker/core/tools/tools-state.ts';
import type { Judge } from '../judges/judge.ts';
import type { SimWorld } from './sim-world.ts';

export class Strangers {
  readonly #world: SimWorld;
  readonly #judge: Judge;
  #worker = 0;
  #lines = 0;
  #commands = 0;
  readonly #chance: Prng;

  constructor(world: SimWorld, judge: Judge) {
    this.#world = world;
    this.#judge = judge;
    this.#chance = newPrng(world.plan.seed * 15_485_863 + 3);
  }

  /** The turn model is asked. */
  judge(ask: number): void {
    const { prng, turnModel } = this.#world.plan;
    const worker = this.#worker;
    const probability = prng.chance(turnModel.silent) ? undefined : prng.next();
    this.#world.time.after(turnModel.answersMs, () => {
      if (worker === this.#worker) this.#world.tell({ type: 'turn.judged', ask, probability });
    });
  }

  /** A tool is run. */
  run(key: number, attempt: number): void {
    const { prng, tools } = this.#world.plan;
    const worker = this.#worker;
    if (prng.chance(tools.hangs)) return;
    const failed = prng.chance(0.2);
    const outcome: ToolOutcome = failed
      ? { kind: 'failed', message: 'no', transport: prng.chance(0.5) }
      : { kind: 'result', text: '{}' };
    this.#world.time.after(tools.answersMs, () => {
      if (worker === this.#worker) this.#world.tell({ type: 'tool.settled', key, attempt, outcome });
    });
  }

  lose(): void {
    this.#worker += 1;
  }

  tick(): void {
    const { plan } = this.#world;
    if (plan.prng.chance(plan.faults.stale)) this.#tellStale();
    if (!plan.prng.chance(plan.lines)) return;
    const burst = plan.prng.chance(0.1) ? 10 : 1;
    for (let count = 0; count < burst; count += 1) this.#line();
  }

  #line(): void {
    const { prng } = this.#world.plan;
    this.#lines += 1;
    const words = Array.from({ length: 1 + prng.below(6) }, (_, index) => `line${this.#lines}w${index}`);
    this.#world.tell(
      say(`${words.join(' ')}.`, {
        id: `line ${this.#lines}`,
        interrupt: prng.chance(0.3),
        interruptible: prng.chance(0.7),
        position: this.#world.position,
      }),
    );
  }

  /** Every kind of command, at any time; with chance of its own, so that the rest of the call stays as it is. */
  command(): void {
    const prng = this.#chance;
    const { position } = this.#world;
    if (!prng.chance(0.01)) return;
    const burst = prng.chance(0.1) ? 18 : 1;
    const kind = prng.below(13);
    for (let count = 0; count < burst; count += 1) {
      const id = `command ${(this.#commands += 1)}`;
      const interrupt = prng.chance(0.3);
      if (kind < 4)
        this.#world.tell(say(`Word ${id}.`, { id, interrupt, interruptible: prng.chance(0.7), position }));
      else if (kind < 7) this.#world.tell(typed(prng.chance(0.9) ? `I type ${id}.` : ' ', id, position));
      else if (kind < 9) this.#world.tell(edit({ append: [{ role: 'system', text: 'Note.' }] }, id));
      else if (kind > 9) this.#world.tell({ ...this.#operator(prng), id, position });
      else if (prng.chance(0.3)) this.#world.tell(end(prng.chance(0.7) ? 'So long then.' : '', id));
    }
  }

  /** Operators come and go; most of the time one is there no longer than the caller is patient. */
  #operator(prng: Prng): Given {
    const kind = prng.below(6);
    if (kind < 2) return takesOver({ atOnce: kind === 0 });
    if (kind === 2) return operatorLeaves();
    if (kind === 3) return operatorSays(prng.chance(0.9) ? 'I am a person.' : '');
    return handsBack({ note: 'Be kind.', say: kind === 4 ? 'I am back.' : '' });
  }

  /** A result of something that is over comes after all. */
  #tellStale(): void {
    const { prng } = this.#world.plan;
    const round = this.#judge.anyFinishedRound(prng);
    const context = this.#judge.anyClosedContext(prng);
    const stale: CallEvent[] = [];
    if (round !== undefined)
      stale.push(
        { type: 'llm.text', round, text: 'Stale words spoken late. ' },
        {
          type: 'llm.done',
          round,
          finish: 'tool_calls',
          toolCalls: [{ id: 's', name: 'end_call', arguments: '{}' }],
        },
        { type: 'llm.failed', round },
      );
    if (context !== undefined)
      stale.push(
        { type: 'tts.spoken', context, chars: 1 + prng.below(80), audioMs: 1 + prng.below(4_000) },
        { type: 'tts.word', context, chars: 1 + prng.below(80), startMs: prng.below(4_000) },
        { type: 'tts.flushed', context, audioMs: 1 + prng.below(4_000) },
        { type: 'playout.started', context, audioAt: 0 },
        { type: 'playout.starved', context, sentMs: prng.below(4_000) },
        { type: 'playout.fed', context },
        { type: 'playout.acknowledged', context, playedMs: prng.below(4_000) },
        { type: 'playout.drained', context, sentMs: prng.below(4_000) },
      );
    if (stale.length > 0) this.#world.tell(prng.pick(stale), { stale: true });
  }
}
