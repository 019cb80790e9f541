/** How far a call has come: it opens, is open, is on its way to its end, and is over. It never goes back. */
import { maybe, record, text, time } from '../../shared/base/codec.ts';
import type { Millis } from '../../shared/base/units.ts';

export interface Course {
  /** `ending`: its time is over, a stage has failed too often, or somebody wants it; the farewell follows what runs. */
  phase: 'opening' | 'open' | 'ending' | 'ended';
  /** When its time is over; known once it is open. */
  endsAt: Millis | undefined;
  /**
   * What became of a farewell that the caller may answer with more: `cut`, or `heard` to its end while the caller was speaking. What was
   * said decides. `refused`: the talk went on; a farewell that follows at once is the LLM's last word, and spoken to its end.
   */
  parting: 'none' | 'cut' | 'heard' | 'refused';
}

/** After its time limit a call may finish what it is doing for this long before it is ended outright. */
const overtimeMs = 30_000;

export const newCourse = (): Course => ({ phase: 'opening', endsAt: undefined, parting: 'none' });

/** The call is accepted. False when it was before. */
export function openCourse(course: Course, endsAt: Millis): boolean {
  if (course.phase !== 'opening') return false;
  course.phase = 'open';
  course.endsAt = endsAt;
  return true;
}

/** Nothing new begins; the farewell follows what runs. */
export function endSoon(course: Course): void {
  if (course.phase === 'open') course.phase = 'ending';
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
  endSoon(course);
  return false;
}

export const courseCodec = record<Course>({ phase: text(), endsAt: maybe(time), parting: text() });
