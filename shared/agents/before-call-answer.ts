/**
 * What the server of `[before_call]` is told of a call, and how its answer is read (docs/before-call.md). Each part of an answer is read by
 * itself: a wrong one is told by its key and its rule, never by its value, and the others hold.
 */
import { isExactNumber, plainNumbers } from '../base/exact-json.ts';
import { withoutNulls } from '../base/present.ts';
import { ownCallVariables } from '../config/agent/call-variables.ts';
import type { SignedSession } from '../agent-link/service-messages.ts';

/** Of an answer, in bytes. */
export const mostAnswerBytes = 65_536;
const mostVariables = 64;
/** As long as a value is that is filled in. */
const longestValue = 256;
const variableName = /^[\w.-]{1,64}$/;
const agentName = /^[A-Za-z0-9_-]{1,64}$/;

/** `data` of the request. */
export interface BeforeCallFacts {
  readonly call_id: string;
  readonly session_id: string;
  readonly transport: string;
  readonly agent: string;
  /** Absent: the agent belongs to the operator. */
  readonly tenant?: string;
  readonly direction: 'inbound' | 'outbound';
  /** The numbers, where they are not redacted. */
  readonly from?: string;
  readonly to?: string;
  /** What was signed. */
  readonly session?: SignedSession;
  /** What the client says. */
  readonly metadata?: Readonly<Record<string, string>>;
}

export interface BeforeCallAnswer {
  readonly variables: Readonly<Record<string, string>>;
  /** As they were sent; nothing of them is believed yet. */
  readonly overrides?: Readonly<Record<string, unknown>>;
  readonly agent?: string;
  /** What is wrong with the answer: key and rule. */
  readonly problems: readonly string[];
}

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isExactNumber(value);

/** Undefined for what is no answer at all. Fields that nobody knows are left alone. */
export function readBeforeCallAnswer(value: unknown): BeforeCallAnswer | undefined {
  if (!isFields(value)) return undefined;
  const problems: string[] = [];
  const { variables, overrides, agent } = withoutNulls(value);
  const isAgent = typeof agent === 'string' && agentName.test(agent);
  if (agent !== undefined && !isAgent) problems.push('agent must be 1 to 64 letters, digits, _ or -');
  if (overrides !== undefined && !isFields(overrides)) problems.push('overrides must be an object');
  return {
    variables: readVariables(variables, problems),
    ...(isFields(overrides) && { overrides: plainNumbers(overrides) as Fields }),
    ...(isAgent && { agent }),
    problems,
  };
}

function readVariables(value: unknown, problems: string[]): Readonly<Record<string, string>> {
  if (value === undefined) return {};
  if (!isFields(value)) {
    problems.push('variables must be an object');
    return {};
  }
  const entries = Object.entries(withoutNulls(value));
  if (entries.length > mostVariables)
    problems.push(`variables must have at most ${mostVariables} entries; the rest was left out`);
  const read = entries.slice(0, mostVariables).flatMap(([name, given]): [string, string][] => {
    const rule = ruleBrokenBy(name, given);
    if (rule === undefined) return [[name, String(given)]];
    problems.push(variableName.test(name) ? `variables.${name} ${rule}` : `a name in variables ${rule}`);
    return [];
  });
  return Object.fromEntries(read);
}

function ruleBrokenBy(name: string, value: unknown): string | undefined {
  if (!variableName.test(name)) return 'must be 1 to 64 letters, digits, _, . or -';
  if (ownCallVariables.includes(name)) return "is the service's own";
  const isScalar = typeof value === 'number' || typeof value === 'boolean' || isExactNumber(value);
  if (typeof value !== 'string' && !isScalar) return 'must be a text, a number, true or false';
  return String(value).length > longestValue ? `must have at most ${longestValue} characters` : undefined;
}
