/**
 * Tools of the agent file that are run over HTTP. One request a run: no redirect is followed, no answer over 64 KiB is
 * read, and private addresses are refused at the connection itself unless the tool allows them. Failures carry neither
 * addresses nor headers.
 */
import type { Agent as HttpAgent, Dispatcher } from 'undici';
import { isExactNumber, parseJson, writeJson } from '../../shared/base/exact-json.ts';
import { fillVariables, type CallMetadata } from '../../shared/config/agent/call-variables.ts';
import { placeholderPattern, type HttpToolDefinition } from '../../shared/config/agent/tools.ts';
import { Agent } from '../../shared/runtime/undici.ts';
import type { Failure } from '../stages/failure-log.ts';
import type { StageContext, StageError } from '../stages/stage.ts';
import { publicLookup, refuseLiteral, RefusedAddressError } from '../../shared/runtime/address-guard.ts';
import { backstopMs, mayFinish, mostResultBytes } from './tool.ts';
import type { ToolReport, ToolRun, ToolRunner, ToolRunRequest } from './tool.ts';
import { requestError, tooSlow, toolFailure, type ToolSite } from './tool-failure.ts';
import { isUnsent } from './unsent.ts';

const connectTimeoutMs = 3_000;

type FailedReport = Extract<ToolReport, { kind: 'failed' }>;

const failed = (message: string, transport = false): FailedReport => ({ kind: 'failed', message, transport });

export interface HttpToolOptions {
  readonly name: string;
  /** Takes each failure of the server, for the people who run the service. */
  readonly failed: (failure: Failure) => void;
}

/** Host and key of a tool, for those who look for what is wrong with it. */
export function httpToolSite(
  name: string,
  { url, secretHeaders }: HttpToolDefinition,
): ToolSite & { readonly url: URL } {
  return {
    stage: 'tool',
    name,
    url: new URL(url.replace(/\{[^{}]*\}/g, 'x')),
    addressAt: `http.url of tool ${name}`,
    keyAt: `http.headers_env of tool ${name}`,
    hasKey: secretHeaders.size > 0,
    secrets: [...secretHeaders.values()].map((secret) => secret.reveal()),
  };
}

export class HttpTool implements ToolRunner {
  readonly #definition: HttpToolDefinition;
  readonly #options: HttpToolOptions;
  readonly #agent: HttpAgent;

  constructor(definition: HttpToolDefinition, options: HttpToolOptions) {
    this.#definition = definition;
    this.#options = options;
    const lookup = definition.allowPrivate ? {} : { lookup: publicLookup };
    this.#agent = new Agent({ connect: { timeout: connectTimeoutMs, ...lookup } });
  }

