/** What the machine of one call's agent link is told, what it answers and what it keeps. Pure. */
import type { Millis } from '../../shared/base/units.ts';
import type { ReadAccept } from '../../shared/agent-link/handshake.ts';
import type { SessionEndReason, ConversationEventType } from '../../shared/agent-link/events.ts';
import { agentLinkTimes } from '../../shared/agent-link/limits.ts';
import type {
  CallerIdentity,
  ServiceMessageOf,
  SignedSession,
} from '../../shared/agent-link/service-messages.ts';
import type { CallCommand } from '../core/commands.ts';
import type { ConversationEvent } from '../core/told.ts';
import type { AbandonReason, ToolOutcome } from '../core/tools/tools-state.ts';
import {
  loadCommandIds,
  newCommandIds,
  saveCommandIds,
  type CommandIds,
  type SavedCommandIds,
} from './command-ids.ts';
import type { MessageToAgent, MessageToClient } from '../../shared/protocol/beside-the-call.ts';
import { newIntake, type Intake } from './intake.ts';
import { newOutbox, type Outbox } from './outbox.ts';

export interface LinkSettings {
  readonly sessionId: string;
  readonly agent: string;
  readonly capabilities: { readonly transfer: boolean; readonly tools: boolean };
  /** The route of the agent file that led here. */
  readonly route?: string;
  /** What was signed of the call, and what its client says. */
  readonly session?: SignedSession;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly caller?: CallerIdentity;
  /** Spoken by `end` where it brings no words. */
  readonly farewell: string;
  /** The caller's program takes messages. */
  readonly takesMessages?: boolean;
}

/** What was agreed on in the handshake; part of what the call is made with. */
export interface LinkTerms {
  readonly resume: boolean;
  /** Absent: all. */
  readonly events?: readonly ConversationEventType[];
}

/** A remote tool is to run. */
export type RemoteCall = Omit<ServiceMessageOf<'tool.call'>, 'type' | 'id'>;

export type LinkInput =
  /** The call begins: the agent is asked what it is to be. */
  | { readonly type: 'call.began' }
  | { readonly type: 'socket.opened' }
  /** `why` is for the log. Also where it never opened. */
  | { readonly type: 'socket.closed'; readonly why: string }
  | { readonly type: 'text.received'; readonly text: string }
  | { readonly type: 'binary.received' }
  | { readonly type: 'ping.received'; readonly data: Uint8Array }
  | { readonly type: 'pong.received' }
  | { readonly type: 'told'; readonly event: ConversationEvent }
  | { readonly type: 'client.said'; readonly message: MessageToAgent }
  /** The tools of the call are there. `refused`: those of the handshake that it did not get, and why. */
  | {
      readonly type: 'tools.known';
      readonly refused: readonly string[];
      readonly isTool: (name: string) => boolean;
    }
  /** The call does without something of the answer. */
  | { readonly type: 'parts.refused'; readonly rules: readonly string[] }
  | { readonly type: 'tool.run'; readonly call: RemoteCall }
  | { readonly type: 'tool.abandoned'; readonly id: number; readonly reason: AbandonReason }
  | { readonly type: 'call.ended'; readonly reason: SessionEndReason }
  | { readonly type: 'time.passed' };

/** Something that a log and a metric tell. */
export type LinkNews = 'active' | 'fallback' | 'broken' | 'resumed' | 'gone' | 'slowed';

export type LinkAction =
  | { readonly type: 'connect' }
  | { readonly type: 'send'; readonly text: string }
  | { readonly type: 'ping' }
  | { readonly type: 'pong'; readonly data: Uint8Array }
  /** Whether more of what the agent sends is to be read. */
  | { readonly type: 'read'; readonly isOn: boolean }
  /** Close the connection in good order; nothing of it is told any more. */
  | { readonly type: 'close'; readonly code: number; readonly reason: string }
  /** The call may start: with what the agent said, or without an agent. */
  | { readonly type: 'call.prepared'; readonly accept: ReadAccept | undefined }
  | { readonly type: 'command'; readonly id: string; readonly command: CallCommand }
  /** The agent gets what the caller's program said. */
  | { readonly type: 'client.heard' }
  | { readonly type: 'client.send'; readonly message: MessageToClient }
  | { readonly type: 'tool.settled'; readonly id: number; readonly outcome: ToolOutcome }
  /** The agent reacted to an event that was written so long ago. */
  | { readonly type: 'hop'; readonly ms: Millis }
  /** Why the agent ends or transfers the call, in its own words: for a log. */
  | { readonly type: 'reason'; readonly command: 'end' | 'transfer'; readonly reason: string }
  | { readonly type: 'news'; readonly news: LinkNews; readonly why: string };

