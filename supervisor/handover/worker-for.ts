/** Which worker gets which connection next. Pure. */
import type { Millis } from '../../shared/base/units.ts';
import type { OpenOffer } from './open-offer.ts';

/**
 * A worker is sent at most so many calls to take up that it has not confirmed, a fraction of what it takes up in a second. The rest
 * wait: a worker that starts meanwhile gets its share, and one that dies takes fewer with it.
 */
export const takeUpAtOnce = 16;

const isTakeover = ({ message }: OpenOffer): boolean => message.resumeFrom !== undefined;

/**
 * The one with the fewest calls. A call to take up waits while that one is at its limit: those with more calls have callers whose
 * frames would be late.
 */
export function workerFor(
  offer: OpenOffer,
  offers: Iterable<OpenOffer>,
  ready: readonly number[],
): number | undefined {
  const loads = new Map<number, { calls: number; takingUp: number }>();
  for (const worker of ready) if (!offer.declinedBy.has(worker)) loads.set(worker, { calls: 0, takingUp: 0 });
  for (const other of offers) {
    const load = 'worker' in other.state ? loads.get(other.state.worker) : undefined;
    if (load === undefined) continue;
    load.calls += 1;
    if (other.state.phase === 'offered' && isTakeover(other)) load.takingUp += 1;
  }
  const [best] = [...loads].sort(([, one], [, other]) => one.calls - other.calls);
  if (best === undefined || (isTakeover(offer) && best[1].takingUp >= takeUpAtOnce)) return undefined;
  return best[0];
}

/** What waits for a worker, longest first; behind all others what a worker hung or died for, so that it is the last to do harm. */
export const waitingOf = (offers: Iterable<OpenOffer>): OpenOffer[] =>
  [...offers]
    .filter(({ state }) => state.phase === 'waiting')
    .sort((one, other) => one.deaths - other.deaths || since(one) - since(other));

const since = ({ state }: OpenOffer): Millis => ('since' in state ? state.since : 0);

/** It is a call to take up, and one of these workers will get it. */
export const waitsForOneOf = (offer: OpenOffer, ready: readonly number[]): boolean =>
  offer.state.phase === 'waiting' &&
  isTakeover(offer) &&
  ready.some((worker) => !offer.declinedBy.has(worker));
