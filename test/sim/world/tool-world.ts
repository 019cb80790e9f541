/**
 * One simulated call whose LLM calls tools at random and whose tools hang, fail, answer late and twice, while the caller
 * answers, interrupts, makes noises and leaves. A script plays the conversation; the judge sees every step.
 */
import { ordersIn, type Order } from '../../support/core/order.ts';
import { newPrng, type Prng } from '../../../shared/base/prng.ts';
import type { CallSettings } from '../../../worker/core/settings.ts';
import type { CallAction } from '../../../worker/core/actions.ts';
import type { CallEvent } from '../../../worker/core/events.ts';
import type { ToolOutcome } from '../../../worker/core/tools/tools-state.ts';
import type { Core } from '../../support/core/core.ts';
import { scriptSettings } from '../../support/core/script-settings.ts';
import { Script } from '../../support/core/script.ts';
import type { ScriptedCall } from '../../support/core/scripted-tools.ts';
import { effectTool, newToolBook, readingTool } from '../../support/core/tool-book.ts';
import { ToolJudge } from '../judges/tool-judge.ts';
import { say } from '../../support/core/given.ts';

const names = ['look', 'look', 'book', 'book', 'ring', 'pay', 'pay', 'fly'];
const says = ['Book it.', 'Yes.', 'Yes, please.', 'No.', 'What?', 'Tell me more.'];
const tools = {
  look: { ...readingTool, timeoutMs: 2_000, fillerAfterMs: 700 },
  book: { ...effectTool, timeoutMs: 2_000 },
  ring: { ...effectTool, timeoutMs: 2_500, repeatable: true },
  pay: { ...effectTool, timeoutMs: 3_000, confirm: true },
};

export interface ToolWorldReport {
  readonly violations: readonly string[];
  readonly counts: ReadonlyMap<string, number>;
  readonly steps: readonly string[];
}

export function runToolWorld(core: Core, seed: number): ToolWorldReport {
  const world = new ToolWorld(core, seed);
  world.run();
  return { violations: world.judge.violations, counts: world.judge.counts, steps: world.steps };
}

function settingsOf(prng: Prng): CallSettings {
  return {
    ...scriptSettings,
    tools: newToolBook({ tools }),
    maxToolRounds: 2 + prng.below(3),
    contextWindowTokens: prng.chance(0.2) ? 100 : 1_000_000,
    turn: { ...scriptSettings.turn, speculate: prng.chance(0.5) },
    idle: { askAfterMs: 6_000, ask: 'Are you still there?', endAfter: 2 },
    limits: { ...scriptSettings.limits, stageFailures: 1_000 },
  };
}

/** A fact or an order for reading; of requests only the newest messages. */
function brief(what: CallEvent | Order): string {
  if (what.type !== 'llm.start') return JSON.stringify(what);
  return `llm.start ${what.round} ${JSON.stringify(what.messages.slice(-5))}`;
}

class ToolWorld {
  readonly judge: ToolJudge;
  readonly steps: string[] = [];
  readonly #prng: Prng;
  readonly #script: Script;
  readonly #ids: string[] = [];
  #held = false;
  #flushed = false;
  #owed = 0;
  #answers = 0;

