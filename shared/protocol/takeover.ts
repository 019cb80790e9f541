/**
 * What a supervisor and the one that takes over from it say to each other (decision 0017), over the message channel that the
 * old one opens when it starts the new one. The two may be of different versions of the program, so every message is
 * read against its declaration, and a version is named first.
 */
import * as z from 'zod';
import { fail, ok, type Result } from '../base/result.ts';
import { agentsLeft, agentUse } from '../agents/takeover.ts';
import { outboundLeft } from '../telephony/takeover.ts';
import { sipRelayed, sipToSuccessor } from '../sip/takeover.ts';
import { webrtcAnswered, webrtcAsked } from '../webrtc/takeover.ts';

/** Set by a supervisor for the one that it starts: its own process id. Nobody else sets it. */
export const takeoverVariable = 'SVC_TAKES_OVER_FROM';

/** Rises with every change that the other side would misread. */
export const takeoverVersion = 2;

const ids = z.string().min(1).max(1024);
/** Session id, and the Unix second from which on its token cannot be verified any more. */
const usedToken = z.tuple([ids, z.number()]);
const call = z.object({
  id: z.number().int(),
  /** Address of the client as the limits see it. */
  address: z.string().max(256),
  /** Providers of which the call holds a session. */
  providers: z.array(ids).max(16),
  /** Whose connections it is counted among; a supervisor that knows one pool does not name it. */
  pool: ids.default('websocket'),
});

const toSuccessor = z.discriminatedUnion('type', [
  z.object({ type: z.literal('tokens'), used: z.array(usedToken).max(10_000) }),
  z.object({ type: z.literal('token.released'), sid: ids }),
  z.object({ type: z.literal('calls'), began: z.array(call).max(10_000) }),
  z.object({ type: z.literal('call.over'), id: z.number().int() }),
  /** Requests to a provider, by how many seconds ago they were made, oldest first. */
  z.object({
    type: z.literal('requests'),
    provider: ids,
    counts: z.array(z.tuple([z.number(), z.number()])).max(60),
  }),
  /** All that was there when the copy began has been sent. Later changes are still told. */
  z.object({ type: z.literal('copy.end') }),
  /** A listening socket travels beside it. */
  z.object({ type: z.literal('listener'), name: ids }),
  z.object({ type: z.literal('listeners.end') }),
  /** A request for an upgrade that reached the old supervisor; its socket travels beside it. */
  z.object({
    type: z.literal('arrival'),
    /** A supervisor that knows no other listener does not name it. */
    listener: ids.default('websocket'),
    method: z.string(),
    url: z.string(),
    headers: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
    /** Bytes that followed the request head, base64. */
    bytes: z.string(),
    peer: z.string().optional(),
  }),
  /** Sent to the supervisor that has taken over: one of an older version does not know it, and lets it be. */
  outboundLeft,
  /** Sent where the new supervisor has said that it takes it. */
  agentsLeft,
  /** The same; again while calls are left here. */
  agentUse,
  ...sipToSuccessor,
  ...webrtcAnswered,
]);

const toPredecessor = z.discriminatedUnion('type', [
  /** The children are ready: everything but the listeners is there. */
  z.object({
    type: z.literal('prepared'),
    version: z.number().int(),
    /** It can be told of agents. */
    takesAgents: z.boolean().default(false),
    /** And of how much of the service they use. */
    takesAgentUse: z.boolean().default(false),
  }),
  z.object({ type: z.literal('copied') }),
  /** The listeners are open here. */
  z.object({ type: z.literal('took') }),
  /** It ends without serving; sentences without values or secrets. */
  z.object({ type: z.literal('failed'), problems: z.array(z.string()) }),
  /** It was told to stop: what still drains may do so for no longer than after a stop of its own. */
  z.object({ type: z.literal('stops') }),
  /** It was told to stop more than once: what still drains should hurry. */
  z.object({ type: z.literal('hurry') }),
  ...sipRelayed,
  ...webrtcAsked,
]);

export type ToSuccessor = z.infer<typeof toSuccessor>;
export type ToPredecessor = z.infer<typeof toPredecessor>;
export type CarriedCall = z.infer<typeof call>;

/** The error names the rule, never what was received. */
export const readToSuccessor = (message: unknown): Result<ToSuccessor, string> => read(toSuccessor, message);
export const readToPredecessor = (message: unknown): Result<ToPredecessor, string> =>
  read(toPredecessor, message);

function read<T>(schema: z.ZodType<T>, message: unknown): Result<T, string> {
  const result = schema.safeParse(message);
  return result.success ? ok(result.data) : fail('a message of the hand-over has an unknown form');
}

/**
 * Whether this process was started to take over. The variable must name its parent, or one that has died since, and it must have been
 * started with a message channel: whatever else sets it is a mistake that would leave a service without listeners.
 */
export function readTakeover(
  value: string | undefined,
  facts: {
    readonly parentPid: number;
    readonly hasChannel: boolean;
    readonly isAlive: (pid: number) => boolean;
  },
): Result<boolean, string> {
  if (value === undefined) return ok(false);
  if (!/^[1-9]\d{0,9}$/.test(value)) return fail(`${takeoverVariable} must be a process id`);
  const isParent = Number(value) === facts.parentPid || !facts.isAlive(Number(value));
  if (!isParent || !facts.hasChannel)
    return fail(`${takeoverVariable} is set by the service for a restart alone; unset it`);
  return ok(true);
}
