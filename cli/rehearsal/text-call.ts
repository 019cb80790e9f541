/**
 * One call without sound: the caller's side, and time. Time stands still unless the call is let run, jumps over silence and
 * speech that nobody has to wait for, and is the clock's while an LLM or a tool is at work.
 */
import { assert } from '../../shared/base/assert.ts';
import type { Millis } from '../../shared/base/units.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { stayAwake } from '../../shared/runtime/stay-awake.ts';
import type { CallSettings } from '../../worker/core/settings.ts';
import type { LlmStage } from '../../worker/stages/stage.ts';
import type { OpenTools } from './agent-tools.ts';
import { CallerPlan, type VoiceTimes } from './scenarios/caller-plan.ts';
import type { Conversation, ConversationEvent, ConversationSink, Goal } from './conversation.ts';
import { CoreShell } from './core-shell.ts';

/**
 * Callers who were not in a hurry begin this long after the agent has finished. It is no time that anybody waits for, and
 * more than an echo takes: who repeats what the agent said must not be taken for one.
 */
const reactionMs = 2_500;

export interface TextCallOptions {
  readonly settings: Omit<CallSettings, 'tools'>;
  readonly openTools: OpenTools;
  readonly voice: VoiceTimes;
  readonly llm: LlmStage;
  readonly clock: Clock;
  /** `speech`: what the agent says takes as long as saying it. `none`: nobody waits for it. */
  readonly pace: 'speech' | 'none';
  readonly sink: ConversationSink;
}

export class TextCall implements Conversation {
  readonly #options: TextCallOptions;
  readonly #time: CallTime;
  readonly #plan: CallerPlan;
  readonly #shell: CoreShell;
  #hasOpened = false;
  #isRunning = false;
  #isOver = false;
  /** The caller broke in and has not said anything yet. */
  #isBreakingIn = false;
  #isHurried = false;
  /** The response into which the caller's last line was said; its words do not count as an answer to it. */
  #saidInto: number | undefined;
  #wake: (() => void) | undefined;

