/** The state of a call in one word, for the page that shows it. */
import type { CallPhase } from './call-machine.ts';
import type { Turn } from './turn-view.ts';

export type CallState = 'idle' | 'connecting' | Turn | 'ending' | 'ended';

export function callState(phase: CallPhase, turn: Turn): CallState {
  switch (phase.name) {
    case 'idle':
    case 'ending':
    case 'ended':
      return phase.name;
    case 'preparing':
    case 'connecting':
    case 'asking':
    case 'starting':
      return 'connecting';
    case 'open':
      return turn;
  }
}
