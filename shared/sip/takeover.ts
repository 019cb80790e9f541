/**
 * What two supervisors say to each other about SIP during a restart (decision 0069): first what the old one knows of peers, then, for as
 * long as both are there, messages of peers that reached the one and belong to the other. Either may say all but the first two.
 */
import * as z from 'zod';

const words = z.string().min(1).max(20_000);
const port = z.number().int().min(0).max(65_535);
const place = z.object({ address: z.string().max(64), port });
/** Of the process that says it. */
const connection = z.number().int().min(0);
/** Base64 of one message, which is 48 kB at most. */
const bytes = z.string().max(80_000);

const message = z.object({
  type: z.literal('sip.message'),
  /** 0 for UDP. */
  connection,
  protocol: z.enum(['UDP', 'TCP', 'TLS']),
  source: place,
  local: place,
  bytes,
  /** Bytes that the peer has sent for it. */
  size: z.number().int().min(0),
});
/** To the peer of a connection that the other side has. */
const send = z.object({ type: z.literal('sip.send'), connection: z.number().int().min(1), bytes });
/** A connection of this side is gone. */
const gone = z.object({ type: z.literal('sip.gone'), connection: z.number().int().min(1) });

/** What both sides may say. */
export const sipRelayed = [message, send, gone] as const;

export const sipToSuccessor = [
  ...sipRelayed,
  z.object({
    type: z.literal('sip.begin'),
    /** Nonces that peers were given, and how often each was used; by how long ago, for clocks differ between processes. */
    nonces: z
      .object({
        secret: z.string().max(100),
        nowMs: z.number(),
        uses: z.array(z.tuple([z.string().max(200), z.number()])).max(5_000),
      })
      .optional(),
    /** Where to go on with the ports for audio, so that a port rests before it is used again. */
    nextPorts: z.number().int().min(0),
  }),
  /** Transactions that the old one has begun. */
  z.object({ type: z.literal('sip.known'), keys: z.array(words).max(2_000) }),
  /** The socket for UDP travels beside it. */
  z.object({ type: z.literal('sip.socket') }),
] as const;

export type SipRelayed = z.infer<(typeof sipRelayed)[number]>;
export type SipToSuccessor = z.infer<(typeof sipToSuccessor)[number]>;
export type SipPassed = z.infer<typeof message>;
