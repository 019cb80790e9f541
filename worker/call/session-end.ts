/** Why a call is over, as its agent process is told (docs/reference/agent-link.md, `session.end`). */
import type { Millis } from '../../shared/base/units.ts';
import { unreachable } from '../../shared/base/assert.ts';
import type { SessionEndReason } from '../../shared/agent-link/events.ts';
import type { TransportEnd } from '../transports/transport.ts';

/** How long a call may last beside what its agent says. */
export interface CallTerm {
  /** The call is hung up then, whatever is being said (docs/tokens.md, What is enforced where). */
  readonly endsAt?: Millis;
}

/** `engine` is why the engine ended it, where it did. A call that somebody else took ends as such, whichever side closed its stream. */
export function sessionEndOf(
  end: TransportEnd,
  engine: 'ended' | 'shutdown' | 'transferred',
): SessionEndReason {
  if (engine === 'transferred') return 'transferred';
  switch (end) {
    case 'engine':
      return engine === 'shutdown' ? 'shutdown' : 'call_ended';
    case 'hangup':
    case 'closed':
      return 'hangup';
    case 'disconnected':
    case 'fault':
      return end;
    default:
      return unreachable(end);
  }
}
