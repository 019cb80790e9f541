/**
 * The LLM stage over one provider or two (docs/providers.md, When a provider fails): a round that failed before anything
 * of it was delivered is asked of the other provider; with `hedge_after_ms` the other is asked as well when the first is
 * slow, and the first that answers wins.
 *
 * Invariant: nothing is delivered of more than one attempt, and an attempt that delivered anything is the last one. Opaque
 * reasoning reaches only the provider that made it.
 */
import type { Timer } from '../../../shared/runtime/clock.ts';
import type {
  ChatMessage,
  LlmCall,
  LlmEvent,
  LlmRequest,
  LlmRound,
  LlmSession,
  LlmStage,
  StageContext,
  StageError,
} from '../stage.ts';
import {
  firstUse,
  otherThan,
  overBoth,
  useOf,
  type FailoverScope,
  type Guarded,
  type Use,
} from './provider.ts';
import type { Verdict } from './verdict.ts';

/** The two providers once each, and one of them again. */
const mostAttempts = 3;
/** Pause before a provider is asked again, when it names none; a caller waits for no longer one. */
const repeatAfterMs = 150;
const longestRepeatMs = 1_000;
/** A round that is cancelled without a word after so long was given up and not interrupted. */
const stalledAfterMs = 5_000;
/** One that was overtaken after so long without a word has failed its caller, be it slow or hanging. */
const overtakenAfterMs = 2_000;

export interface FailoverLlmOptions extends FailoverScope<LlmStage> {
  readonly hedgeAfterMs?: number;
}

export function newFailoverLlm(options: FailoverLlmOptions): LlmStage {
  return {
    ...overBoth(options),
    open: (context, call) => new FailoverSession(options, context, call),
  };
}

/** The sessions of one call with the providers that it has asked. */
class FailoverSession implements LlmSession {
  readonly #options: FailoverLlmOptions;
  readonly #context: StageContext;
  readonly #call: LlmCall;
  readonly #sessions = new Map<Guarded<LlmStage>, LlmSession>();
  #round: FailoverRound | undefined;

  /** The provider that will be asked is opened at once, the other one when it is asked. */
  constructor(options: FailoverLlmOptions, context: StageContext, call: LlmCall) {
    this.#options = options;
    this.#context = context;
    this.#call = call;
    const { primary, secondary } = options;
    const isAway = primary.breaker.state(options.machineMs()) === 'open';
    this.#sessionOf(isAway && secondary !== undefined ? secondary : primary);
  }

  start(request: LlmRequest, sink: (event: LlmEvent) => void): LlmRound {
    const sessionOf = (provider: Guarded<LlmStage>): LlmSession => this.#sessionOf(provider);
    this.#round = new FailoverRound(this.#options, { context: this.#context, request, sink, sessionOf });
    return this.#round;
  }

  close(): void {
    this.#round?.cancel();
    for (const session of this.#sessions.values()) session.close();
  }

  /** The model that a call names is one of the first provider's. */
  #sessionOf(provider: Guarded<LlmStage>): LlmSession {
    const known = this.#sessions.get(provider);
    if (known !== undefined) return known;
    const { model, ...rest } = this.#call;
    const isOwn = provider.role === 'primary' && model !== undefined;
    const session = provider.stage.open(this.#context, isOwn ? { ...rest, model } : rest);
    this.#sessions.set(provider, session);
    return session;
  }
}

interface RoundScope {
  readonly sessionOf: (provider: Guarded<LlmStage>) => LlmSession;
  readonly context: StageContext;
  readonly request: LlmRequest;
  readonly sink: (event: LlmEvent) => void;
}

interface Attempt {
  readonly use: Use<LlmStage>;
  readonly startedMs: number;
  round?: LlmRound;
}

class FailoverRound implements LlmRound {
  readonly #options: FailoverLlmOptions;
  readonly #scope: RoundScope;
  readonly #startedMs: number;
  #running: Attempt[] = [];
  readonly #tried: Guarded<LlmStage>[] = [];
  #winner: Attempt | undefined;
  #hedge: Timer | undefined;
  #repeat: Timer | undefined;
  #isOver = false;

  constructor(options: FailoverLlmOptions, scope: RoundScope) {
    this.#options = options;
    this.#scope = scope;
    this.#startedMs = scope.context.clock.now();
    this.#begin(firstUse(options));
    const { hedgeAfterMs, secondary } = options;
    if (hedgeAfterMs === undefined || secondary === undefined) return;
    this.#hedge = scope.context.clock.after(
      hedgeAfterMs,
      scope.context.bind(() => this.#askBoth()),
    );
  }

