/** Who may call (spec 01, Other listeners): networks first, then the password. Probes of known peers are answered without it. */
import type { Millis } from '../../../shared/base/units.ts';
import type { SipSettings } from '../../../shared/config/server/sip-variables.ts';
import { isInRange, parseIp } from '../../../shared/net/cidr.ts';
import type { SipRequest } from '../message/message.ts';
import type { Flow, Gate } from '../agent/state.ts';
import { Digest } from './digest.ts';

export function newGate(settings: SipSettings, refused: (why: 'address' | 'unproved') => void): Gate {
  const { allow, digest: account } = settings;
  const digest = account && new Digest({ ...account, password: account.password.reveal() });
  return {
    judge: (request: SipRequest, flow: Flow, now: Millis) => {
      const ip = parseIp(flow.source.address);
      if (allow.length > 0 && (ip === undefined || !allow.some((range) => isInRange(ip, range)))) {
        refused('address');
        return { status: 403, reason: 'Forbidden' };
      }
      if (digest === undefined || (request.method === 'OPTIONS' && allow.length > 0)) return undefined;
      const verdict = digest.judge(request, now);
      if (verdict === 'proved') return undefined;
      refused('unproved');
      const headers = digest.challenge(now, { stale: verdict === 'stale' });
      return { status: 401, reason: 'Unauthorized', headers };
    },
  };
}