export type LinkPhase =
  | { readonly type: 'idle' }
  | { readonly type: 'connecting'; readonly by: Millis }
  | { readonly type: 'handshaking'; readonly by: Millis }
  | { readonly type: 'active'; heardAt: Millis; pingAt: Millis }
  /** The link broke and is tried again. */
  | { readonly type: 'away'; readonly retryAt: Millis }
  /** The call goes on without its agent. */
  | { readonly type: 'gone' }
  | { readonly type: 'over' };

export interface PendingCall {
  readonly call: RemoteCall;
  /** It stands in a message that was written. */
  isWritten: boolean;
}

export interface LinkState {
  readonly settings: LinkSettings;
  phase: LinkPhase;
  /** Undefined until the agent has accepted the call. */
  terms: LinkTerms | undefined;
  readonly outbox: Outbox;
  readonly intake: Intake;
  readonly ids: CommandIds;
  nextCall: number;
  readonly calls: Map<number, PendingCall>;
  /** Whether the call has a tool of this name, offered now or not. Anything goes until its tools are there. */
  isTool: (name: string) => boolean;
  /** Commands `end` of the agent that were not refused: above 0 one is being done, and what comes behind it is refused. */
  ends: number;
  /** Since when there is no link, how often a new one was tried, the next pause, and the newest message of the broken one. */
  broken: { readonly since: Millis; attempts: number; pauseMs: Millis; readonly upTo: number } | undefined;
}

/** A link that broke at that time behind its message `upTo`. */
export const brokenLink = (since: Millis, upTo: number): NonNullable<LinkState['broken']> => ({
  since,
  upTo,
  attempts: 0,
  pauseMs: agentLinkTimes.resumeFirstPauseMs,
});

export const newLink = (settings: LinkSettings, now: Millis): LinkState => ({
  settings,
  phase: { type: 'idle' },
  terms: undefined,
  outbox: newOutbox(now),
  intake: newIntake(now),
  ids: newCommandIds(),
  nextCall: 1,
  calls: new Map(),
  isTool: () => true,
  ends: 0,
  broken: undefined,
});

// ---- another worker ------------------------------------------------------------------------------------------------

/** What another worker needs to go on with the link of a call. Plain JSON. */
export interface SavedLink {
  readonly seq: number;
  readonly nextCall: number;
  readonly ids: SavedCommandIds;
  readonly isEndedByAgent: boolean;
}

export const saveLink = (state: LinkState): SavedLink => ({
  seq: state.broken?.upTo ?? state.outbox.seq,
  nextCall: state.nextCall,
  ids: saveCommandIds(state.ids),
  isEndedByAgent: state.ends > 0,
});

/** Calls of tools that may have been asked for after the last save: their numbers are never used twice. */
const unsavedCalls = 256;

/** The link of a call that another worker had: it is tried again where that was agreed on. Calls of tools are asked for anew. */
export function resumedLink(
  settings: LinkSettings,
  terms: LinkTerms | undefined,
  { saved, downMs, now }: { saved: SavedLink | undefined; downMs: Millis; now: Millis },
): LinkState {
  const outbox = newOutbox(now);
  const mayResume = terms?.resume === true && saved !== undefined;
  outbox.keeps = mayResume;
  return {
    settings,
    phase: mayResume ? { type: 'away', retryAt: now } : { type: 'gone' },
    terms,
    outbox,
    intake: newIntake(now),
    ids: loadCommandIds(saved?.ids ?? []),
    nextCall: (saved?.nextCall ?? 1) + unsavedCalls,
    calls: new Map(),
    isTool: () => true,
    ends: saved?.isEndedByAgent === true ? 1 : 0,
    broken: mayResume ? brokenLink(now - downMs, saved.seq) : undefined,
  };
}
