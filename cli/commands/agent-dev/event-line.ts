/** A message of the agent link as one line for a developer. Pure. */
import { parseJson, writeJson } from '../../../shared/base/exact-json.ts';

export interface Seen {
  /** Number of the call since the start. */
  readonly call: number;
  readonly from: 'service' | 'agent';
  readonly text: string;
  /** Milliseconds since 1970. */
  readonly atMs: number;
}

const longest = 160;
/** What says little and comes often. */
const isChatter = ({ type, final }: Readonly<Record<string, unknown>>): boolean =>
  type === 'bot.text' || type === 'bot.tts_stopped' || (type === 'user.transcript' && final === false);

const isEnvelope: ReadonlySet<string> = new Set(['type', 'seq', 't_ms']);

const shown = (value: unknown): string => {
  const text = writeJson(value);
  return text.length > longest ? `${text.slice(0, longest)}...` : text;
};

function parse(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = parseJson(text);
    return typeof value === 'object' && value !== null
      ? (value as Readonly<Record<string, unknown>>)
      : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** `14:03:11.250  1 > turn.user_started  epoch=2`; undefined for chatter, unless everything is wanted. */
export function eventLine(
  { call, from, text, atMs }: Seen,
  { all }: { readonly all: boolean },
): string | undefined {
  const message = parse(text);
  if (message !== undefined && isChatter(message) && !all) return undefined;
  const time = new Date(atMs).toISOString().slice(11, 23);
  const arrow = from === 'service' ? '>' : '<';
  const details = Object.entries(message ?? {})
    .filter(([name]) => !isEnvelope.has(name))
    .map(([name, value]) => `${name}=${shown(value)}`);
  return [
    `${time}  ${call} ${arrow} ${typeof message?.['type'] === 'string' ? message['type'] : 'no message'}`,
    ...details,
  ].join('  ');
}