  constructor(core: Core, seed: number) {
    const prng = newPrng(seed * 6_007 + 3);
    const settings = settingsOf(prng);
    this.#prng = prng;
    this.judge = new ToolJudge({
      effects: ['book', 'ring', 'pay'],
      confirmed: ['pay'],
      question: settings.confirmQuestion,
      wholeContext: settings.contextWindowTokens > 1_000,
    });
    const step: Core['step'] = (state, event, now) => {
      const actions = core.step(state, event, now);
      this.#saw(event, actions);
      return actions;
    };
    this.#script = new Script({
      core: { ...core, step, newCall: core.newCall, nextDeadline: core.nextDeadline },
      settings,
    });
  }

  #saw(event: CallEvent, all: readonly CallAction[]): void {
    const actions = ordersIn(all);
    this.steps.push(`${brief(event)} => ${actions.map(brief).join(' ')}`);
    this.judge.saw(event, actions);
    if (event.type === 'stt.finalized') this.#owed = Math.max(0, this.#owed - 1);
    for (const { type } of actions) {
      if (type === 'playout.pause') this.#held = true;
      else if (type === 'playout.resume' || type === 'playout.duck') this.#held = false;
      else if (type === 'playout.open' || type === 'playout.clear') {
        this.#held = false;
        this.#flushed = false;
      } else if (type === 'tts.flush' || type === 'playout.finish') this.#flushed = true;
      else if (type === 'stt.finalize' || type === 'stt.flush') this.#owed += 1;
      else if (type === 'stt.reopen') this.#owed = 0;
    }
  }

  run(): void {
    const prng = this.#prng;
    this.#script.opens();
    const losesWorker = prng.chance(0.15);
    for (let turn = 0; turn < 45 && !this.#isOver; turn += 1) {
      const pick = prng.below(20);
      if (pick < 6) this.#llm();
      else if (pick < 10) this.#tool();
      else if (pick < 13) this.#caller(prng.pick(says));
      else if (pick < 17) this.#pass(prng.below(1_200));
      else if (pick < 18) this.#finish();
      else if (pick < 19) this.#stranger();
      else if (losesWorker && prng.chance(0.3)) this.#loseWorker();
    }
    if (this.#isOver) return;
    if (prng.chance(0.3)) this.#script.tell({ type: 'call.closed' });
    else if (prng.chance(0.2)) this.#script.tell({ type: 'call.shutdown' });
    else this.#windDown();
    this.#afterwards();
  }

  get #isOver(): boolean {
    return this.judge.ended || this.judge.violations.length > 0;
  }

  /** The caller says nothing more, everybody else does their duty: the call must come to its end. */
  #windDown(): void {
    for (let turn = 0; turn < 400 && !this.#isOver; turn += 1) {
      const round = this.judge.openRound;
      if (round !== undefined) this.#script.llmAnswers('That is all.');
      for (const run of this.judge.running) this.#settle(run, this.#result());
      this.#finish();
      this.#pass(300);
    }
    if (!this.#isOver) this.judge.violations.push('the call never comes to its end');
  }

  /** What comes after the end is of no consequence. */
  #afterwards(): void {
    for (const run of this.judge.done) this.#settle(run, this.#result());
    this.#script.later(60_000);
  }

  // ---- the LLM ----

  #llm(): void {
    const round = this.judge.openRound;
    if (round === undefined) return;
    const prng = this.#prng;
    const script = this.#script;
    if (prng.chance(0.3)) script.llmWrites(prng.pick(['Well. ', 'Let me see. ', 'I am looking']));
    const pick = prng.below(10);
    if (pick < 7) {
      const calls = Array.from({ length: 1 + prng.below(3) }, () => this.#call());
      if (prng.chance(0.05)) calls.push('end_call');
      script.llmEnds(prng.chance(0.1) ? 'length' : 'tool_calls', calls);
      // The same end once more is the end of nothing.
      if (prng.chance(0.1)) script.tell({ type: 'llm.done', round, finish: 'stop', toolCalls: [] });
    } else if (pick < 9) script.llmAnswers('So it is.');
    else script.llmFails();
  }

  #call(): ScriptedCall {
    const prng = this.#prng;
    const known = this.#ids.length > 0 && prng.chance(0.25);
    const id = known ? prng.pick(this.#ids.slice(-4)) : `c${this.#ids.length}`;
    this.#ids.push(id);
    return { name: prng.pick(names), id, args: prng.pick(['{}', '{}', '{"a":1}', '{']) };
  }

  // ---- tools ----

  #tool(): void {
    const prng = this.#prng;
    const { running, done } = this.judge;
    const late = done.length > 0 && prng.chance(0.15);
    const run = late ? prng.pick(done) : running.length > 0 ? prng.pick(running) : undefined;
    if (run === undefined) return;
    const outcome: ToolOutcome = prng.chance(0.7)
      ? this.#result()
      : {
          kind: 'failed',
          message: 'no',
          transport: prng.chance(0.5),
          ...(prng.chance(0.5) && { unsent: true as const }),
        };
    this.#settle(run, outcome);
    if (prng.chance(0.3)) this.#settle(run, this.#result());
  }

  #result(): ToolOutcome {
    this.#answers += 1;
    return { kind: 'result', text: `answer ${this.#answers}` };
  }

  #settle({ key, attempt }: { key: number; attempt: number }, outcome: ToolOutcome): void {
    this.#script.tell({ type: 'tool.settled', key, attempt, outcome });
  }

  // ---- the caller ----

  #caller(text: string): void {
    const prng = this.#prng;
    const script = this.#script;
    script.callerBegins();
    const noise = prng.chance(0.15);
    if (!noise) script.callerInsists().sttHears(text);
    script.callerStops();
    if (prng.chance(0.4)) this.#llm();
    if (prng.chance(0.3)) this.#tool();
    if (!noise && prng.chance(0.2)) script.callerBegins().sttHears('I mean it.').callerStops();
    if (prng.chance(0.2)) this.#llm();
    for (let waitedMs = 0; waitedMs < 3_000 && this.#owed === 0; waitedMs += 50) script.later(50);
    while (this.#owed > 0) script.sttFinalizes();
  }

  /** Keys, and lines of others. */
  #stranger(): void {
    if (this.#prng.chance(0.5)) this.#script.presses('1#');
    else this.#script.tell(say('A word from us.', { interrupt: this.#prng.chance(0.5) }));
  }

  // ---- time ----

  #pass(ms: number): void {
    for (let passedMs = 0; passedMs < ms && !this.#isOver; passedMs += 150) {
      if (!this.#held) this.#script.botPlays(120);
      this.#script.later(30);
    }
  }

  #finish(): void {
    if (this.#held || this.#isOver) return;
    this.#script.botPlays(Infinity);
    if (this.#flushed && !this.#held && !this.#isOver) this.#script.drains().later(500);
  }

  #loseWorker(): void {
    this.#owed = 0;
    this.#script.workerIsLost();
  }
}
