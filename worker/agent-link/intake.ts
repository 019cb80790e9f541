/**
 * What an agent sends, at a bounded pace: one worker serves many calls on one thread, so that a program that sends without end must not
 * take the time in which other calls are paced. Beyond its allowance its socket is not read; what one read had brought already waits here, in order.
 * Pure.
 *
 * Invariant: an agent within reason never notices it, no message is left out while there is a link, and no more waits than one read brings.
 */
import {
  charge,
  newAllowance,
  spend,
  hasCredit,
  intakeCosts,
  type Allowance,
} from '../transports/socket/allowance.ts';
import type { Millis } from '../../shared/base/units.ts';

/** A text frame; of a binary one there is nothing to keep. */
export type Arrived = string | undefined;

export interface Intake {
  readonly allowance: Allowance;
  readonly waiting: Arrived[];
  /** The newest ping that was not answered. */
  ping: Uint8Array | undefined;
  /** The socket is not read. */
  isHeld: boolean;
  /** The agent and the log know. */
  isTold: boolean;
}

/** What an agent may owe: pings and pongs of one read are small, and thousands. It bounds for how long nobody reads to two seconds. */
const deepestDebt = -100;

export const newIntake = (now: Millis): Intake => ({
  allowance: newAllowance(now),
  waiting: [],
  ping: undefined,
  isHeld: false,
  isTold: false,
});

const costOf = (arrived: Arrived): number =>
  Math.max(intakeCosts.control, (arrived?.length ?? 0) * intakeCosts.byte);

/** Whether a message may be taken in now; else it waits. */
export function mayTake(intake: Intake, arrived: Arrived, now: Millis): boolean {
  if (intake.waiting.length === 0 && spend(intake.allowance, costOf(arrived), now)) return true;
  intake.waiting.push(arrived);
  return false;
}

/** Takes note of a ping or pong. False when nothing more is to be read for a while. */
export function mayRead({ allowance }: Intake, now: Millis): boolean {
  const has = charge(allowance, intakeCosts.control, now);
  allowance.credit = Math.max(allowance.credit, deepestDebt);
  return has;
}

/** The next message whose time has come. */
export function nextArrived(
  { waiting, allowance }: Intake,
  now: Millis,
): { readonly arrived: Arrived } | undefined {
  if (waiting.length === 0 || !spend(allowance, costOf(waiting[0]), now)) return undefined;
  return { arrived: waiting.shift() };
}

/** Whether reading may go on that was held. */
export const mayReadAgain = ({ isHeld, waiting, allowance }: Intake, now: Millis): boolean =>
  isHeld && waiting.length === 0 && hasCredit(allowance, now);
