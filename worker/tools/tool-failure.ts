/** From an error of a tool or of a tool server to what people are told of it: who, where, why, and what to change. */
import type { McpDefinition } from '../../shared/config/agent/mcp.ts';
import { tooLarge } from './mcp/message-bounds.ts';
import { adviceOn, type AdviceSite } from '../stages/advice.ts';
import { causeInText, causeOf, explained, reasonOf } from '../stages/failure.ts';
import type { Failure } from '../stages/failure-log.ts';
import type { StageError } from '../stages/stage.ts';

export interface ToolSite {
  readonly stage: 'mcp' | 'tool' | 'before_call';
  /** The name that the file gives it, or that of the agent whose server it is. */
  readonly name: string;
  /** Absent for a program. */
  readonly url?: URL | undefined;
  /** Path of the key of the address, or of the program. */
  readonly addressAt: string;
  readonly keyAt?: string | undefined;
  readonly hasKey: boolean;
  readonly secrets: readonly string[];
}

/** Where a server of the Model Context Protocol is. */
export function mcpSite({ name, from }: McpDefinition): ToolSite {
  const secrets = [...('command' in from ? from.env : from.secretHeaders).values()];
  return {
    stage: 'mcp',
    name,
    ...('url' in from && { url: new URL(from.url), keyAt: `headers_env of [[mcp]] ${name}` }),
    addressAt: `${'url' in from ? 'url' : 'command'} of [[mcp]] ${name}`,
    hasKey: secrets.length > 0,
    secrets: secrets.map((secret) => secret.reveal()),
  };
}

/** A tool that works and takes longer than the agent file lets it. */
export const tooSlow: StageError = { kind: 'timeout', what: 'answer' };

/** `tool`: the one of a server that has failed, where it is one. */
export function toolFailure(site: ToolSite, error: StageError, tool?: string): Failure {
  const { stage, name, url, addressAt, keyAt, hasKey, secrets } = site;
  const cause = causeOf(error, secrets);
  const host = url?.host;
  const advised: AdviceSite = {
    keyAt,
    hasKey,
    chosenAt: [],
    addressAt,
    host: host ?? name,
    isEncrypted: url?.protocol === 'https:',
  };
  const onSite = url === undefined ? programAdvice(cause.code, addressAt) : adviceOn(error, cause, advised);
  const advice = slowAdvice(error, tool ?? name) ?? onSite;
  return {
    stage,
    provider: name,
    ...(host !== undefined && { host }),
    reason: reasonOf(error),
    ...(error.kind === 'rejected' && { status: error.status }),
    ...(error.kind === 'protocol' && { rule: error.rule }),
    ...cause,
    ...(advice !== undefined && { advice }),
  };
}

/** What has been reached and does not answer in time is slow; nothing says that it has failed. */
function slowAdvice(error: StageError, name: string): string | undefined {
  if (error === tooSlow)
    return `${name} is slow, and nothing says that it has failed: make it faster, or raise its timeout_ms`;
  if (error.kind !== 'timeout' || error.what === 'connect' || error.what === 'name lookup') return undefined;
  return `${name} is reached and answers too slowly: look at what it does when a connection begins`;
}

/** What a shell makes of a program that it cannot start. */
function programAdvice(code: string | undefined, addressAt: string): string {
  if (code === 'exit:127' || code === 'ENOENT')
    return `the program is not there: check ${addressAt} and PATH`;
  if (code === 'exit:126' || code === 'EACCES') return `the program may not be run: check ${addressAt}`;
  return `the program ended or does not speak the protocol: run what ${addressAt} names by hand, with the variables of env alone`;
}

const longestChain = 4;

/** What an error below a request is, by the codes that fetch, undici and the protocol's SDK give it. */
export function requestError(error: unknown): StageError {
  let found: unknown = error;
  for (let depth = 0; depth < longestChain && found instanceof Error; depth += 1) {
    const read = readError(found);
    if (read !== undefined) return read;
    found = found instanceof AggregateError ? found.errors[0] : found.cause;
  }
  const name = error instanceof Error ? error.name : typeof error;
  return explained({ kind: 'protocol', rule: 'a valid answer' }, { code: name });
}

/** Of the protocol's SDK, which makes them on this side. */
export const connectionClosed = -32_000;
export const requestTimeout = -32_001;

function readError(error: Error): StageError | undefined {
  const code: unknown = Reflect.get(error, 'code');
  if (error.name === 'UnauthorizedError') return { kind: 'rejected', status: 401 };
  if (code === requestTimeout) return { kind: 'timeout', what: 'protocol' };
  if (code === 'UND_ERR_HEADERS_TIMEOUT') return tooSlow;
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return { kind: 'timeout', what: 'connect' };
  if (code === connectionClosed) return { kind: 'disconnected' };
  if (code === tooLarge) return { kind: 'protocol', rule: 'an answer has at most 256 KiB' };
  if (typeof code === 'number' && code >= 300 && code <= 599)
    return explained({ kind: 'rejected', status: code }, causeInText(bodyIn(error.message)));
  if (typeof code === 'string') return explained({ kind: 'disconnected' }, { code }, { beforeCall: true });
  return undefined;
}

/** The SDK puts the body of an answer behind words of its own. */
const bodyIn = (message: string): string => /[[{][^]*$/.exec(message)?.[0] ?? '';
