/** Calls by offer in the hand-over: their clients come back, to another worker or to the same one. */
import { describe, expect, it } from 'vitest';
import { HandOver } from '../../../supervisor/handover/hand-over.ts';
import type { OfferSignals } from '../../../supervisor/handover/open-offer.ts';
import type { LeftRecord } from '../../../supervisor/handover/left-records.ts';
import { newSignaledCalls } from '../../../supervisor/handover/signaled-calls.ts';
import type { ToWorker } from '../../../shared/protocol/ipc.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';

const request = {
  transport: 'webrtc',
  ...{ method: 'POST', url: '/whip', headers: {}, head: '', signedMetadata: {} },
  signaled: { sdp: 'first' },
} as const;

function newWorld() {
  const told: string[] = [];
  const sent: ToWorker[] = [];
  const offers: { worker: number; sdp: string | undefined; resumeFrom: number | undefined }[] = [];
  const leftRecords = new Map<number, LeftRecord>();
  const world = { ready: [0], released: 0 };
  const handOver = new HandOver({
    clock: newVirtualClock(),
    readyWorkers: () => world.ready,
    offer: (worker, { signaled, resumeFrom }) => {
      offers.push({ worker, sdp: signaled?.sdp, resumeFrom });
      return true;
    },
    allGiven: () => undefined,
    keepsCalls: true,
    records: { leftBy: () => leftRecords, forget: () => undefined },
    isStopping: () => false,
    counted: () => undefined,
  });
  const signaled = newSignaledCalls(handOver, {
    send: (_worker, message) => sent.push(message) > 0,
  });
  const signals = (name: string): OfferSignals => ({
    answered: (sdp) => told.push(`${name} ${sdp}`),
    unanswered: (reason) => told.push(`${name} ${reason}`),
    connected: () => undefined,
    wayClosed: (way) => told.push(`${name} way ${way} closed`),
    waysLost: () => told.push(`${name} ways lost`),
    over: () => told.push(`${name} over`),
  });
  const id = signaled.give(request, () => (world.released += 1), signals('first'));
  handOver.taken(id);
  handOver.answered(id, 'answer');
  told.length = 0;
  return { handOver, signaled, signals, id, told, sent, offers, leftRecords, world };
}

describe('a call by offer whose client comes back', () => {
  it('stays with its worker as long as that one lives', () => {
    const { signaled, signals, handOver, id, told, sent, world } = newWorld();
    expect(signaled.comeBack(id, { sdp: 'second' }, signals('second'))).toBe(true);
    expect(sent).toEqual([{ type: 'call.renew', offer: id, renewal: 1, signaled: { sdp: 'second' } }]);
    handOver.answered(id, 'again');
    expect(told).toEqual(['second again']);
    handOver.over(id);
    expect([told, world.released]).toEqual([['second again', 'second over'], 1]);
  });

  it('goes on as it was where the worker does not take the offer', () => {
    const { signaled, signals, handOver, id, told, world } = newWorld();
    signaled.comeBack(id, { sdp: 'second' }, signals('second'));
    handOver.unanswered(id, 'bad_offer');
    expect([told, world.released, handOver.workerOf(id)]).toEqual([['second bad_offer'], 0, 0]);
    handOver.over(id);
    expect(told).toEqual(['second bad_offer', 'first over']);
  });

  it('has one offer at a time, the newest, whose answer is its own', () => {
    const { signaled, signals, handOver, id, told, sent } = newWorld();
    signaled.comeBack(id, { sdp: 'second' }, signals('second'));
    signaled.comeBack(id, { sdp: 'third' }, signals('third'));
    const [second, third] = sent.map((message) => (message.type === 'call.renew' ? message.renewal : 0));
    // The worker had answered the one before it heard of the other.
    handOver.answered(id, 'of the second', second);
    handOver.unanswered(id, 'bad_offer', second);
    expect(told).toEqual(['second overtaken']);
    handOver.answered(id, 'again', third);
    handOver.answered(id, 'once more', third);
    expect(told).toEqual(['second overtaken', 'third again']);
  });

  it('is awaited once its worker is gone, and until another one has it', () => {
    const { signaled, signals, handOver, id, leftRecords, world } = newWorld();
    expect(signaled.isAwaited(id)).toBe(false);
    leftRecords.set(id, { slot: 7, connection: 'open' });
    world.ready = [1];
    handOver.workerGone(0);
    expect(signaled.isAwaited(id)).toBe(true);
    signaled.comeBack(id, { sdp: 'second' }, signals('second'));
    expect(signaled.isAwaited(id)).toBe(true);
    handOver.taken(id);
    expect(signaled.isAwaited(id)).toBe(false);
    handOver.over(id);
    expect(signaled.isAwaited(id)).toBe(false);
  });

  it('goes to another worker when its own turns out to be dead', () => {
    const { signaled, signals, handOver, id, told, offers, leftRecords, world } = newWorld();
    signaled.comeBack(id, { sdp: 'second' }, signals('second'));
    world.ready = [1];
    leftRecords.set(id, { slot: 7, connection: 'open' });
    handOver.workerGone(0);
    expect(offers.at(-1)).toEqual({ worker: 1, sdp: 'second', resumeFrom: 7 });
    handOver.taken(id);
    handOver.answered(id, 'again');
    expect(told).toEqual(['first ways lost', 'second again']);
  });

  it('is told at once when its call is over meanwhile', () => {
    const { signaled, signals, handOver, id, told } = newWorld();
    signaled.comeBack(id, { sdp: 'second' }, signals('second'));
    handOver.over(id);
    expect(told).toEqual(['second failed', 'first over']);
    expect(signaled.comeBack(id, { sdp: 'third' }, signals('third'))).toBe(false);
  });
});
