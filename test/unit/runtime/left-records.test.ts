/** Which record of a call holds that a worker left in the middle of taking it up. */
import { describe, expect, it } from 'vitest';
import { callRecordBytes, CallRecords, type CallRecord } from '../../../shared/protocol/call-record.ts';
import { leftRecords } from '../../../supervisor/handover/left-records.ts';

const slots = [0, 1, 2];
const offer = 7;

type State = 'begun' | 'open' | 'torn';

function leave(record: CallRecord, state: State): void {
  record.begin(offer);
  if (state === 'open') {
    record.save('{}', '[]');
    record.opened();
  }
  record.isWriting = state === 'torn';
}

describe('a worker that died while it took a call up from another of its own slots', () => {
  it.each<[first: State, second: State, slot: number, connection: State]>([
    ['begun', 'open', 2, 'open'],
    ['open', 'begun', 0, 'open'],
    ['torn', 'open', 0, 'torn'],
    ['open', 'torn', 2, 'torn'],
    ['open', 'open', 0, 'open'],
  ])(
    'left it %s and %s: the one in slot %d holds, and the other is ended',
    (first, second, slot, connection) => {
      const records = new CallRecords([new ArrayBuffer(callRecordBytes({ slots: slots.length }))], {
        slots: slots.length,
      });
      leave(records.record(0), first);
      leave(records.record(2), second);
      expect([...leftRecords(records, slots)]).toEqual([[offer, { slot, connection }]]);
      expect(slots.map((at) => records.offerOf(at))).toEqual(slots.map((at) => (at === slot ? offer : 0)));
    },
  );
});
