/**
 * How much one client may send in a time, as a pure token bucket. One worker serves many calls on one thread, so that what
 * one client sends must not take the time in which the others are paced. Pure.
 *
 * Invariant: a client within the protocol never notices it. It says nothing about what is done with a client that sends
 * more: its socket is read more slowly, and nothing is lost.
 */
import type { Millis } from '../../../shared/base/units.ts';

/** Plain data, part of the state of a call. The unit is one control message. */
export interface Allowance {
  /** Below zero after something was taken that had to be. */
  credit: number;
  filledAt: Millis;
}

/** Marks come back a few times a second and nobody presses ten keys in one; so many are left to clients that gather theirs. */
const perSecond = 50;
/** What a client may have gathered while its network stood still. */
const most = 100;

/** What it costs to take things in, against a control message, which is answered by a step of the whole call. */
export const intakeCosts = {
  control: 1,
  /** Room for a thousand frames a second; callers send fifty. */
  audioFrame: 1 / 20,
  /** Room for four times the audio of the highest rate: fragments and headers are work even where nothing comes of them. */
  byte: 1 / 8192,
} as const;

/** Longest time for which a client is given what it could have sent while nobody read. */
const longestSilenceMs = 10_000;

export const newAllowance = (now: Millis): Allowance => ({ credit: most, filledAt: now });

function fill(allowance: Allowance, now: Millis): void {
  const gained = ((now - allowance.filledAt) * perSecond) / 1000;
  allowance.credit = Math.min(Math.max(most, allowance.credit), allowance.credit + gained);
  allowance.filledAt = now;
}

/** The allowance of a client from whom nobody has read for a while: what it sent meanwhile is there all at once. */
export function afterSilence({ credit, filledAt }: Allowance, now: Millis): Allowance {
  const gained = (Math.min(now - filledAt, longestSilenceMs) * perSecond) / 1000;
  return { credit: credit + gained, filledAt: now };
}

/** Takes the cost when there is as much left; false when it has to wait. */
export function spend(allowance: Allowance, cost: number, now: Millis): boolean {
  fill(allowance, now);
  if (allowance.credit < cost) return false;
  allowance.credit -= cost;
  return true;
}

/** Takes the cost of what cannot wait. False when the client owes something from here on. */
export function charge(allowance: Allowance, cost: number, now: Millis): boolean {
  fill(allowance, now);
  allowance.credit -= cost;
  return allowance.credit >= 0;
}

/** Whether the next control message could be taken at once. */
export function hasCredit(allowance: Allowance, now: Millis): boolean {
  fill(allowance, now);
  return allowance.credit >= intakeCosts.control;
}
