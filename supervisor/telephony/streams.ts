/** Streams that carriers bring, and whose calls they are. */
import { carrierNames } from '../../shared/protocol/call-control.ts';
import { carrierKeys } from '../../shared/protocol/carrier-a.ts';
import type { CallOffer } from '../../shared/protocol/ipc.ts';

export type StreamRequest = Omit<CallOffer, 'type' | 'offer'>;

/** The carrier's id of the call whose stream this is. */
export function callOf({ transport, signedMetadata }: StreamRequest): string | undefined {
  return carrierNames.some((name) => name === transport) ? signedMetadata[carrierKeys.callId] : undefined;
}
