/**
 * What is written to an agent, in order: numbers messages, leaves out what an agent that reads slowly can do without, and keeps
 * what one that takes its call up again must be told (docs/reference/agent-link.md, Resume). Pure: text comes out, a socket takes it.
 *
 * Three classes of messages. Interim transcripts and deltas are the first to go; other events of the conversation go when the backlog
 * is large; `session.*`, `tool.*`, `command.result`, `error` and `events.lost` never go. Messages that are left out are counted, and
 * the next message that is written follows an `events.lost` with the count.
 */
import { writeJson } from '../../shared/base/exact-json.ts';
import type { Millis } from '../../shared/base/units.ts';
import { utf8Bytes } from '../../shared/protocol/call.ts';
import { isConversationEventType } from '../../shared/agent-link/events.ts';
import { agentLinkBacklog as backlog, agentLinkLimits } from '../../shared/agent-link/limits.ts';
import type { ServiceMessage } from '../../shared/agent-link/service-messages.ts';

type Weight = 'delta' | 'event' | 'control';

/** How much a message matters. */
export function weightOf(message: ServiceMessage): Weight {
  if (message.type === 'bot.text' || message.type === 'bot.tts_text') return 'delta';
  if (message.type === 'user.transcript') return message.final ? 'event' : 'delta';
  return isConversationEventType(message.type) ? 'event' : 'control';
}

interface Kept {
  readonly seq: number;
  readonly message: ServiceMessage;
  readonly bytes: number;
}

export interface Outbox {
  /** Number of the newest message of this link. */
  seq: number;
  /** Since when `t_ms` counts. */
  openedAt: Millis;
  /** Left out and not yet told. */
  lost: number;
  /** Messages of the time without a link, which get their numbers when there is one again. */
  waiting: ServiceMessage[];
  /** The newest of the newest link that was accepted, for an agent that may have missed them; empty unless it can take up its call. */
  kept: Kept[];
  keptBytes: number;
  keeps: boolean;
  /** When the newest messages were written, by `seq` modulo the length. */
  readonly writtenAt: Float64Array;
}

/** Messages whose time of writing is known, for the latency of commands that react to them. */
const timesKept = 256;

export const newOutbox = (openedAt: Millis): Outbox => ({
  seq: 0,
  openedAt,
  lost: 0,
  waiting: [],
  kept: [],
  keptBytes: 0,
  keeps: false,
  writtenAt: new Float64Array(timesKept).fill(Number.NaN),
});

/** Another link begins, with numbers and times of its own. */
export function reopen(outbox: Outbox, now: Millis): void {
  outbox.seq = 0;
  outbox.openedAt = now;
  outbox.writtenAt.fill(Number.NaN);
}

/** How long ago message `seq` was written; undefined when that is not known. */
export function ageOf(outbox: Outbox, seq: number, now: Millis): Millis | undefined {
  if (seq < 1 || seq > outbox.seq || seq <= outbox.seq - timesKept) return undefined;
  const at = outbox.writtenAt[seq % timesKept] ?? Number.NaN;
  return Number.isNaN(at) ? undefined : now - at;
}

/** What becomes of a message that is given to a link. */
export type Outcome = 'written' | 'left_out' | 'too_large';

export interface WriteSite {
  readonly now: Millis;
  /** Bytes that the kernel has not taken yet. */
  readonly bufferedBytes: number;
  readonly send: (text: string) => void;
}

/** Writes a message, or leaves it out where the agent does not keep up. */
export function write(outbox: Outbox, message: ServiceMessage, site: WriteSite): Outcome {
  const weight = weightOf(message);
  const { bufferedBytes } = site;
  const isTooMuch =
    (weight === 'delta' && bufferedBytes > backlog.dropDeltasBytes) ||
    (weight === 'event' && bufferedBytes > backlog.dropEventsBytes);
  if (isTooMuch) {
    outbox.lost += 1;
    return 'left_out';
  }
  const lost = outbox.lost;
  if (lost > 0) {
    outbox.lost = 0;
    put(outbox, { type: 'events.lost', count: lost }, site);
  }
  if (put(outbox, message, site)) return 'written';
  if (weight !== 'control') outbox.lost += 1;
  return 'too_large';
}

/** False when the message is over the limit of the wire. */
function put(outbox: Outbox, message: ServiceMessage, { now, send }: WriteSite): boolean {
  const seq = outbox.seq + 1;
  const { type, ...fields } = message;
  const text = writeJson({ seq, t_ms: Math.max(0, Math.round(now - outbox.openedAt)), type, ...fields });
  // A character takes at most three bytes for each unit of a string.
  const isLong = text.length * 3 > agentLinkLimits.messageBytes;
  if (isLong && utf8Bytes(text) > agentLinkLimits.messageBytes) return false;
  outbox.seq = seq;
  outbox.writtenAt[seq % timesKept] = now;
  if (outbox.keeps && isReplayed(message)) keep(outbox, { seq, message, bytes: text.length });
  send(text);
  return true;
}

/** The handshake is never repeated, and deltas are soon worth nothing. */
const isReplayed = (message: ServiceMessage): boolean =>
  weightOf(message) !== 'delta' && !message.type.startsWith('session.');

function keep(outbox: Outbox, message: Kept): void {
  outbox.kept.push(message);
  outbox.keptBytes += message.bytes;
  while (outbox.kept.length > backlog.replayMessages || outbox.keptBytes > backlog.replayBytes)
    outbox.keptBytes -= outbox.kept.shift()?.bytes ?? 0;
}

/** Keeps a message for the time when there is a link again: the newest events within bounds, and every control message. */
export function wait(outbox: Outbox, message: ServiceMessage): void {
  const weight = weightOf(message);
  if (weight === 'delta') {
    outbox.lost += 1;
    return;
  }
  outbox.waiting.push(message);
  if (outbox.waiting.length <= backlog.replayMessages) return;
  const oldest = outbox.waiting.findIndex((one) => weightOf(one) === 'event');
  if (oldest === -1) return;
  outbox.waiting.splice(oldest, 1);
  outbox.lost += 1;
}

/** Number of the oldest message that can be sent again; the next one's behind `upTo` when there is none. */
export const oldestKept = (outbox: Outbox, upTo: number): number => outbox.kept[0]?.seq ?? upTo + 1;

/**
 * The link is there again: what the agent has not seen is written again, and what happened meanwhile behind it. `seen` is the
 * newest message of the broken link that the agent knows; undefined when it does not say. `upTo` is the newest there was.
 */
export function replay(
  outbox: Outbox,
  { seen, upTo }: { readonly seen: number | undefined; readonly upTo: number },
  site: WriteSite,
): void {
  const kept = outbox.kept.splice(0);
  outbox.keptBytes = 0;
  if (seen !== undefined && seen < upTo) {
    const lostMeanwhile = outbox.lost;
    const again = kept.filter(({ seq }) => seq > seen);
    outbox.lost = upTo - seen - again.length;
    for (const { message } of again) write(outbox, message, site);
    outbox.lost += lostMeanwhile;
  }
  for (const message of outbox.waiting.splice(0)) write(outbox, message, site);
}
