/** Limits of the agent link (docs/reference/agent-link.md, Limits). Lengths count bytes of UTF-8. */
import type { Millis } from '../base/units.ts';

export const AGENT_LINK_PROTOCOL = 'svc.agent';
/** What this service speaks. */
export const agentLinkVersions: readonly number[] = [1];

/** Sizes and counts of single messages and fields. */
export const agentLinkLimits = {
  /** Each way; a larger message closes the link. */
  messageBytes: 65_536,
  tools: 64,
  toolNameChars: 64,
  /** A longer description is cut to this. */
  toolDescriptionBytes: 4_096,
  systemPromptBytes: 65_536,
  /** At `session.accept`, and at each `context.update`. */
  contextMessages: 32,
  /** Of `say`, of the farewell of `end`, and of the greeting. */
  sayBytes: 4_096,
  commandIdBytes: 64,
  /** Of `summary` and `reason`, each. */
  reasonBytes: 512,
  waitingLines: 8,
  eventTypes: 64,
  /** Names in one `tools.set`. */
  enabledTools: 128,
  /** Ids of commands whose outcome is remembered, the newest. */
  rememberedCommands: 64,
  /** Problems of one handshake that are reported each by itself; the rest in one event. */
  handshakeProblems: 16,
  /** Levels of objects and arrays in a message. */
  nestedLevels: 64,
  /** Of the name and the id of a client's message, each. */
  clientNameBytes: 256,
} as const;

/** Times of the link in milliseconds. */
export const agentLinkTimes = {
  connectMs: 2_000,
  /** From the connection to the answer to `session.start`. */
  handshakeMs: 2_000,
  pingIntervalMs: 10_000,
  /** No message and no pong for this long: the agent process is down. */
  downAfterMs: 30_000,
  /** From `end` to the end of the call, whatever the agent still says. */
  endGraceMs: 30_000,
  toolTimeoutDefaultMs: 5_000,
  toolTimeoutMaxMs: 30_000,
  fillerAfterDefaultMs: 700,
  /** A resumed link is tried again with pauses that double between these two. */
  resumeFirstPauseMs: 250,
  resumeLongestPauseMs: 4_000,
  /** After this long without the link the call goes on alone for good. */
  resumeLimitMs: 60_000,
  /** A link that is closed gets this long for the answer to its close frame. */
  closeGraceMs: 2_000,
} as const satisfies Readonly<Record<string, Millis>>;

/**
 * What waits for an agent that reads slowly, in bytes that the kernel has not taken. Above the first bound interim transcripts
 * and deltas are dropped, above the second every event that may be lost; above the third the link is closed.
 */
export const agentLinkBacklog = {
  dropDeltasBytes: 65_536,
  dropEventsBytes: 262_144,
  closeBytes: 1_048_576,
  /** Messages that are kept for an agent that takes its call up again, the newest. */
  replayMessages: 64,
  replayBytes: 131_072,
} as const;

/** What a close frame has room for beside its code (RFC 6455, 5.5); a longer reason is an error of the WebSocket library. */
export const closeReasonBytes = 123;
