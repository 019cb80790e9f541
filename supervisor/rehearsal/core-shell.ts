/**
 * The shell of a call without sound around the core of every call. What the caller does becomes the facts that a detector
 * and a recogniser would have told; orders are performed on text. It takes one fact at a time and performs every order
 * before the next. The only file here that knows facts and orders of the core; it knows no timers, but is asked when it
 * wants to be woken.
 */
import { assert, unreachable } from '../../shared/base/assert.ts';
import type { Millis } from '../../shared/base/units.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { Scope } from '../../shared/runtime/scope.ts';
import { CallStages, stageContext } from '../../worker/call-stages.ts';
import { CallToolRuns } from '../../worker/call-tool-runs.ts';
import type { CallAction, ContextMessage } from '../../worker/core/actions.ts';
import { nextDeadline, step } from '../../worker/core/call.ts';
import type { CallEvent } from '../../worker/core/events.ts';
import type { CallSettings, ToolBook } from '../../worker/core/settings.ts';
import { newCall, type CallState } from '../../worker/core/state.ts';
import type { ToolPair } from '../../worker/core/tools-state.ts';
import type { LlmStage, StageContext, TtsEvent } from '../../worker/stages/stage.ts';
import type { OpenedTools } from '../../worker/tools/registry.ts';
import type { CallerAct } from './caller-plan.ts';
import type { ConversationEvent, EndedBy } from './conversation.ts';
import { msPerChar, TextPlayout } from './text-playout.ts';
import { newTextEar, newTextMouth } from './text-stages.ts';
import { TurnClock } from './turn-clock.ts';

/** Facts that may wait while one is handled; more means that facts breed facts. */
const maxPendingFacts = 256;
/** As often as a worker looks at its deadlines. */
const housekeepingMs = 20;

export interface CoreShellOptions {
  readonly settings: Omit<CallSettings, 'tools'>;
  /** The tools of the call. */
  readonly openTools: (context: StageContext) => { readonly tools: OpenedTools; readonly book: ToolBook };
  readonly llm: LlmStage;
  readonly clock: Clock;
  /** The time of the call. */
  readonly now: () => Millis;
  readonly emit: (event: ConversationEvent) => void;
  /** Something came from outside. */
  readonly stirred: () => void;
  /** The call is over; told once. */
  readonly ended: (by: EndedBy) => void;
}

export class CoreShell {
  readonly #options: CoreShellOptions;
  readonly #scope: Scope;
  readonly #state: CallState;
  readonly #stages: CallStages;
  readonly #tools: CallToolRuns;
  /** When each call of a tool that runs was started, by its key. */
  readonly #toolsSince = new Map<
    number,
    { readonly id: string; readonly name: string; readonly at: Millis }
  >();
  readonly #playout = new TextPlayout();
  readonly #ear = newTextEar();
  readonly #turn = new TurnClock();
  readonly #facts: CallEvent[] = [];
  #handling = false;
  #isOver = false;
  /** The LLM was asked and has not finished. */
  #isThinking = false;
  #deadlineNotBefore: Millis = 0;

  constructor(options: CoreShellOptions) {
    this.#options = options;
    this.#scope = new Scope('text call', () => this.#end('fault'));
    // Respelling is for voices; a text call shows what is meant.
    const opened = options.openTools(stageContext({ clock: options.clock, scope: this.#scope }));
    this.#tools = new CallToolRuns(opened.tools, (event) => this.#tell(event));
    this.#state = newCall(
      { ...options.settings, pronounce: {}, tools: opened.book },
      { session: 'text', now: options.now() },
    );
    this.#stages = new CallStages({
      clock: options.clock,
      scope: this.#scope,
      conversation: 'text',
      position: () => this.#position,
      stt: this.#ear,
      llm: options.llm,
      tts: newTextMouth({
        speak: (context, text) => this.#speak(context, text),
        flush: (context) => this.#playout.finish(context),
        cancel: (context) => this.#playout.drop(context),
      }),
      tell: (event) => this.#tell(event),
      onTts: (event) => this.#onTts(event),
      onRequest: () => undefined,
      onFailure: (stage, kind) => options.emit({ type: 'fault', stage, what: kind }),
    });
  }

  // ---- what happens ----

  open(): void {
    this.#tell({ type: 'call.opened' });
  }

  /** The caller begins to do something new: the former turn is told as done. */
  beginTurn(): void {
    this.finishTurn();
    this.#turn.begin();
  }

  finishTurn(): void {
    const timings = this.#turn.finish();
    if (timings !== undefined) this.#options.emit({ type: 'turn.done', timings });
  }

