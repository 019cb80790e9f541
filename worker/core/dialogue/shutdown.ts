/**
 * The service stops: leave is taken of the caller as far as there is time. A response that runs goes on, and so does a caller who
 * speaks, until the farewell would be too late; lines that wait come before it.
 */
import type { Millis } from '../../../shared/base/units.ts';
import { endSoon, isOpen, type Course } from '../course.ts';
import type { Step, Slices } from '../state.ts';
import { nextEpoch } from '../epoch.ts';
import type { Response } from '../answer/response.ts';
import { cutResponse, endCall, startLine } from '../answer/speaking.ts';
import { dropSpeculation } from './speculation.ts';

/** From the order to the first sound of a line that is ready, and from its last frame to the caller's ear. */
const aroundMs = 600;
/** A voice may be slower than it was. */
const slower = 1.25;

export function onShutdown(step: Step, withinMs: Millis = 0): void {
  const { state, now } = step;
  const {
    course,
    delivery: { response },
  } = state;
  const isLeaving = response !== undefined && takesLeave(response);
  const longMs = isLeaving ? 0 : farewellMs(state);
  if (!isOpen(course) || longMs === undefined || withinMs <= longMs) {
    endCall(step, 'shutdown');
    return;
  }
  const endsAt = now + withinMs;
  course.shutdown = { saysAt: isLeaving ? undefined : endsAt - longMs, endsAt };
  endSoon(course);
}

/** A farewell runs already. */
const takesLeave = ({ hangUpAfter, source }: Response): boolean => hangUpAfter || source === 'closing';

/** How long the farewell takes; undefined where it cannot be heard, or is none. */
function farewellMs({
  setup,
  delivery,
  faults,
  silence,
  commands,
}: Slices<'setup' | 'delivery' | 'faults' | 'silence' | 'commands'>): Millis | undefined {
  const { farewell, limits } = setup.settings;
  const text = commands.end?.farewell ?? farewell;
  if (faults.lastWords || text.trim() === '') return undefined;
  const startMs = silence.readyLines.farewell ? 0 : limits.ttsLeastMs;
  return aroundMs + startMs + text.length * delivery.msPerChar * slower;
}

export const shutdownDeadline = ({ shutdown }: Course): Millis | undefined =>
  shutdown?.saysAt ?? shutdown?.endsAt;

/** It is time for the farewell, whoever speaks; and later for the end. */
export function onShutdownDue(step: Step): void {
  const { state, now } = step;
  const { shutdown } = state.course;
  if (shutdown === undefined) return;
  if (now >= shutdown.endsAt) {
    endCall(step, 'shutdown');
    return;
  }
  shutdown.saysAt = undefined;
  const { response } = state.delivery;
  if (response !== undefined && takesLeave(response)) return;
  state.caller.turn = { phase: 'idle' };
  dropSpeculation(step);
  if (response === undefined) nextEpoch(step);
  else cutResponse(step, step.position);
  startLine(step, 'farewell');
}
