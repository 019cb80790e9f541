/**
 * What an operator's page and the service tell one another of a running call, as JSON text; sound travels as binary messages beside it
 * (docs/monitoring-calls.md, Wire protocol). From the service: PCM16 in stereo at the rate of the call, caller left and what the caller hears
 * right. To the service: PCM16 in mono at {@link operatorRate}.
 */
import * as z from 'zod';
import { fail, ok, type Result } from '../base/result.ts';
import type { ConversationMessage } from '../protocol/conversation.ts';

/** What an operator may do; each includes those before it. */
export const monitorRoles = ['listen', 'whisper', 'take_over'] as const;
export type MonitorRole = (typeof monitorRoles)[number];

export const mayDo = (role: MonitorRole, what: MonitorRole): boolean =>
  monitorRoles.indexOf(role) >= monitorRoles.indexOf(what);

/** The subprotocol of the WebSocket; a token stands beside it as {@link tokenProtocol} and its base64url. */
export const monitorProtocol = 'svc-monitor';
export const tokenProtocol = 'svc-monitor-token.';

/** Of the operator's voice, in Hz: what STT takes. */
export const operatorRate = 16_000;
/** Sound is sent in pieces of so many milliseconds. */
export const monitorFrameMs = 20;
/** Longest message that the service takes; a second of the operator's voice fits. */
export const longestOperatorMessage = 32_768;
/** Longest note, whisper or line. */
const longestNote = 2_000;
/** Operators of one call at a time. */
export const mostMonitors = 4;

/** Codes with which the service closes the connection. */
export const monitorClose = {
  /** The call is over, or is not here. */
  over: 4404,
  /** As many operators listen as may. */
  full: 4429,
  /** A message that cannot be read. */
  unreadable: 4400,
} as const;

const id = z.string().max(64).exactOptional();
const note = z.string().max(longestNote);

const fromOperator = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('whisper'), id, text: note.min(1) }),
  z.strictObject({ type: z.literal('take_over'), id, at: z.enum(['sentence', 'once']).default('sentence') }),
  z.strictObject({ type: z.literal('hand_back'), id, note: note.default(''), say: note.default('') }),
]);

export type FromOperator = z.output<typeof fromOperator>;

/** Why something that an operator wanted was not done. */
export type MonitorRefusal = 'forbidden' | 'taken' | 'not_yours' | 'queue_full' | 'call_ending';

/** Who speaks for the agent's side: `coming` waits for the end of the agent's sentence; `away` has lost the connection. */
export type TakeoverState = 'agent' | 'coming' | 'operator' | 'away';

export type ToOperator =
  | {
      readonly type: 'ready';
      readonly call: string;
      readonly role: MonitorRole;
      /** Of the sound, in Hz. */
      readonly rate: number;
      readonly frame_ms: number;
      readonly operator_rate: number;
    }
  /** `at`: milliseconds since the call began. */
  | { readonly type: 'event'; readonly at: number; readonly event: ConversationMessage | OperatorText }
  | {
      readonly type: 'takeover';
      readonly state: TakeoverState;
      readonly yours: boolean;
      readonly by?: string;
    }
  /** What became of a message with an id, or of one that was refused. */
  | { readonly type: 'answer'; readonly id?: string; readonly refused?: MonitorRefusal }
  /** So much was left out since the message before, because this connection was too slow. */
  | { readonly type: 'lost'; readonly frames: number; readonly events: number }
  | { readonly type: 'ended' };

/** What an operator has done, for logs and records. `by`: the name that the operator gave. */
export interface MonitorUse {
  readonly what: 'listens' | 'leaves' | 'whispers' | 'asks for the call' | 'takes over' | 'hands back';
  readonly role: MonitorRole;
  readonly by: string;
  /** Tells the operator's connection from all others, in every worker. */
  readonly connection: string;
}

export interface OperatorText {
  readonly type: 'operator.text';
  readonly text: string;
}

/** Reads a text message of an operator; a fault names the field and the rule. */
export function readOperator(text: string): Result<FromOperator, string> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return fail('the message is no JSON');
  }
  const parsed = fromOperator.safeParse(json);
  if (parsed.success) return ok(parsed.data);
  const [issue] = parsed.error.issues;
  return fail(`${issue?.path.join('.') || 'type'}: is not as the protocol has it`);
}

/** The name that operators give themselves, for the audit log: letters, digits and some marks. */
export const operatorName = (value: string | null | undefined): string =>
  /^[\p{L}\p{N} ._@-]{1,64}$/u.test(value ?? '') ? (value ?? '') : '';
