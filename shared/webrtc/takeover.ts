/**
 * What two supervisors say to each other about session URLs of WebRTC calls during a restart: requests reach the new one alone, and the
 * calls that began before it are the old one's.
 */
import * as z from 'zod';
import { sdpLimits } from './sdp.ts';

/** Of the request, among those of the process that passes it on. */
const ask = z.number().int().min(1);
const short = z.string().max(256);

export const webrtcAsked = [
  z.object({
    type: z.literal('webrtc.asked'),
    ask,
    session: short,
    method: short,
    /** Names in lower case; no credentials, which are judged already. */
    headers: z.record(short, z.union([z.string(), z.array(z.string())])),
    body: z.string().max(sdpLimits.bytes).optional(),
    peer: short.optional(),
  }),
  /** The client that asked waits no longer. */
  z.object({ type: z.literal('webrtc.left'), ask }),
] as const;

export const webrtcAnswered = [
  /** The old one answers for its calls. */
  z.object({ type: z.literal('webrtc.begin') }),
  z.object({
    type: z.literal('webrtc.answered'),
    ask,
    status: z.number().int().min(200).max(599),
    headers: z.record(short, z.string()),
    body: z.object({ type: short, text: z.string() }).optional(),
  }),
] as const;

export type WebrtcAsked = z.infer<(typeof webrtcAsked)[number]>;
export type WebrtcAnswered = z.infer<(typeof webrtcAnswered)[number]>;
