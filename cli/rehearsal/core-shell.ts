/**
 * The shell of a call without sound around the core of every call. The caller's acts become the facts that a detector
 * and a recogniser would have told; orders are performed on text. The only file here that knows facts and orders of the core;
 * it knows no timers, but is asked when it wants to be woken.
 */
import { randomUUID } from 'node:crypto';
import { unreachable } from '../../shared/base/assert.ts';
import type { Millis } from '../../shared/base/units.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { Scope } from '../../shared/runtime/scope.ts';
import { CallDriver } from '../../worker/call/driver.ts';
import { CallStages, stageContext } from '../../worker/call/stages.ts';
import { CallToolRuns } from '../../worker/call/tool-runs.ts';
import type { CallAction } from '../../worker/core/actions.ts';
import type { CallEvent } from '../../worker/core/events.ts';
import type { CallSettings } from '../../worker/core/settings.ts';
import { newCall, type CallState } from '../../worker/core/state.ts';
import type { ConversationEvent as ToldEvent } from '../../worker/core/told.ts';
import type { LlmStage, TtsEvent } from '../../worker/stages/stage.ts';
import { ownNameOf } from '../../worker/tools/tool.ts';
import type { OpenTools } from './agent-tools.ts';
import type { CallerAct } from './scenarios/caller-plan.ts';
import type { ConversationEvent, EndedBy, TurnTimings } from './conversation.ts';
import { msPerChar, TextPlayout } from './text-playout.ts';
import { newTextStt, newTextTts } from './text-stages.ts';
import { ToolWatch } from './tool-watch.ts';

/** Measures how long the answer to one turn of the caller took: at most one turn at a time, told once. */
interface Measured {
  askedAt: Millis | undefined;
  firstTextAt: Millis | undefined;
  thoughtAt: Millis | undefined;
  spokenMs: Millis;
}

class TurnClock {
  #turn: Measured | undefined;

  begin(): void {
    this.#turn = { askedAt: undefined, firstTextAt: undefined, thoughtAt: undefined, spokenMs: 0 };
  }

  /** The LLM was asked; the first time counts. */
  asked(now: Millis): void {
    if (this.#turn !== undefined) this.#turn.askedAt ??= now;
  }

  /** The LLM wrote; the first time counts. */
  wrote(now: Millis): void {
    if (this.#turn?.askedAt !== undefined) this.#turn.firstTextAt ??= now;
  }

  /** A round of the LLM or a tool came to its end; the last time counts. */
  thought(now: Millis): void {
    if (this.#turn !== undefined) this.#turn.thoughtAt = now;
  }

  spoke(ms: Millis): void {
    if (this.#turn !== undefined) this.#turn.spokenMs += ms;
  }

  /** Undefined for a turn that nobody was asked about. */
  finish(): TurnTimings | undefined {
    const turn = this.#turn;
    this.#turn = undefined;
    if (turn?.askedAt === undefined) return undefined;
    const { askedAt, firstTextAt, thoughtAt = askedAt, spokenMs } = turn;
    return {
      firstTextMs: firstTextAt === undefined ? undefined : firstTextAt - askedAt,
      thoughtMs: thoughtAt - askedAt,
      spokenMs,
    };
  }
}

/** As often as a worker looks at its deadlines. */
const housekeepingMs = 20;

export interface CoreShellOptions {
  readonly settings: Omit<CallSettings, 'tools'>;
  readonly openTools: OpenTools;
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
  readonly #runs: CallToolRuns;
  readonly #tools: ToolWatch;
  readonly #playout = new TextPlayout();
  readonly #stt = newTextStt();
  readonly #turn = new TurnClock();
  readonly #driver: CallDriver;
  /** What the history held before the fact that is being taken, and the response that was being given. */
  #before: { readonly known: number; readonly response: number | undefined } = {
    known: 0,
    response: undefined,
  };
  #isOver = false;
  /** The LLM was asked and has not finished. */
  #isThinking = false;
  #deadlineNotBefore: Millis = 0;

  constructor(options: CoreShellOptions) {
    this.#options = options;
    this.#scope = new Scope('text call', () => this.#end('fault'));
    const { settings, clock } = options;
    const opened = options.openTools(stageContext({ clock, scope: this.#scope }));
    this.#runs = new CallToolRuns(opened.tools, (event) => this.#tell(event));
    this.#tools = new ToolWatch({
      // The author of a scenario knows tools by their own names.
      emit: (event) =>
        options.emit('name' in event ? { ...event, name: ownNameOf(opened.tools.tools, event.name) } : event),
      now: options.now,
      isOwn: (name) => opened.book.performerOf(name) === 'core',
    });
    const session = randomUUID();
    // Respelling is for voices, and speculation for microphones: here the end of a line is the end of the turn.
    const turn = { ...settings.turn, speculate: false };
    this.#state = newCall({ ...settings, tools: opened.book, pronounce: {}, turn }, { session });
    this.#driver = new CallDriver(this.#state, {
      now: options.now,
      taking: (fact) => this.#taking(fact),
      perform: (order) => this.#perform(order),
    });
    this.#stages = new CallStages({
      clock,
      scope: this.#scope,
      llmCall: { conversation: session },
      stt: this.#stt,
      llm: options.llm,
      tts: newTextTts({
        speak: (context, text) => this.#speak(context, text),
        flush: (context) => this.#playout.finish(context),
        cancel: (context) => this.#playout.drop(context),
      }),
      tell: (event) => this.#tell(event),
      // There is no sound whose level could be learned.
      onWords: () => undefined,
      onTts: (event) => this.#onTts(event),
      position: () => this.#position,
      onFailure: (stage, what) => options.emit({ type: 'fault', stage, what }),
    });
  }

