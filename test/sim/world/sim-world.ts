/** What the simulated providers see of their world. */
import type { CallEvent, PlayoutPosition } from '../../../worker/core/events.ts';
import type { Plan } from '../plan.ts';
import type { Timeline } from './timeline.ts';

/** What the judge is told about a fact beside the fact itself. */
export interface Note {
  /** The result belongs to something that is over. */
  readonly stale?: boolean;
}

export interface SimWorld {
  readonly plan: Plan;
  readonly time: Timeline;
  readonly position: PlayoutPosition;
  tell(event: CallEvent, note?: Note): void;
  /** A line of the agent definition that was made before the call. */
  knows(text: string): boolean;
}
