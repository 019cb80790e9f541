/** LLM stages whose rounds are requests over HTTP, on connections that all calls of a worker share. */
import { idleMsFor, newHttpPool, type HttpPool } from '../http.ts';
import { Soon } from '../timers.ts';
import type {
  LlmCall,
  LlmEvent,
  LlmRequest,
  LlmRound,
  LlmSession,
  LlmStage,
  StageContext,
} from '../stage.ts';
import { syntheticIds } from './call-ids.ts';
import { habitOf, type LeakHabit } from './leak-filter.ts';
import { OfferedTools } from './leaked-calls.ts';
import { newRoundGuard } from './round-guard.ts';
import { HttpRound, type RoundStream } from './round.ts';

/** One interface of the kind, with the options `O`. */
export interface HttpLlm<O> {
  readonly provider: string;
  readonly options: O;
  readonly url: (options: O) => URL;
  readonly headers: Readonly<Record<string, string>>;
  /** What is sent for a round, and what reads the answer. */
  readonly ask: (
    request: LlmRequest,
    options: O & Pick<LlmCall, 'conversation'>,
  ) => { readonly body: string; readonly newStream: (emit: (event: LlmEvent) => void) => RoundStream };
}

export function newHttpLlm<O extends { readonly model: string }>(llm: HttpLlm<O>): LlmStage {
  const pool = newHttpPool({ idleMs: idleMsFor(llm.url(llm.options)) });
  const habit = habitOf(llm.options.model);
  return {
    provider: llm.provider,
    open: (context, call) => new HttpSession(llm, { pool, habit, context, call }),
    close: () => pool.close(),
  };
}

interface SessionScope {
  readonly pool: HttpPool;
  readonly habit: LeakHabit;
  readonly context: StageContext;
  readonly call: LlmCall;
}

class HttpSession<O extends object> implements LlmSession {
  readonly #llm: HttpLlm<O>;
  readonly #scope: SessionScope;
  readonly #options: O & Pick<LlmCall, 'conversation'>;
  readonly #url: URL;
  readonly #warmUp: Soon;
  #round: LlmRound | undefined;

  constructor(llm: HttpLlm<O>, scope: SessionScope) {
    this.#llm = llm;
    this.#scope = scope;
    this.#options = { ...llm.options, ...scope.call };
    this.#url = llm.url(this.#options);
    // A call begins: its first question shall find a connection, unless it comes at once and makes its own.
    this.#warmUp = new Soon(scope.context, () => scope.pool.warm(scope.context, this.#url));
    this.#warmUp.ask();
  }

  start(request: LlmRequest, sink: (event: LlmEvent) => void): LlmRound {
    this.#warmUp.close();
    const { pool, habit, context } = this.#scope;
    const { body, newStream } = this.#llm.ask(request, this.#options);
    const [tools, nextId] = [
      new OfferedTools(request.tools, request.messages),
      syntheticIds(request.messages),
    ];
    const newGuarded = (emit: (event: LlmEvent) => void): RoundStream => {
      const thinksApart = (): boolean => stream.thinksApart;
      const guard = newRoundGuard({ tools, habit, nextId, emit, thinksApart }, context);
      const stream = newStream((event) => guard.take(event));
      return stream;
    };
    const asked = { url: this.#url, headers: this.#llm.headers, body };
    this.#round = new HttpRound({ pool, request: asked, newStream: newGuarded }, { context, sink });
    return this.#round;
  }

  close(): void {
    this.#warmUp.close();
    this.#round?.cancel();
  }
}
