/** The calls of this worker as the live view shows them: who speaks, how fast answers were, what failed. Nothing that anybody said. */
import type { Millis } from '../../shared/base/units.ts';
import { mostLiveCalls, type LiveCall, type Speaker } from '../../shared/protocol/live.ts';
import type { CallObserver, CallStep, ObservedCall } from '../call/observer.ts';
import type { CallEvent } from '../core/events.ts';
import type { ConversationEvent } from '../core/told.ts';

export class LiveCalls {
  /** In the order in which they began here. */
  readonly #calls = new Map<string, WatchedCall>();

  observe(call: ObservedCall, tenant: string | undefined): CallObserver {
    const { callId } = call.start;
    const watched = new WatchedCall(call, tenant, () => this.#calls.delete(callId));
    this.#calls.set(callId, watched);
    return watched;
  }

  /** Ends a call as an agent would: as soon as nobody speaks. */
  end(call: string, tenant: string | undefined): void {
    const watched = this.#calls.get(call);
    if (tenant === undefined || watched?.tenant === tenant) watched?.end();
  }

  rows(now: Millis): LiveCall[] {
    return [...this.#calls.values()].slice(0, mostLiveCalls).map((call) => call.row(now));
  }
}

class WatchedCall implements CallObserver {
  readonly tenant: string | undefined;
  readonly #call: ObservedCall;
  readonly #gone: () => void;
  #callerSpeaks = false;
  #agentSpeaks = false;
  #isOwed = false;
  #turns = 0;
  #lastResponseMs: Millis | undefined;
  #interruptions = 0;
  #runningTools = 0;
  readonly #faults = { stt: 0, llm: 0, tts: 0 };

  constructor(call: ObservedCall, tenant: string | undefined, gone: () => void) {
    this.#call = call;
    this.tenant = tenant;
    this.#gone = gone;
  }

  stepped({ fact, orders }: CallStep): void {
    this.#hear(fact);
    for (const order of orders) {
      if (order.type === 'told') this.#note(order.event);
      else if (order.type === 'tool.run') this.#runningTools += 1;
      else if (order.type === 'tool.abandon') this.#runningTools -= 1;
    }
  }

  ended(): void {
    this.#gone();
  }

  end(): void {
    this.#call.command({ type: 'end', farewell: '' });
  }

  row(now: Millis): LiveCall {
    const { start, startedAt } = this.#call;
    return {
      call: start.callId,
      ...(this.tenant !== undefined && { tenant: this.tenant }),
      ageMs: Math.round(now - startedAt),
      speaker: this.#speaker(),
      isOwed: this.#isOwed,
      turns: this.#turns,
      ...(this.#lastResponseMs !== undefined && { lastResponseMs: Math.round(this.#lastResponseMs) }),
      faults: { ...this.#faults },
      interruptions: this.#interruptions,
      runningTools: Math.max(0, this.#runningTools),
    };
  }

  #speaker(): Speaker {
    if (this.#callerSpeaks) return this.#agentSpeaks ? 'both' : 'caller';
    return this.#agentSpeaks ? 'agent' : 'nobody';
  }

  #hear(fact: CallEvent): void {
    if (fact.type === 'speech.started' || fact.type === 'voice.resumed') this.#callerSpeaks = true;
    else if (fact.type === 'speech.stopped') this.#callerSpeaks = false;
    else if (fact.type === 'tool.settled') this.#runningTools -= 1;
  }

  #note(event: ConversationEvent): void {
    switch (event.type) {
      case 'turn.user_ended':
        this.#isOwed = true;
        return;
      case 'turn.bot_started':
        this.#agentSpeaks = true;
        this.#isOwed = false;
        return;
      case 'turn.bot_ended':
        this.#agentSpeaks = false;
        return;
      case 'turn.interrupted':
        this.#agentSpeaks = false;
        this.#interruptions += 1;
        return;
      case 'turn.measured':
        this.#turns += 1;
        this.#lastResponseMs = event.times.responseMs;
        return;
      case 'fault.noticed':
        if (event.stage !== 'call') this.#faults[event.stage] += 1;
        return;
      default:
    }
  }
}
