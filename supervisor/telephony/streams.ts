/** Streams that carriers bring, whose calls they are, and those that a carrier was asked for and does not bring. */
import type { Millis } from '../../shared/base/units.ts';
import { carrierNames } from '../../shared/telephony/call-control.ts';
import { carrierKeys } from '../../shared/telephony/twilio/protocol.ts';
import type { CallOffer } from '../../shared/protocol/ipc.ts';

import type { Clock, Timer } from '../../shared/runtime/clock.ts';

/** A carrier opens a stream within a second. A caller who hears nothing for longer than this hangs up. */
const longestOpeningMs: Millis = 15_000;

export type StreamRequest = Omit<CallOffer, 'type' | 'offer'>;

/** The carrier's id of the call whose stream this is. */
export function callOf({ transport, signedMetadata }: StreamRequest): string | undefined {
  return carrierNames.some((name) => name === transport) ? signedMetadata[carrierKeys.callId] : undefined;
}

export class CallStreams {
  readonly #clock: Clock;
  readonly #missing: (callId: string) => void;
  /** How many streams of a call are open: one that comes back may be here before the end of the former is known. */
  readonly #open = new Map<string, number>();
  readonly #awaited = new Map<string, Timer>();

  /** `missing`: a carrier has not opened the stream of a call, and says nothing of it. */
  constructor(clock: Clock, missing: (callId: string) => void) {
    this.#clock = clock;
    this.#missing = missing;
  }

  has(callId: string): boolean {
    return this.#open.has(callId);
  }

  /** A carrier is asked to open one. The function returned takes that back. */
  asked(callId: string): () => void {
    this.forget(callId);
    const missing = (): void => {
      this.#awaited.delete(callId);
      this.#missing(callId);
    };
    this.#awaited.set(callId, this.#clock.after(longestOpeningMs, missing));
    return () => this.forget(callId);
  }

  begins(callId: string): void {
    this.forget(callId);
    this.#open.set(callId, (this.#open.get(callId) ?? 0) + 1);
  }

  /** A stream of the call is over. True when the caller talks with the agent on a newer one. */
  over(callId: string): boolean {
    const left = (this.#open.get(callId) ?? 1) - 1;
    if (left > 0) this.#open.set(callId, left);
    else this.#open.delete(callId);
    return left > 0;
  }

  /** No stream of the call is awaited here any more. */
  forget(callId: string): void {
    this.#awaited.get(callId)?.cancel();
    this.#awaited.delete(callId);
  }

  /** Streams come to another process from now on. */
  leave(): void {
    for (const callId of [...this.#awaited.keys()]) this.forget(callId);
  }
}
