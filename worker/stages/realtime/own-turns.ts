/** Models that end turns by themselves, which calls cannot be held with: what they say of it is told as a refusal. Pure. */
import { explained } from '../failure.ts';
import type { StageError } from '../stage.ts';
import type { RealtimeEvent } from './contract.ts';

const code = 'turns_are_not_ours';

const refused = (): StageError => explained({ kind: 'rejected', status: 501, retryable: false }, { code });

/** The event; or that the session is of no use, where its model leaves no turns to this service. */
export const withOwnTurns = (event: RealtimeEvent): RealtimeEvent =>
  event.type === 'ready' && (event.caps.turns ?? 'ours') !== 'ours'
    ? { type: 'error', error: refused() }
    : event;
