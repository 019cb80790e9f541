/** What a call sees of its agent process, and what that process's link gets of the call. */
import type { AdmittedStart } from '../call/admission.ts';
import type { Millis } from '../../shared/base/units.ts';
import type { SessionEndReason } from '../../shared/agent-link/events.ts';
import type { CallSetup } from '../call/opening.ts';
import type { CallCommand } from '../core/commands.ts';
import type { ConversationEvent } from '../core/told.ts';
import type { ToolRunner } from '../tools/tool.ts';
import type { MessageToAgent } from '../../shared/protocol/beside-the-call.ts';
import type { CallTransport } from '../transports/transport.ts';
import type { LinkTerms, SavedLink } from './link-state.ts';

/** The link of one call. It runs the tools that the agent brought along. No method throws or waits. */
export interface CallLink extends ToolRunner {
  /** Asks the agent what the call is to be. Answers in any case, within the limits of the handshake. */
  prepare(): CallSetup | Promise<CallSetup>;
  /** What the core tells, as it tells it. */
  follow(event: ConversationEvent): void;
  /** The caller's program has a message for the agent. False: the agent does not get it. */
  clientSaid(message: MessageToAgent): boolean;
  /** The tools of the call are there. `refused`: those of the agent that it did not get, and why. */
  equipped(tools: { readonly refused: readonly string[]; readonly isTool: (name: string) => boolean }): void;
  /** The call does without something of its answer: key and rule of each. */
  refused(rules: readonly string[]): void;
  /** About every 20 ms. */
  tick(): void;
  /** The call is over; nothing of the link is left. */
  ended(reason: SessionEndReason): void;
  /** What another worker needs to go on with it. */
  save(): SavedLink;
}

/** What a link gets of its call. */
export interface CallLinkSite {
  /** Wraps a callback into the scope of the call. */
  readonly bind: <A extends readonly unknown[]>(callback: (...args: A) => void) => (...args: A) => void;
  /** Gives the core a command; it is answered by `command.answered` of the same id. */
  readonly command: (id: string, command: CallCommand) => void;
  /** Spoken where the agent ends the call without words. */
  readonly farewell: string;
  /** What the caller's program is told by, where its transport has such messages. */
  readonly client?: Pick<CallTransport, 'sendMessage'> | undefined;
}

/** How a worker that is gone left the link. */
export interface LeftLink {
  readonly terms: LinkTerms | undefined;
  readonly saved: SavedLink | undefined;
  /** For how long nobody had the call. */
  readonly downMs: Millis;
}

/** Opens the link of a call; none where the call has no agent process. */
export type OpenCallLink = (
  start: AdmittedStart,
  site: CallLinkSite,
  left?: LeftLink,
) => CallLink | undefined;
