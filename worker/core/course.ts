/** How far a call has come: it opens, is open, is on its way to its end, and is over. It never goes back. */
import { maybe, record, text, time } from '../../shared/base/codec.ts';
import type { Millis } from '../../shared/base/units.ts';

/** Why the service ends a call. */
export type EndCause =
  /** The LLM has called `end_call`. */
  | 'agent'
  /** A node of the flow ends it. */
  | 'flow'
  /** The caller has said nothing for too long. */
  | 'silence'
  | 'time_limit'
  /** A stage has failed too often, and for too long. */
  | 'providers'
  /** Somebody outside wants it. */
  | 'command'
  /** An answering machine took the call. */
  | 'machine';

export interface Course {
  /** `ending`: its time is over, a stage has failed too often, or somebody wants it; the farewell follows what runs. */
  phase: 'opening' | 'open' | 'ending' | 'ended';
  /** When its time is over; known once it is open. */
  endsAt: Millis | undefined;
  /** The newest cause there was to end it; means nothing while the call goes on. */
  cause: EndCause | undefined;
  /**
   * The fate of a farewell that the caller may answer with more: `cut`, or `heard` to its end while the caller was speaking. The
   * caller's words decide. `refused`: the talk went on; a farewell that follows at once is the LLM's last word, and spoken to its end. `said`: it is
   * over, and only lines that wait stand between it and the end.
   */
  parting: 'none' | 'cut' | 'heard' | 'refused' | 'said';
  /** The service stops: the farewell begins at `saysAt` whatever runs, and the call is over at `endsAt`. */
  shutdown: { saysAt: Millis | undefined; readonly endsAt: Millis } | undefined;
}

/** After its time limit a call may finish what it is doing for this long before it is ended outright. */
const overtimeMs = 30_000;

export const newCourse = (): Course => ({
  phase: 'opening',
  endsAt: undefined,
  cause: undefined,
  parting: 'none',
  shutdown: undefined,
});

/** The call is accepted. False when it was before. */
export function openCourse(course: Course, endsAt: Millis): boolean {
  if (course.phase !== 'opening') return false;
  course.phase = 'open';
  course.endsAt = endsAt;
  return true;
}

/** Nothing new begins; the farewell follows what runs. */
export function endSoon(course: Course, cause: EndCause = 'providers'): void {
  if (course.phase !== 'open') return;
  course.phase = 'ending';
  course.cause = cause;
}

/** False when it was over before. */
export function endCourse(course: Course): boolean {
  const wasOn = course.phase !== 'ended';
  course.phase = 'ended';
  return wasOn;
}

/** Something is said and heard. */
export const isOpen = ({ phase }: Course): boolean => phase === 'open' || phase === 'ending';

export const isEnding = ({ phase }: Course): boolean => phase === 'ending';

/** When the time of the call is over, and then when it is ended outright. */
export const courseDeadline = ({ phase, endsAt }: Course): Millis | undefined =>
  phase === 'ending' && endsAt !== undefined ? endsAt + overtimeMs : endsAt;

/** At that time. True when the call must end outright. */
export function courseIsDue(course: Course, now: Millis): boolean {
  if (course.endsAt === undefined || now < course.endsAt) return false;
  if (now >= course.endsAt + overtimeMs) return true;
  endSoon(course, 'time_limit');
  return false;
}

export const courseCodec = record<Course>({
  phase: text(),
  endsAt: maybe(time),
  cause: maybe(text()),
  parting: text(),
  shutdown: maybe(record<NonNullable<Course['shutdown']>>({ saysAt: maybe(time), endsAt: time })),
});
