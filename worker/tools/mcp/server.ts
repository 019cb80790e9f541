/**
 * One server of the Model Context Protocol and its tools, shared by all calls of a worker. While it is gone its tools are
 * still known, and their calls fail; it is connected again with growing pauses. Its words are data: it asks this side for
 * nothing, and no answer of it is believed to be short, quick or well formed.
 */
import { AsyncResource } from 'node:async_hooks';
import type * as z from 'zod';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { fillVariables, type CallMetadata } from '../../../shared/config/agent/call-variables.ts';
import type { McpDefinition } from '../../../shared/config/agent/mcp.ts';
import { isTable } from '../../../shared/config/table.ts';
import type { Clock, Timer } from '../../../shared/runtime/clock.ts';
import type { Log } from '../../../shared/runtime/log.ts';
import type { Millis } from '../../../shared/base/units.ts';
import type { StageContext, StageError, ToolDeclaration } from '../../stages/stage.ts';
import {
  backstopMs,
  mayFinish,
  refuseRun,
  unreadAnswer,
  type ToolReport,
  type ToolRun,
  type ToolRunner,
  type ToolRunRequest,
} from '../tool.ts';
import { explained } from '../../stages/failure.ts';
import type { Failure } from '../../stages/failure-log.ts';
import type { StdioTransport } from './stdio.ts';
import {
  connectionClosed,
  mcpSite,
  requestError,
  requestTimeout,
  tooSlow,
  toolFailure,
} from '../tool-failure.ts';
import { cutOff, tooLarge } from './message-bounds.ts';
import { listPage, readListing, reportOf, toolResult, type LeftOutTool, type Listing } from './listing.ts';
import { sendExactly } from './messages.ts';
import { isUnsent } from '../unsent.ts';

export interface McpOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Takes each failure of the connection or of a call, for the people who run the service. */
  readonly failed: (failure: Failure) => void;
  /** Its address leads to a public one. */
  readonly isPublicOnly?: boolean;
  /** The list of tools is another than before. */
  readonly changed: () => void;
}

/** Each step of connecting (a program may fetch itself first), and what the start of a worker waits for all of them. */
const stepMs = 30_000;
const startMs = 8_000;
const firstPauseMs = 500;
const longestPauseMs = 30_000;
/** A connection that held this long was a good one. */
const goodMs = 30_000;
/** A server whose list of tools changes is asked for it after this long: once, however often it says so. */
const relistMs = 1_000;
const mostRunning = 256;
/** Nobody waits longer for an answer on a connection that was given up. */
const drainMs = 32_000;

/** Codes of the protocol that this side makes itself. */
const ownCodes: readonly number[] = [connectionClosed, requestTimeout, tooLarge, cutOff];
/** What the LLM is told of a refusal. */
const longestRefusal = 500;

const failed = (message: string): ToolReport => ({ kind: 'failed', message, transport: false });

async function closeQuietly(client: Client): Promise<void> {
  try {
    await client.close();
  } catch (error) {
    // Closing was all that was left to do; the client says so once.
    client.onerror?.(error instanceof Error ? error : new Error('close failed'));
  }
}

const gone: ToolReport = {
  kind: 'failed',
  message: 'the tool server is not connected',
  transport: true,
  unsent: true,
};

/** Whether a request may be sent once more, in a new session: what may have had an effect is not. */
const mayRepeat = (loss: Loss | undefined, kind: ToolRunRequest['kind']): boolean =>
  loss === 'untaken' || (loss === 'unknown' && kind === 'read_only');

/** Tools that a line of the log names. */
const mostNamed = 16;

export class McpServer implements ToolRunner {
  readonly #definition: McpDefinition;
  readonly #options: McpOptions;
  #tools: readonly ToolDeclaration[] = [];
  #leftOut: readonly LeftOutTool[] = [];
  #missing: readonly string[] = [];
  #client: Client | undefined;
  #opening: Client | undefined;
  /** Of the newest connection, where the server is a program. */
  #program: StdioTransport | undefined;
  #upSince: Millis = 0;
  #failures = 0;
  #running = 0;
  #retry: Timer | undefined;
  #relist: Timer | undefined;
  #renewing: Promise<void> | undefined;
  #isClosed = false;
  /** Runs work outside of the call in which it became due: connections belong to no call. */
  readonly #outside = AsyncResource.bind((work: () => void): void => work());

