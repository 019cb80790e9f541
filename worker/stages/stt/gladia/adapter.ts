/**
 * The STT stage over the hosted recogniser `stt_cloud_c`. A connection takes two steps: a request that begins a
 * session, and a WebSocket to the address that it answers with.
 *
 * That address holds the right to the session: it is neither kept longer than the connection nor shown.
 */
import type { SttGladiaOptions } from './declaration.ts';
import { ENGINE_RATE } from '../../../../shared/base/units.ts';
import { isLoopbackHost } from '../../../../shared/net/loopback.ts';
import type { Timer } from '../../../../shared/runtime/clock.ts';
import { causeInText, explained } from '../../failure.ts';
import { isSuccess, newHttpPool, refusedWith } from '../../http.ts';
import { keyHeaders } from '../../keys.ts';
import type { Exchange, HttpPool, PostRequest, ResponseHead } from '../../http.ts';
import type { StageContext, StageError, SttAccess, SttStage } from '../../stage.ts';
import { GladiaWire, gladiaRequest, gladiaUrl } from './protocol.ts';
import { dialSocket, type Connection, type SocketHandlers } from '../socket.ts';
import { newStreamStage } from '../stream-stage.ts';
import type { SttVendor } from '../vendor.ts';
import { parseObject, stringAt, type Outgoing } from '../wire.ts';

const KEEP_ALIVE_MS = 10_000;
/** The silence that ends the utterance, the last transcription after it, and some network. */
const FINALIZE_TIMEOUT_MS = 2_000;
const MAX_ANSWER_BYTES = 65_536;
/** How long the body of a refusal may take; it only says why. */
const REFUSAL_MS = 300;

/** @throws Error when the key may not be sent to the address or cannot be a header value. */
export function newSttGladia(options: SttGladiaOptions & SttAccess): SttStage {
  const pool = newHttpPool();
  const url = gladiaUrl(options);
  const request: PostRequest = {
    url,
    headers: keyHeaders(url, options.apiKey, { name: 'x-gladia-key' }),
    body: JSON.stringify(gladiaRequest(options, options.language)),
  };
  const vendor: SttVendor = {
    sampleRate: ENGINE_RATE,
    frameMs: 60,
    keepAliveMs: KEEP_ALIVE_MS,
    finalizeTimeoutMs: FINALIZE_TIMEOUT_MS + options.endpointingMs,
    dial: (context, on) => new SessionConnection({ pool, request }, { context, on }),
    newWire: () => new GladiaWire(options),
  };
  return newStreamStage('stt_cloud_c', vendor, () => pool.close());
}

interface DialScope {
  readonly context: StageContext;
  readonly on: SocketHandlers;
}

/** A connection that is a request first and a socket then. */
class SessionConnection implements Connection {
  readonly #scope: DialScope;
  readonly #exchange: Exchange;
  #socket: Connection | undefined;
  #head: ResponseHead | undefined;
  #answer = '';
  #patience: Timer | undefined;
  #isOver = false;

  constructor(
    { pool, request }: { readonly pool: HttpPool; readonly request: PostRequest },
    scope: DialScope,
  ) {
    this.#scope = scope;
    this.#exchange = pool.post(scope.context, request, {
      sent: () => undefined,
      head: (head) => this.#onHead(head),
      data: (chunk) => this.#onData(chunk),
      ended: () => this.#onAnswer(),
      failed: (error) => {
        if (!this.#refuse()) this.#fail(error);
      },
    });
  }

  get isOpen(): boolean {
    return this.#socket?.isOpen ?? false;
  }

  get bufferedBytes(): number {
    return this.#socket?.bufferedBytes ?? 0;
  }

  send(message: Outgoing, sent: () => void): void {
    this.#socket?.send(message, sent);
  }

  ping(): void {
    this.#socket?.ping();
  }

  terminate(): void {
    this.#isOver = true;
    this.#patience?.cancel();
    this.#exchange.abort();
    this.#socket?.terminate();
  }

  leave(...farewell: Parameters<Connection['leave']>): void {
    this.#isOver = true;
    this.#patience?.cancel();
    this.#exchange.abort();
    this.#socket?.leave(...farewell);
  }

  #onHead(head: ResponseHead): void {
    this.#head = head;
    if (isSuccess(head.status)) return;
    const { context } = this.#scope;
    this.#patience = context.clock.after(
      REFUSAL_MS,
      context.bind(() => void this.#refuse()),
    );
  }

  /** Fails with what the server said of its refusal so far; false when it refused nothing. */
  #refuse(): boolean {
    if (this.#head === undefined || isSuccess(this.#head.status)) return false;
    const { status, header } = this.#head;
    const error = refusedWith(status, header('retry-after'), header('date'));
    this.#fail(explained(error, causeInText(this.#answer), { beforeCall: true }));
    return true;
  }

  #onData(chunk: Buffer): void {
    this.#answer += chunk.toString('utf8');
    if (this.#answer.length > MAX_ANSWER_BYTES)
      this.#fail({ kind: 'protocol', rule: 'a session has an address' });
  }

  #onAnswer(): void {
    if (this.#isOver || this.#head === undefined || this.#refuse()) return;
    const address = stringAt(parseObject(this.#answer) ?? {}, 'url') ?? '';
    this.#answer = '';
    const url = URL.canParse(address) ? new URL(address) : undefined;
    const isSafe =
      url?.protocol === 'wss:' || (url?.protocol === 'ws:' && isLoopbackHost(url.hostname)) ? url : undefined;
    if (url === undefined || !isSafe || url.hash !== '') {
      this.#fail({ kind: 'protocol', rule: 'a session has an address' });
      return;
    }
    this.#socket = dialSocket(url, {}, this.#scope);
  }

  #fail(error: StageError): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#patience?.cancel();
    this.#exchange.abort();
    this.#scope.on.closed({ code: 1006, reason: '', error });
  }
}