  cancel(): void {
    if (this.#isOver) return;
    const hasStalled = this.#scope.context.clock.now() - this.#startedMs >= stalledAfterMs;
    for (const { use } of this.#running) {
      if (this.#winner === undefined && hasStalled) use.stalled();
      else use.abandoned();
    }
    this.#finish();
  }

  #begin(use: Use<LlmStage>): void {
    const { context, request } = this.#scope;
    const { provider } = use;
    const attempt: Attempt = { use, startedMs: context.clock.now() };
    this.#running.push(attempt);
    this.#tried.push(provider);
    provider.meter.requested();
    const session = this.#scope.sessionOf(provider);
    attempt.round = session.start(ownReasoning(request, provider), (event) => this.#onEvent(attempt, event));
  }

  #onEvent(attempt: Attempt, event: LlmEvent): void {
    if (this.#isOver || !this.#running.includes(attempt)) return;
    if (event.type === 'error') {
      this.#onError(attempt, event.error);
      return;
    }
    this.#win(attempt);
    if (event.type !== 'done') {
      this.#scope.sink(event);
      return;
    }
    const { provider } = attempt.use;
    if (event.usage !== undefined) {
      provider.meter.spent('input_tokens', event.usage.inputTokens);
      provider.meter.spent('cached_tokens', event.usage.cachedTokens);
      provider.meter.spent('output_tokens', event.usage.outputTokens);
    }
    this.#running = [];
    this.#finish();
    this.#scope.sink(signedBy(event, provider));
  }

  /** The first sign of an answer: this attempt is the round from here on. */
  #win(attempt: Attempt): void {
    if (this.#winner === attempt) return;
    this.#winner = attempt;
    attempt.use.provider.meter.firstResult(this.#scope.context.clock.now() - attempt.startedMs);
    attempt.use.succeeded();
    const losers = this.#running.filter((other) => other !== attempt);
    this.#running = [attempt];
    this.#stopTimers();
    for (const { use, startedMs, round } of losers) {
      if (this.#scope.context.clock.now() - startedMs >= overtakenAfterMs) use.stalled();
      else use.abandoned();
      round?.cancel();
    }
  }

  #onError(attempt: Attempt, error: StageError): void {
    const verdict = attempt.use.failed(error);
    this.#running = this.#running.filter((other) => other !== attempt);
    if (this.#winner === undefined && (this.#running.length > 0 || this.#turnElsewhere(attempt, verdict)))
      return;
    this.#finish();
    this.#scope.sink({ type: 'error', error });
  }

  /** Asks the other provider, or this one once more; false when neither is left. */
  #turnElsewhere({ use }: Attempt, verdict: Verdict): boolean {
    const { context } = this.#scope;
    const { budgets, failedOver } = this.#options;
    const other = otherThan(use.provider, this.#options);
    const otherUse = other && !this.#tried.includes(other) ? useOf(other, this.#options) : undefined;
    if (otherUse !== undefined) {
      if (!budgets.take(context)) {
        otherUse.abandoned();
        return false;
      }
      failedOver('failed');
      this.#begin(otherUse);
      return true;
    }
    const pauseMs = Math.max(repeatAfterMs, verdict.pauseMs ?? 0);
    const mayRepeat = verdict.mayRepeat && pauseMs <= longestRepeatMs;
    if (!mayRepeat || this.#tried.length >= this.#mostAttempts || !budgets.take(context)) return false;
    this.#repeat = context.clock.after(
      pauseMs,
      context.bind(() => this.#begin(useOf(use.provider, this.#options) ?? firstUse(this.#options))),
    );
    return true;
  }

  get #mostAttempts(): number {
    return this.#options.secondary === undefined ? mostAttempts - 1 : mostAttempts;
  }

  /** The first provider is slow: the other one is asked as well. */
  #askBoth(): void {
    const [first] = this.#running;
    if (this.#isOver || this.#winner !== undefined || first === undefined || this.#running.length > 1) return;
    const other = otherThan(first.use.provider, this.#options);
    const use = other && !this.#tried.includes(other) ? useOf(other, this.#options) : undefined;
    if (use === undefined) return;
    if (!this.#options.budgets.take(this.#scope.context)) {
      use.abandoned();
      return;
    }
    this.#options.failedOver('hedge');
    this.#begin(use);
  }

  #stopTimers(): void {
    this.#hedge?.cancel();
    this.#repeat?.cancel();
  }

  #finish(): void {
    this.#isOver = true;
    this.#stopTimers();
    const running = this.#running;
    this.#running = [];
    for (const { round } of running) round?.cancel();
  }
}

/** By what name a provider's reasoning is kept: two of one kind are not the same one. */
const signature = ({ role, stage }: Guarded<LlmStage>): string =>
  role === 'primary' ? stage.provider : `${stage.provider} (secondary)`;

function signedBy(
  event: Extract<LlmEvent, { type: 'done' }>,
  provider: Guarded<LlmStage>,
): Extract<LlmEvent, { type: 'done' }> {
  if (event.reasoning === undefined || provider.role === 'primary') return event;
  return { ...event, reasoning: { ...event.reasoning, provider: signature(provider) } };
}

/** The request with the reasoning of this provider alone, under the name that its adapter knows. */
function ownReasoning(request: LlmRequest, provider: Guarded<LlmStage>): LlmRequest {
  const hasAny = request.messages.some((message) => 'reasoning' in message);
  if (!hasAny) return request;
  const messages = request.messages.map((message): ChatMessage => {
    if (message.role !== 'assistant' || message.reasoning === undefined) return message;
    const { reasoning, ...rest } = message;
    if (reasoning.provider !== signature(provider)) return rest;
    return { ...rest, reasoning: { ...reasoning, provider: provider.stage.provider } };
  });
  return { ...request, messages };
}