  constructor(definition: McpDefinition, options: McpOptions) {
    this.#definition = definition;
    this.#options = options;
  }

  /** Those of the allow-list that the server listed last. */
  get tools(): readonly ToolDeclaration[] {
    return this.#tools;
  }

  /** What it listed last and cannot be offered. */
  get leftOut(): readonly LeftOutTool[] {
    return this.#leftOut;
  }

  /** Tools that the agent file names and that were not listed last. */
  get missing(): readonly string[] {
    return this.#missing;
  }

  get isConnected(): boolean {
    return this.#client !== undefined;
  }

  /** Done after the first attempt or its time, whatever came of it. */
  start(): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#options.clock.after(startMs, resolve);
      void this.#connect().then(() => {
        timer.cancel();
        resolve();
      });
    });
  }

  run(context: StageContext, request: ToolRunRequest, sink: (report: ToolReport) => void): ToolRun {
    const isThere = this.#client !== undefined || this.#renewing !== undefined;
    if (!isThere || this.#running >= mostRunning) return refuseRun(context, gone, sink);
    const controller = new AbortController();
    const deliver = context.bind(sink);
    let isOver = false;
    const end = (): boolean => {
      if (isOver) return false;
      isOver = true;
      this.#running -= 1;
      timer.cancel();
      return true;
    };
    const report = (found: ToolReport): void => {
      if (end()) deliver(found);
    };
    const waitMs = request.timeoutMs + backstopMs;
    const timer = context.clock.after(waitMs, () => {
      report({ kind: 'failed', message: 'no answer in time', transport: true });
      controller.abort();
    });
    this.#running += 1;
    const ask = (asked: Client): Promise<ToolReport> => this.#ask(asked, request, controller.signal);
    const fail = (asked: Client, error: unknown): void => {
      if (!isOver) report(this.#failure(asked, { error, kind: request.kind }));
    };
    const perform = async (): Promise<void> => {
      const client = this.#client ?? (await this.#renewed());
      if (client === undefined) {
        report(gone);
        return;
      }
      if (isOver) return;
      await ask(client).then(report, async (error: unknown) => {
        const loss = isOver ? undefined : lossOf(error, client);
        const next = loss === undefined ? undefined : this.#renew(client);
        const again = mayRepeat(loss, request.kind) ? await next : undefined;
        if (again === undefined) fail(client, error);
        else if (!isOver) await ask(again).then(report, (second: unknown) => fail(again, second));
      });
    };
    void perform();
    return {
      cancel: (reason) => {
        if (!end()) return;
        if (reason === 'timeout') this.#tell(tooSlow, request.name);
        if (!mayFinish(request.kind, reason)) controller.abort(reason);
      },
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#retry?.cancel();
    this.#relist?.cancel();
    const clients = [this.#client, this.#opening];
    this.#client = undefined;
    for (const client of clients) if (client !== undefined) await closeQuietly(client);
  }

  async #ask(client: Client, request: ToolRunRequest, signal: AbortSignal): Promise<ToolReport> {
    const { name, idempotencyKey, timeoutMs, traceparent } = request;
    const given = { ...request.arguments, ...this.#argumentsOf(name, request.metadata) };
    const params = {
      name,
      arguments: given,
      _meta: { idempotencyKey, ...(traceparent !== undefined && { traceparent }) },
    };
    // The request itself and not callTool, which would compile and obey schemas of the server.
    const answer = await client.request({ method: 'tools/call', params }, toolResult, {
      signal,
      timeout: timeoutMs + 2 * backstopMs,
    });
    return reportOf(answer, request.kind);
  }

  /** What the call gives to a tool: the arguments that it declares. */
  #argumentsOf(name: string, metadata: CallMetadata): Record<string, string> {
    const properties = this.#tools.find((tool) => tool.name === name)?.parameters['properties'];
    const given = Object.entries(this.#definition.arguments).filter(
      ([argument]) => isTable(properties) && Object.hasOwn(properties, argument),
    );
    return Object.fromEntries(given.map(([argument, text]) => [argument, fillVariables(text, metadata)]));
  }

  /** What a failed request means for the call, and whether the connection is any good. */
  #failure(client: Client, { error, kind }: Pick<ToolRunRequest, 'kind'> & { error: unknown }): ToolReport {
    const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
    const loss = lossOf(error, client);
    if (loss !== undefined && this.#client === client) this.#giveUp(client);
    const isRefusal = typeof code === 'number' && code < -1 && !ownCodes.includes(code);
    if (!isRefusal) this.#tellFailure(error);
    if (code === tooLarge) return unreadAnswer('the answer is larger than 256 KiB', kind);
    if (loss === 'untaken') return gone;
    if (code === connectionClosed || code === requestTimeout || loss === 'unknown')
      return { kind: 'failed', message: 'the tool server gave no answer', transport: true };
    if (typeof code === 'number' && code > 0) return failed(`the tool server answered with status ${code}`);
    if (typeof code === 'number' && error instanceof Error && code < -1)
      return failed(`the tool server refused the call: ${error.message.slice(0, longestRefusal)}`);
    return failed('the tool server gave no valid answer');
  }

  /** The connection that comes after one whose session is lost; not at once again where sessions are lost all the time. */
  async #renew(client: Client): Promise<Client | undefined> {
    if (this.#client === client) {
      this.#giveUp(client);
      if (this.#failures === 1) {
        this.#outside(() => {
          this.#renewing = this.#connect().finally(() => (this.#renewing = undefined));
        });
      }
    }
    return this.#renewed();
  }

  async #renewed(): Promise<Client | undefined> {
    await this.#renewing;
    return this.#client;
  }

  /** Calls that wait on it may still get their answers; new ones go to the next connection. */
  #giveUp(client: Client): void {
    this.#outside(() => {
      this.#options.clock.after(drainMs, () => void closeQuietly(client));
      this.#lost(client);
    });
  }

  async #connect(): Promise<void> {
    const { name } = this.#definition;
    this.#retry?.cancel();
    try {
      const client = await this.#open();
      if (this.#isClosed) {
        await closeQuietly(client);
        return;
      }
      this.#client = client;
      this.#upSince = this.#options.clock.now();
      this.#options.log.info({ server: name, tools: this.#tools.length }, 'tool server connected');
    } catch (error) {
      if (this.#isClosed) return;
      this.#tellFailure(error);
      this.#tryAgain();
    }
  }

  #tellFailure(error: unknown): void {
    const status = this.#program?.exitStatus;
    const found =
      status === undefined
        ? requestError(error)
        : explained({ kind: 'disconnected' }, { code: `exit:${status}` });
    this.#tell(found);
  }

  #tell(found: StageError, tool?: string): void {
    this.#options.failed(toolFailure(mcpSite(this.#definition), found, tool));
  }

  async #open(): Promise<Client> {
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const client = new Client({ name: 'voice-agent-service', version: '1' }, { capabilities: {} });
    client.onclose = () => this.#lost(client);
    client.fallbackNotificationHandler = ({ method }) => {
      if (method === 'notifications/tools/list_changed') this.#listLater(client);
      return Promise.resolve();
    };
    this.#opening = client;
    try {
      const transport = await this.#newTransport();
      // Closed while the code for it was loaded: nothing is started any more.
      if (this.#isClosed) throw new Error('closed');
      await client.connect(transport, { timeout: stepMs });
      await this.#list(client);
      return client;
    } catch (error) {
      await closeQuietly(client);
      throw error;
    } finally {
      this.#opening = undefined;
    }
  }

  async #list(client: Client): Promise<void> {
    const { tools } = this.#definition;
    const ask = (cursor: string | undefined): Promise<z.output<typeof listPage>> =>
      client.request({ method: 'tools/list', params: cursor === undefined ? {} : { cursor } }, listPage, {
        timeout: stepMs,
      });
    this.#keep(await readListing(ask, (name) => tools?.includes(name) ?? true));
  }

  /** Calls that have begun keep the tools that they were told of. */
  #listLater(client: Client): void {
    this.#outside(() => {
      this.#relist ??= this.#options.clock.after(relistMs, () => {
        this.#relist = undefined;
        if (this.#client !== client) return;
        this.#list(client).catch((error: unknown) => this.#tellFailure(error));
      });
    });
  }

  async #newTransport(): Promise<Transport> {
    const { from } = this.#definition;
    if ('command' in from) {
      const { StdioTransport } = await import('./stdio.ts');
      const wire = await import('@modelcontextprotocol/sdk/shared/stdio.js');
      this.#program = new StdioTransport({ ...from, wire, clock: this.#options.clock });
      return this.#program;
    }
    const { StreamableHTTPClientTransport } =
      await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
    const { newBoundedFetch } = await import('./bounded-fetch.ts');
    const headers = [...from.secretHeaders].map(([name, value]) => [name, value.reveal()] as const);
    const transport = new StreamableHTTPClientTransport(new URL(from.url), {
      fetch: newBoundedFetch(this.#options),
      requestInit: { headers: Object.fromEntries(headers) },
    });
    return sendExactly(transport);
  }

  #keep({ tools: listed, leftOut }: Listing): void {
    const { name: server, tools, sideEffects } = this.#definition;
    const { log } = this.#options;
    const missing = [...new Set([...(tools ?? []), ...sideEffects])].filter(
      (wanted) => !listed.some(({ name }) => name === wanted),
    );
    const isNews = (now: unknown, before: unknown): boolean => JSON.stringify(now) !== JSON.stringify(before);
    if (missing.length > 0 && isNews(missing, this.#missing))
      log.warn({ server, tools: missing }, 'a tool server lacks tools that are named');
    if (leftOut.length > 0 && isNews(leftOut, this.#leftOut)) {
      const named = leftOut.slice(0, mostNamed).map(({ name, rule }) => `${name} ${rule}`.trim());
      log.warn({ server, count: leftOut.length, tools: named }, 'tools of a server are left out');
    }
    [this.#leftOut, this.#missing] = [leftOut, missing];
    if (!isNews(listed, this.#tools)) return;
    this.#tools = listed;
    this.#options.changed();
  }

  #lost(client: Client): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    if (this.#isClosed) return;
    if (this.#options.clock.now() - this.#upSince >= goodMs) this.#failures = 0;
    this.#options.log.warn({ server: this.#definition.name }, 'tool server lost');
    this.#tryAgain();
  }

  #tryAgain(): void {
    if (this.#isClosed) return;
    const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** this.#failures);
    this.#failures += 1;
    this.#retry?.cancel();
    this.#outside(() => {
      this.#retry = this.#options.clock.after(pauseMs, () => void this.#connect());
    });
  }
}

/** What a failed request says of the session that it went to. */
/**
 * `untaken`: the server does not know the session any more, as after a restart, so that nothing of the request was done. `unknown`: it is
 * gone, and what became of the request is not known. `suspect`: the request failed, and a session that was there may be lost.
 */
type Loss = 'untaken' | 'unknown' | 'suspect';

/** Statuses of one who knows no such session, or not who asks in it. */
const unknownSession: readonly unknown[] = [400, 401, 404, 410];
/** Of a server that is away, or of what stands before it. */
const away: readonly unknown[] = [502, 503];

/** Of JSON-RPC and of the protocol, for requests that were not taken. */
const isRefusal = (code: unknown): boolean =>
  typeof code === 'number' && code <= -32_000 && code >= -32_700 && code !== cutOff;
const sessionWords = [
  /\bsession(?:[ _-]?id)?\b.{0,80}\b(?:not|no longer|unknown|invalid|expired|missing|required|lost|gone|terminated|closed)\b/i,
  /\b(?:no|unknown|invalid|expired|missing|lost|terminated|closed)(?: (?:such|valid|active|known|mcp))* session\b/i,
  /\b(?:not find|find no|not found|no (?:active )?transport\b.{0,40}?):? (?:an? |the |for )?session(?:[ _-]?id)?\b/i,
  /\b(?:not (?:yet |been )?|un)initiali[sz]ed\b/i,
];

function lossOf(error: unknown, { transport }: Pick<Client, 'transport'>): Loss | undefined {
  if (!(error instanceof Error)) return undefined;
  const code: unknown = Reflect.get(error, 'code');
  if (unknownSession.includes(code) || error.name === 'UnauthorizedError') return 'untaken';
  if (away.includes(code)) return transport?.sessionId === undefined ? 'suspect' : 'unknown';
  if (code === cutOff) return 'unknown';
  const isStatus = typeof code === 'number' && code >= 400 && code < 600;
  if (
    (isRefusal(code) || isStatus) &&
    sessionWords.some((words) => words.test(error.message.slice(0, longestMessage)))
  )
    return 'untaken';
  // The words of fetch for a connection that could not be had, or broke.
  if (error instanceof TypeError) return isUnsent(error) ? 'untaken' : 'unknown';
  return undefined;
}

const longestMessage = 500;