  run(context: StageContext, request: ToolRunRequest, sink: (report: ToolReport) => void): ToolRun {
    const controller = new AbortController();
    let isOver = false;
    const deliver = context.bind(sink);
    const report = (found: ToolReport): void => {
      timer.cancel();
      if (isOver) return;
      isOver = true;
      deliver(found);
      controller.abort();
    };
    const tellLate = (): void => {
      if (!isOver) this.#tellFailure(tooSlow);
    };
    const timer = context.clock.after(request.timeoutMs + backstopMs, () => {
      tellLate();
      report(failed('no answer in time', true));
      controller.abort();
    });
    void this.#ask(request, controller.signal).then(report, (error: unknown) => {
      if (!controller.signal.aborted) this.#tellFailure(requestError(error));
      report(reportOf(error));
    });
    return {
      cancel: (reason) => {
        if (reason === 'timeout') tellLate();
        isOver = true;
        if (mayFinish(request.kind, reason)) return;
        timer.cancel();
        controller.abort();
      },
    };
  }

  /** Releases the connections that runs share. */
  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  #tellFailure(error: StageError): void {
    const { name, failed: tell } = this.#options;
    tell(toolFailure(httpToolSite(name, this.#definition), error));
  }

  async #ask(request: ToolRunRequest, signal: AbortSignal): Promise<ToolReport> {
    const { method, body } = this.#definition;
    const { metadata } = request;
    const filled = fillUrl(this.#definition.url, request.arguments, metadata);
    if (filled === undefined) return failed('an argument is missing in the address, or does not fit there');
    if (!this.#definition.allowPrivate) refuseLiteral(filled.url);
    const hasBody = method !== 'GET' && method !== 'DELETE';
    const response = await this.#agent.request({
      origin: filled.url.origin,
      path: filled.url.pathname + filled.url.search,
      method,
      signal,
      headers: {
        accept: 'application/json',
        ...(hasBody && { 'content-type': 'application/json' }),
        ...filledHeaders(this.#definition.headers, metadata),
        ...revealed(this.#definition.secretHeaders),
        'accept-encoding': 'identity',
        'idempotency-key': request.idempotencyKey,
        ...(request.traceparent !== undefined && { traceparent: request.traceparent }),
      },
      ...(hasBody && {
        body: writeJson(body === undefined ? filled.rest : fillBody(body, request.arguments, metadata)),
      }),
    });
    const { statusCode: status } = response;
    if (status < 200 || status > 299) this.#tellFailure({ kind: 'rejected', status });
    const report = await readAnswer(response, this.#definition.result);
    if (report.kind === 'failed' && status < 300)
      this.#tellFailure({ kind: 'protocol', rule: report.message });
    return report.kind === 'failed' && method !== 'GET' ? afterEffect(report, status) : report;
  }
}

/** What the failure to read an answer leaves of a call with effects: the server had done its work before, or sends to the page that tells of it. */
function afterEffect(report: FailedReport, status: number): ToolReport {
  if (status < 300) return { ...report, transport: true, known: `it has happened, but ${report.message}` };
  const mayTell = status === 302 || status === 303;
  return mayTell ? { ...report, transport: true, known: `it may have happened: ${report.message}` } : report;
}

type Arguments = ToolRunRequest['arguments'];

const valueOf = (values: Arguments, name: string): unknown =>
  Object.hasOwn(values, name) ? values[name] : undefined;

const revealed = (headers: HttpToolDefinition['secretHeaders']): Record<string, string> =>
  Object.fromEntries([...headers].map(([name, value]) => [name, value.reveal()]));

/** A header for which the call has no value is left out. Values may be any text, and headers are ASCII. */
const filledHeaders = (
  headers: HttpToolDefinition['headers'],
  metadata: CallMetadata,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, text]) => {
      const value = fillVariables(text, metadata, encodeURI);
      return value === '' && text !== '' ? [] : [[name, value]];
    }),
  );

/**
 * The address with its parameters, and the arguments that it does not hold. A parameter that is absent is empty in the query; a step of
 * the path that is empty would name all that is there (`DELETE /orders/`).
 */
