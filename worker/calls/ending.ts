/** Why a call is over, in the words of its record. Pure. */
import { unreachable } from '../../shared/base/assert.ts';
import type { CallEndCode } from '../../shared/calls/ends.ts';
import type { CallOver } from '../call/account.ts';
import type { EndCause } from '../core/course.ts';

export interface Ending {
  readonly code: CallEndCode;
  readonly detail?: string;
}

/** `isOperator`: the command to end it came from an operator. */
export function endingOf(over: CallOver, { isOperator }: { readonly isOperator: boolean }): Ending {
  const { end, engine, cause, isMoved, refusal, isBroken } = over;
  if (isBroken) return { code: 'fault' };
  if (refusal !== undefined) return { code: 'refused', detail: refusal };
  if (isMoved) return { code: 'continued', detail: 'keys' };
  if (engine === 'transferred') return { code: 'transferred' };
  if (cause !== undefined) return causedBy(cause, isOperator);
  switch (end) {
    case 'engine':
      return engine === 'shutdown' ? { code: 'shutdown' } : { code: 'agent_ended' };
    case 'hangup':
    case 'closed':
      return { code: 'caller_hung_up' };
    case 'disconnected':
      return { code: 'connection_lost' };
    case 'fault':
      return { code: 'protocol_error' };
    default:
      return unreachable(end);
  }
}

function causedBy(cause: EndCause, isOperator: boolean): Ending {
  switch (cause) {
    case 'agent':
      return { code: 'agent_ended', detail: 'tool' };
    case 'flow':
      return { code: 'agent_ended', detail: 'flow' };
    case 'command':
      return isOperator ? { code: 'operator_ended' } : { code: 'agent_ended', detail: 'process' };
    case 'silence':
    case 'time_limit':
      return { code: cause };
    case 'providers':
      return { code: 'providers_failed' };
    case 'machine':
      return { code: 'voicemail' };
    default:
      return unreachable(cause);
  }
}
