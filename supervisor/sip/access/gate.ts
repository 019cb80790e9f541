/**
 * Who may call (docs/sip.md): the registrar of this side's account, else networks first, then the password. Probes of known
 * peers are answered without it.
 */
import type { Millis } from '../../../shared/base/units.ts';
import type { SipSettings } from '../../../shared/sip/variables.ts';
import { isInRange, parseIp } from '../../../shared/net/cidr.ts';
import type { SipRequest } from '../../../shared/sip/message/message.ts';
import type { Flow, Gate } from '../../../shared/sip/agent/state.ts';
import { Digest, type SavedNonces } from '../../../shared/sip/access/digest.ts';

/** Who was refused. `why` is for the operator; undefined for a peer that has only to be asked for its password. */
export interface GateRefusal {
  readonly reason: 'address' | 'unproved';
  readonly address: string;
  readonly why: string | undefined;
}

const stranger = 'its address is not in SVC_SIP_ALLOW';
const wrongProof = 'it signs in with another name or password than SVC_SIP_USER and SVC_SIP_PASSWORD';

/** A gate, and what of it outlives its process. */
export interface KeptGate extends Gate {
  readonly save: (now: Millis) => SavedNonces | undefined;
  readonly restore: (saved: SavedNonces, now: Millis) => void;
}

/** Addresses that names of the settings lead to. */
export interface KnownPeers {
  /** The registrar that has an account of this side: its calls come unasked for. */
  readonly isRegistrar: (address: string) => boolean;
  readonly isTrunk: (address: string) => boolean;
}

export function newGate(
  settings: SipSettings,
  refused: (refusal: GateRefusal) => void,
  { isRegistrar, isTrunk }: KnownPeers,
): KeptGate {
  const { allow, digest: account, register } = settings;
  const isOpenToAll = account === undefined && allow.length === 0 && register === undefined;
  const digest = account && new Digest({ ...account, password: account.password.reveal() });
  const isListed = (address: string): boolean => {
    const ip = parseIp(address);
    return ip !== undefined && allow.some((range) => isInRange(ip, range));
  };
  return {
    knows: (address) => isOpenToAll || isRegistrar(address) || isTrunk(address) || isListed(address),
    save: (now) => digest?.save(now),
    restore: (saved, now) => digest?.restore(saved, now),
    judge: (request: SipRequest, { source: { address } }: Flow, now: Millis) => {
      if (isOpenToAll || isRegistrar(address)) return undefined;
      // Without an account to sign in with only those are let in who are known.
      if (!isListed(address) && (allow.length > 0 || digest === undefined)) {
        refused({ reason: 'address', address, why: stranger });
        return { status: 403, reason: 'Forbidden' };
      }
      if (digest === undefined || (request.method === 'OPTIONS' && allow.length > 0)) return undefined;
      const verdict = digest.judge(request, now);
      if (verdict === 'proved') return undefined;
      const why = verdict === 'wrong' ? wrongProof : undefined;
      refused({ reason: 'unproved', address, why });
      const headers = digest.challenge(now, { stale: verdict === 'stale' });
      return { status: 401, reason: 'Unauthorized', headers };
    },
  };
}
