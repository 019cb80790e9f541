/**
 * The media stream of Twilio (Twilio Media Streams): wire shapes of both directions. All numbers come as strings. Audio is mu-law
 * at 8 kHz, base64 in text frames.
 */

/** What the carrier sends; fields that nobody reads are left out. */
export interface TwilioMessage {
  readonly event?: unknown;
  readonly streamSid?: unknown;
  readonly start?: {
    readonly streamSid?: unknown;
    readonly callSid?: unknown;
    readonly mediaFormat?: { readonly encoding?: unknown; readonly sampleRate?: unknown };
    readonly customParameters?: unknown;
  };
  readonly media?: { readonly track?: unknown; readonly payload?: unknown };
  readonly dtmf?: { readonly digit?: unknown };
  readonly mark?: { readonly name?: unknown };
}

export const twilioSampleRate = 8_000;

/** Metadata that the server sets on a call of a carrier: its transport, and the carrier's own id of the call. */
export const carrierKeys = {
  transport: 'session.transport',
  callId: 'session.carrier_call_id',
  /** `shown` where numbers are passed on. */
  numbers: 'session.numbers',
  /** `no` where the peer of a SIP call hands calls on to nobody. */
  refer: 'session.refer',
} as const;