  /** The agent greets as soon as the call is let run. */
  constructor(options: TextCallOptions) {
    this.#options = options;
    this.#time = new CallTime(options.clock);
    this.#plan = new CallerPlan(options.voice);
    this.#shell = new CoreShell({
      settings: options.settings,
      openTools: options.openTools,
      llm: options.llm,
      clock: options.clock,
      now: () => this.#time.now,
      emit: (event) => this.#emit(event),
      stirred: () => this.#wake?.(),
      ended: (by) => {
        this.#emit({ type: 'ended', by });
        this.close();
      },
    });
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  // ---- the caller ----

  say(text: string): void {
    if (this.#isOver) return;
    this.#beginTurn({ type: 'caller.said', text });
    const { askAfterMs } = this.#options.settings.idle;
    const hesitates = this.#shell.isSilent && !this.#isBreakingIn;
    const pauseMs = hesitates ? Math.min(reactionMs, askAfterMs / 2) : 0;
    this.#plan.say(text, { now: this.#time.now + pauseMs, isSpeaking: this.#isBreakingIn });
    this.#isBreakingIn = false;
  }

  press(keys: string): void {
    if (this.#isOver) return;
    this.#beginTurn({ type: 'caller.pressed', keys });
    this.#plan.press(keys, this.#time.now);
  }

  interrupt(): boolean {
    if (this.#isOver || this.#isBreakingIn) return false;
    this.#isBreakingIn = this.#shell.breakIn();
    return this.#isBreakingIn;
  }

  hangUp(): void {
    if (!this.#isOver) this.#shell.hangUp();
  }

  hurry(): void {
    this.#isHurried = true;
    this.#wake?.();
  }

  close(): void {
    this.#isOver = true;
    this.#plan.clear();
    this.#time.stop();
    this.#shell.close();
    this.#wake?.();
  }

  // ---- time ----

  async run(goal: Goal): Promise<void> {
    assert(!this.#isRunning, 'one run at a time');
    if (this.#isOver) return;
    if (goal.until === 'time') this.#beginTurn({ type: 'caller.waited', ms: goal.ms });
    const endsAt = goal.until === 'time' ? this.#time.now + goal.ms : undefined;
    this.#isRunning = true;
    this.#time.start();
    // Timers do not keep the process alive, and nothing else may be open.
    const sleep = stayAwake();
    try {
      if (!this.#hasOpened) this.#shell.open();
      this.#hasOpened = true;
      await this.#runUntil(goal, endsAt);
    } finally {
      sleep();
      this.#time.stop();
      this.#isRunning = false;
    }
    if (goal.until !== 'words' && !this.#isOver) this.#shell.finishTurn();
  }

  async #runUntil(goal: Goal, endsAt: Millis | undefined): Promise<void> {
    for (;;) {
      while (!this.#isOver && this.#takeDue());
      if (this.#isOver || this.#isReached(goal, endsAt)) return;
      const next = earliest([this.#plan.nextAt, this.#shell.nextAt, endsAt, this.#wordsAt(goal)]);
      if (this.#mustWait) await this.#wait(next);
      else if (next === undefined) return;
      else this.#time.skipTo(next);
    }
  }

  #takeDue(): boolean {
    const act = this.#plan.take(this.#time.now);
    if (act === undefined) return this.#shell.takeDue();
    this.#shell.act(act);
    return true;
  }

  /** Somebody is at work, or somebody listens. */
  get #mustWait(): boolean {
    const isListenedTo = this.#options.pace === 'speech' && !this.#isHurried && this.#shell.isSpeaking;
    return this.#shell.isBusy || isListenedTo;
  }

  #wait(until: Millis | undefined): Promise<void> {
    const { clock } = this.#options;
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#wake = undefined;
        timer?.cancel();
        resolve();
      };
      const timer = until === undefined ? undefined : clock.after(Math.max(0, until - this.#time.now), wake);
      this.#wake = wake;
    });
  }

  #isReached(goal: Goal, endsAt: Millis | undefined): boolean {
    if (endsAt !== undefined) return this.#time.now >= endsAt;
    const wordsAt = this.#wordsAt(goal);
    if (wordsAt !== undefined && wordsAt <= this.#time.now) return true;
    if (this.#plan.nextAt !== undefined) return false;
    return this.#isBreakingIn ? this.#shell.isSilent : this.#shell.isQuiet;
  }

  #wordsAt(goal: Goal): Millis | undefined {
    if (goal.until !== 'words' || this.#plan.nextAt !== undefined) return undefined;
    return this.#shell.response === this.#saidInto ? undefined : this.#shell.wordsAt(goal.count);
  }

  #beginTurn(event: ConversationEvent): void {
    this.#shell.beginTurn();
    this.#isHurried = false;
    this.#saidInto = this.#shell.response;
    this.#emit(event);
  }

  #emit(event: ConversationEvent): void {
    if (!this.#isOver) this.#options.sink(event);
  }
}

function earliest(times: readonly (Millis | undefined)[]): Millis | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

/**
 * The time of a call without sound. It stands still unless it is let go, runs with the clock while somebody outside is
 * waited for, and jumps over what nobody needs to wait for. It never goes back.
 */
class CallTime {
  readonly #clock: Pick<Clock, 'now'>;
  #elapsed: Millis = 0;
  #runningSince: Millis | undefined;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Milliseconds of the call. */
  get now(): Millis {
    return this.#runningSince === undefined
      ? this.#elapsed
      : this.#elapsed + Math.max(0, this.#clock.now() - this.#runningSince);
  }

  start(): void {
    this.#runningSince ??= this.#clock.now();
  }

  stop(): void {
    this.#elapsed = this.now;
    this.#runningSince = undefined;
  }

  /** Does nothing for a time that has passed. */
  skipTo(time: Millis): void {
    const now = this.now;
    if (time <= now) return;
    this.#elapsed = time;
    if (this.#runningSince !== undefined) this.#runningSince = this.#clock.now();
  }
}