  // ---- what happens ----

  open(): void {
    const { flow } = this.#state.conversation;
    if (flow !== undefined) this.#options.emit({ type: 'node.entered', node: flow.node });
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
        this.#stt.hear(act.text);
        if (!act.isSpeaking) this.#tell({ type: 'speech.started' });
        return;
      case 'is-sure':
        this.#tell({ type: 'speech.confirmed', position: this.#position });
        return;
      case 'has-said':
        this.#tell({ type: 'stt.partial', text: act.text, speechFinal: false, position: this.#position });
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
    if (this.#isOver || this.#state.delivery.response === undefined) return false;
    this.#tell({ type: 'speech.started' });
    this.#tell({ type: 'speech.confirmed', position: this.#position });
    if (!this.#isOver && this.#state.delivery.response !== undefined) this.#insist();
    if (this.#isOver || this.#state.delivery.response === undefined) return !this.#isOver;
    this.#tell({ type: 'speech.stopped' });
    return false;
  }

  /** Words cut where a voice does not yet. Which ones they are is not known before they are typed, so nothing is left of them. */
  #insist(): void {
    const { minWords } = this.#state.setup.settings.interrupt;
    const words = new Array<string>(Math.max(1, minWords)).fill('stop').join(' ');
    for (const text of [words, ''])
      this.#tell({ type: 'stt.partial', text, speechFinal: false, position: this.#position });
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
      } else if (fact.type === 'fed') {
        this.#tell({ type: 'playout.fed', context: fact.context });
      } else {
        this.#tell({ type: `playout.${fact.type}`, context: fact.context, sentMs: fact.sentMs });
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
    this.#driver.close();
    if (this.#scope.closed) return;
    this.#scope.close();
    this.#runs.close();
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
    return this.#isThinking || this.#tools.isBusy;
  }

  get isSpeaking(): boolean {
    return this.#playout.isPlaying;
  }

  /** Nobody speaks, and nothing is owed. */
  get isQuiet(): boolean {
    const {
      caller: { turn },
      conversation: { owed: answerOwed },
      keys: dtmf,
    } = this.#state;
    return this.isSilent && turn.phase === 'idle' && !answerOwed && dtmf.completeAt === undefined;
  }

  /** The agent says nothing and is not about to. */
  get isSilent(): boolean {
    return !this.isBusy && this.#state.delivery.response === undefined;
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
    const { deadline } = this.#driver;
    return deadline === undefined ? undefined : Math.max(deadline, this.#deadlineNotBefore);
  }

  // ---- the core ----

  #tell(event: CallEvent): void {
    if (this.#isOver) return;
    if (this.#driver.tell(event) !== 'waits') this.#options.stirred();
  }

  #taking(fact: CallEvent): void {
    this.#note(fact);
    const { conversation, delivery } = this.#state;
    this.#before = { known: conversation.history.messages.length, response: delivery.response?.context };
  }

  /** A response was cut: what it leaves in the history is what was heard. */
  #cut(): void {
    const { known, response } = this.#before;
    if (response === undefined) return;
    const added = this.#state.conversation.history.messages
      .slice(known)
      .filter(({ role }) => role === 'assistant');
    const heard = added.map(({ text }) => text).filter((text) => text !== '');
    this.#options.emit({ type: 'bot.cut', response, heard: heard.join(' ') });
  }

  #note(fact: CallEvent): void {
    const now = this.#options.now();
    if (fact.type === 'llm.text') {
      if (fact.text.trim() !== '') this.#turn.wrote(now);
    } else if (fact.type === 'llm.done' || fact.type === 'llm.failed') {
      this.#isThinking = false;
      this.#turn.thought(now);
      if (fact.type === 'llm.done') this.#tools.asked(fact.toolCalls);
    } else if (fact.type === 'tool.settled') {
      this.#tools.settled(fact.key, fact.outcome);
      this.#turn.thought(now);
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
    if (action.type === 'playout.clear' && action.wire) this.#cut();
    switch (action.type) {
      case 'stt.listen':
      case 'stt.replay':
      case 'tts.prepare':
      case 'tts.forget':
        return;
      case 'turn.judge':
        this.#tell({ type: 'turn.judged', ask: action.ask, probability: undefined });
        return;
      case 'stt.finalize':
      case 'stt.flush':
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
        this.#stages.tts.speak(action.context, action.text);
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
      case 'tool.run':
      case 'tool.abandon':
        this.#performTool(action);
        return;
      case 'told':
        this.#follow(action.event);
        return;
      // A rehearsed call has no sound and no carrier, and its agent is offered none of this.
      case 'playout.murmur':
      case 'carrier.transfer':
      case 'carrier.keys':
      case 'agent.enter':
      case 'agent.dismiss':
      // It has no voice, and one LLM.
      case 'node.equip':
        return;
      // It has one agent.
      case 'agent.prepare':
        this.#tell({ type: 'agent.missing', commandId: action.commandId });
        return;
      case 'call.end':
        this.#end('agent');
        return;
      default:
        this.#playout.perform(action, this.#options.now());
    }
  }

  #follow(event: ToldEvent): void {
    if (event.type === 'node.entered') this.#options.emit(event);
    else if (event.type === 'tools.answered') this.#tools.answered(event.pairs);
    else if (event.type === 'fault.noticed')
      this.#options.emit({ type: 'fault', stage: event.stage, what: event.what });
  }

  #performTool(action: Extract<CallAction, { type: `tool.${string}` }>): void {
    switch (action.type) {
      case 'tool.run':
        this.#tools.started(action.key, action.call);
        this.#runs.run(action);
        return;
      case 'tool.abandon':
        this.#tools.abandoned(action.key);
        this.#runs.abandon(action.key, action.reason);
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
