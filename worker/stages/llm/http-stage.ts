/** LLM stages whose rounds are requests over HTTP, on connections that all calls of a worker share. */
import { Soon, idleMsFor, newHttpPool, type HttpPool } from '../http.ts';
import type {
  LlmCall,
  LlmEvent,
  LlmRequest,
  LlmRound,
  LlmSession,
  LlmStage,
  StageContext,
} from '../stage.ts';
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
  return {
    provider: llm.provider,
    open: (context, call) => new HttpSession(llm, { pool, context, call }),
    close: () => pool.close(),
  };
}

interface SessionScope {
  readonly pool: HttpPool;
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
    this.#warmUp = new Soon(scope.context, () => scope.pool.warm(this.#url));
    this.#warmUp.ask();
  }

  start(request: LlmRequest, sink: (event: LlmEvent) => void): LlmRound {
    this.#warmUp.close();
    const { pool, context } = this.#scope;
    const { body, newStream } = this.#llm.ask(request, this.#options);
    const asked = { url: this.#url, headers: this.#llm.headers, body };
    this.#round = new HttpRound({ pool, request: asked, newStream }, { context, sink });
    return this.#round;
  }

  close(): void {
    this.#warmUp.close();
    this.#round?.cancel();
  }
}
