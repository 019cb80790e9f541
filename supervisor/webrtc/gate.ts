/**
 * The limits of the signaling port (docs/webrtc.md, Limits): offers of an address in a minute, connections that are not established yet, and
 * calls of an address. Pure but for the clock that it is given.
 */
import type { WebrtcSettings } from '../../shared/webrtc/variables.ts';
import type { Millis } from '../../shared/base/units.ts';
import { AddressLedger } from '../admission/address-ledger.ts';
import { refusal, refusals, type Answer } from '../http/refusals.ts';
import type { IngressGate } from '../listeners/ingress.ts';

const tooManyOffers = (retryAfterS: number): Answer => refusal('too_many_offers', { retryAfterS });

/** Both ways of the signaling port share the calls of an address; offers and handshakes are those of WebRTC alone. */
export interface SignalingGates {
  readonly offers: IngressGate;
  readonly sockets: IngressGate;
}

export function newSignalingGates(
  { offersPerMinute, maxHandshaking, maxCallsPerAddress }: WebrtcSettings,
  now: () => Millis,
): SignalingGates {
  const addresses = new AddressLedger({ offersPerMinute, maxCalls: maxCallsPerAddress });
  const ofFleet = { kind: 'webrtc', most: maxCallsPerAddress };
  let handshaking = 0;
  const takePlace = (address: string): (() => void) | undefined => {
    const taken = addresses.place(address, now());
    return taken && (() => taken.release(now()));
  };
  return {
    offers: {
      ofFleet: {
        ...ofFleet,
        ...(offersPerMinute !== undefined && {
          offers: { perMinute: offersPerMinute, tooMany: tooManyOffers },
        }),
      },
      asked: (address) => {
        const outcome = addresses.offer(address, now());
        return outcome.kind === 'refused' ? tooManyOffers(outcome.retryAfterS) : undefined;
      },
      untracked: () => addresses.rateTableFull,
      crowded: () => (handshaking >= maxHandshaking ? refusals.handshakes_full : undefined),
      take: (address) => {
        const leave = takePlace(address);
        if (leave === undefined) return undefined;
        handshaking += 1;
        let shakes = true;
        const connected = (): void => {
          if (shakes) handshaking -= 1;
          shakes = false;
        };
        return {
          connected,
          release: () => {
            connected();
            leave();
          },
        };
      },
    },
    sockets: {
      ofFleet,
      asked: () => undefined,
      untracked: () => 0,
      crowded: () => undefined,
      take: (address) => {
        const leave = takePlace(address);
        return leave && { connected: () => undefined, release: leave };
      },
    },
  };
}