export function fillUrl(
  template: string,
  values: Arguments,
  metadata: CallMetadata = {},
): { url: URL; rest: Record<string, unknown> } | undefined {
  const used = new Set<string>();
  let fits = true;
  // In one go: a value that looks like a parameter is not read as one.
  const text = template.replace(placeholderPattern, (placeholder, name: string | undefined) => {
    if (name !== undefined) used.add(name);
    const value = name === undefined ? fillVariables(placeholder, metadata) : valueOf(values, name);
    if (value === undefined || value === null) return '';
    const isScalar = typeof value === 'number' || typeof value === 'boolean' || isExactNumber(value);
    const plain = isScalar ? String(value) : value;
    // A lone surrogate has no encoding, and a segment of dots would climb in the path.
    if (typeof plain !== 'string' || /\p{Surrogate}/u.test(plain) || /^\.+$/.test(plain)) {
      fits = false;
      return '';
    }
    return encodeURIComponent(plain);
  });
  if (!fits || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  const stepsOf = ({ pathname }: URL): string[] => pathname.split('/');
  const steps = stepsOf(url);
  const wanted = stepsOf(new URL(template.replace(placeholderPattern, 'x')));
  const isSamePath =
    steps.length === wanted.length && wanted.every((step, at) => step === '' || steps[at] !== '');
  const rest = Object.fromEntries(Object.entries(values).filter(([name]) => !used.has(name)));
  return isSamePath ? { url, rest } : undefined;
}

/** The body with its parameters: a text that is nothing but one parameter becomes its value, whatever type it has. */
export function fillBody(template: unknown, values: Arguments, metadata: CallMetadata = {}): unknown {
  if (typeof template === 'string') {
    const alone = /^\{([^{}]*)\}$/.exec(template)?.[1];
    if (alone !== undefined) return valueOf(values, alone);
    return template.replace(placeholderPattern, (placeholder, name: string | undefined) => {
      if (name === undefined) return fillVariables(placeholder, metadata);
      const value = valueOf(values, name) ?? '';
      return typeof value === 'string' ? value : writeJson(value);
    });
  }
  if (Array.isArray(template)) return template.map((inner: unknown) => fillBody(inner, values, metadata));
  if (typeof template !== 'object' || template === null || isExactNumber(template)) return template;
  return Object.fromEntries(
    Object.entries(template).map(([key, inner]) => [key, fillBody(inner, values, metadata)]),
  );
}

async function readAnswer(response: Dispatcher.ResponseData, pointer: string): Promise<ToolReport> {
  const { statusCode: status, headers, body } = response;
  const drop = (report: ToolReport): ToolReport => {
    body.on('error', () => undefined).destroy();
    return report;
  };
  if (status >= 300 && status < 400) return drop(failed('the server redirects, which is not followed'));
  // A server that says that there were too many calls has not taken this one.
  if (status === 429) return drop({ ...failed('the server takes no more calls now', true), unsent: true });
  if (status < 200 || status > 299)
    return drop(failed(`the server answered with status ${status}`, status >= 502));
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') return drop(failed('the answer has an encoding that was not asked for'));
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    // A body without an encoding consists of buffers; undici's type does not say so.
    const part = chunk as Buffer;
    bytes += part.length;
    if (bytes > mostResultBytes) return drop(failed('the answer is larger than 64 KiB'));
    chunks.push(part);
  }
  const type = String(headers['content-type'] ?? '');
  const text = decoded(Buffer.concat(chunks), type);
  if (/^(image|audio|video)\//i.test(type) || text.includes('\0')) return failed('the answer is not text');
  return takeResult(text, pointer, type);
}

/** In the character set that the server names; a mark of the order of bytes is no part of a text. */
function decoded(bytes: Buffer, contentType: string): string {
  const named = /;\s*charset="?([\w:.-]+)/i.exec(contentType)?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(named).decode(bytes);
  } catch {
    // A name that nobody knows.
    return new TextDecoder().decode(bytes);
  }
}

function takeResult(text: string, pointer: string, contentType: string): ToolReport {
  // Servers that have nothing to say of a success name a type all the same.
  if (pointer === '' && text.trim() === '') return { kind: 'result', text: '{"ok":true}' };
  if (pointer === '' && !/\bjson\b/i.test(contentType)) return { kind: 'result', text };
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    return failed(
      error instanceof RangeError ? 'the answer is nested too deeply' : 'the answer is not valid JSON',
    );
  }
  for (const step of pointer.split('/').slice(1)) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || isExactNumber(value) || !Object.hasOwn(value, key))
      return failed('the answer lacks the part that the tool reads');
    value = Reflect.get(value, key);
  }
  if (typeof value === 'string') return { kind: 'result', text: value };
  try {
    return { kind: 'result', text: writeJson(value) };
  } catch {
    return failed('the answer is nested too deeply');
  }
}

function reportOf(error: unknown): ToolReport {
  if (error instanceof RefusedAddressError) return failed('the address of this tool is refused');
  return { ...failed('the server could not be reached', true), ...(isUnsent(error) && { unsent: true }) };
}