  act(act: CallerAct): void {
    switch (act.type) {
      case 'begins':
        this.#ear.hear(act.text);
        if (!act.isSpeaking) this.#tell({ type: 'speech.started' });
        return;
      case 'is-sure':
        this.#tell({ type: 'speech.confirmed', position: this.#position });
        return;
      case 'has-said':
        this.#tell({
          type: 'stt.partial',
          text: act.text,
          speechFinal: false,
          position: this.#position,
        });
        return;
      case 'falls-silent':
        this.#tell({ type: 'speech.stopped' });
        return;
      case 'presses':
        this.#tell({ type: 'dtmf.pressed', digit: act.digit, position: this.#position });
        return;
      default:
        unreachable(act);
    }
  }

  /** The caller breaks into what is being said and is heard to go on. False when there is nothing to cut, or it may not be. */
  breakIn(): boolean {
    if (this.#isOver || this.#state.response === undefined) return false;
    this.#tell({ type: 'speech.started' });
    this.#tell({ type: 'speech.confirmed', position: this.#position });
    if (this.#isOver || this.#state.response === undefined) return !this.#isOver;
    this.#tell({ type: 'speech.stopped' });
    return false;
  }

  hangUp(): void {
    this.#tell({ type: 'call.closed' });
    this.#end('caller');
  }

  /** Tells what has come to pass until now, a part of it at a time. False when there was nothing. */
  takeDue(): boolean {
    const now = this.#options.now();
    const facts = this.#playout.takeFacts(now);
    for (const fact of facts) {
      if (fact.type === 'started') {
        this.#tell({ type: 'playout.started', context: fact.context, audioAt: now });
      } else if (fact.type === 'mark') {
        this.#tell({ type: 'mark.sent', id: fact.id });
        this.#tell({ type: 'mark.played', id: fact.id });
      } else {
        this.#tell({ type: 'playout.drained', context: fact.context, sentMs: fact.sentMs });
      }
    }
    if (facts.length > 0) return true;
    const deadline = this.#deadline;
    if (deadline === undefined || deadline > now) return false;
    this.#deadlineNotBefore = now + housekeepingMs;
    this.#tell({ type: 'deadline.reached' });
    return true;
  }

  close(): void {
    this.#isOver = true;
    this.#facts.length = 0;
    if (this.#scope.closed) return;
    this.#scope.close();
    this.#tools.close();
    this.#stages.close();
  }

  // ---- what is asked ----

  /** When something comes to pass on its own. */
  get nextAt(): Millis | undefined {
    const times = [this.#playout.nextAt(), this.#deadline].filter((time) => time !== undefined);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** Somebody outside is at work: an LLM or a tool. */
  get isBusy(): boolean {
    return this.#isThinking || this.#toolsSince.size > 0;
  }

  get isSpeaking(): boolean {
    return this.#playout.isPlaying;
  }

  /** Nobody speaks, and nothing is owed. */
  get isQuiet(): boolean {
    const { turn, answerOwed, dtmf } = this.#state;
    return this.isSilent && turn.phase === 'idle' && !answerOwed && dtmf.completeAt === undefined;
  }

  /** The agent says nothing and is not about to. */
  get isSilent(): boolean {
    return !this.isBusy && this.#state.response === undefined;
  }

  /** The response that is being said. */
  get response(): number | undefined {
    return this.#playout.openContext;
  }

  /** When this many words of it will have been heard. */
  wordsAt(count: number): Millis | undefined {
    return this.#playout.wordsAt(count);
  }

  get #position(): { readonly context: number; readonly sentMs: Millis } | undefined {
    return this.#playout.position(this.#options.now());
  }

  get #deadline(): Millis | undefined {
    const deadline = nextDeadline(this.#state);
    return deadline === undefined ? undefined : Math.max(deadline, this.#deadlineNotBefore);
  }

  // ---- the loop ----

  #tell(event: CallEvent): void {
    if (this.#isOver) return;
    assert(this.#facts.length < maxPendingFacts, 'no step causes as many facts');
    this.#facts.push(event);
    if (this.#handling) return;
    this.#handling = true;
    try {
      for (let fact = this.#facts.shift(); fact !== undefined; fact = this.#facts.shift()) this.#take(fact);
    } finally {
      this.#handling = false;
    }
    this.#options.stirred();
  }

  #take(fact: CallEvent): void {
    this.#note(fact);
    const { history, response } = this.#state;
    const lastSaid = (): ContextMessage | undefined =>
      history.messages.findLast(({ role }) => role === 'assistant');
    const before = lastSaid();
    for (const action of step(this.#state, fact, this.#options.now())) {
      if (action.type === 'playout.clear' && action.wire && response !== undefined) {
        const last = lastSaid();
        const heard = last !== undefined && last !== before ? last.text : '';
        this.#options.emit({ type: 'bot.cut', response: response.context, heard });
      }
      this.#perform(action);
      if (this.#isOver) return;
    }
  }

  #note(fact: CallEvent): void {
    const now = this.#options.now();
    if (fact.type === 'llm.text') {
      if (fact.text.trim() !== '') this.#turn.wrote(now);
    } else if (fact.type === 'llm.done' || fact.type === 'llm.failed') {
      this.#isThinking = false;
      this.#turn.thought(now);
      if (fact.type === 'llm.done')
        for (const call of fact.toolCalls) this.#options.emit({ ...call, type: 'tool.called' });
    }
  }

  #onTts(event: Exclude<TtsEvent, { type: 'error' }>): void {
    if (event.type === 'spoken')
      this.#tell({ ...event, type: 'tts.spoken', audioMs: event.chars * msPerChar });
    else if (event.type === 'flushed')
      this.#tell({ ...event, type: 'tts.flushed', audioMs: this.#playout.lengthMs(event.context) });
  }

  #speak(context: number, text: string): void {
    this.#playout.speak(context, text, this.#options.now());
    this.#turn.spoke(text.length * msPerChar);
    this.#options.emit({ type: 'bot.text', response: context, text });
  }

  #perform(action: CallAction): void {
    switch (action.type) {
      case 'stt.listen':
      case 'stt.replay':
      case 'turn.measured':
      case 'turn.judge':
      case 'line.refused':
        return;
      case 'tool.run':
        this.#toolsSince.set(action.key, { ...action.call, at: this.#options.now() });
        this.#tools.run(action);
        return;
      case 'tool.abandon':
        this.#toolsSince.delete(action.key);
        this.#tools.abandon(action.key, action.reason);
        return;
      case 'tools.answered':
        this.#answered(action.pairs);
        return;
      case 'node.entered':
        this.#options.emit({ type: 'node.entered', node: action.node });
        return;
      case 'stt.finalize':
        this.#stages.stt.finalize();
        return;
      case 'stt.reopen':
        this.#stages.reopenStt();
        return;
      case 'llm.start':
        this.#isThinking = true;
        this.#turn.asked(this.#options.now());
        this.#stages.startLlm(action.round, action.messages, action.tools);
        return;
      case 'llm.cancel':
        this.#isThinking = false;
        this.#stages.cancelLlm();
        return;
      case 'tts.speak':
        this.#stages.speak(action.context, action.text);
        return;
      case 'tts.flush':
        this.#stages.tts.flush(action.context);
        return;
      case 'tts.cancel':
        this.#stages.tts.cancel(action.context);
        return;
      case 'tts.reopen':
        this.#stages.reopenTts();
        return;
      case 'call.end':
        this.#end('agent');
        return;
      case 'fault.noticed':
        this.#options.emit({ type: 'fault', stage: action.stage, what: action.what });
        return;
      default:
        this.#performPlayout(action);
    }
  }

  /** A round of tool calls is complete. */
  #answered(pairs: readonly ToolPair[]): void {
    const now = this.#options.now();
    for (const { call, text } of pairs) {
      const run = [...this.#toolsSince].find(([, { id }]) => id === call.id);
      if (run !== undefined) this.#toolsSince.delete(run[0]);
      const tookMs = run === undefined ? 0 : now - run[1].at;
      this.#options.emit({ type: 'tool.result', id: call.id, name: call.name, text, tookMs });
    }
  }

  #performPlayout(action: Extract<CallAction, { type: `playout.${string}` }>): void {
    const now = this.#options.now();
    switch (action.type) {
      case 'playout.open':
        this.#playout.open(action.context, { skipMs: action.from?.skipMs ?? 0, now });
        return;
      case 'playout.pause':
        this.#playout.pause(now);
        return;
      case 'playout.resume':
        this.#playout.resume(now);
        return;
      case 'playout.clear':
        this.#playout.clear();
        return;
      case 'playout.mark':
        this.#playout.mark(action.context, action.id);
        return;
      case 'playout.finish':
        this.#playout.finish(action.context);
        return;
      default:
        unreachable(action);
    }
  }

  #end(by: EndedBy): void {
    if (this.#isOver) return;
    this.finishTurn();
    this.#options.ended(by);
    this.close();
  }
}
