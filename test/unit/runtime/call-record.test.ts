/** What a worker leaves of a call when it dies at any instant. */
import { describe, expect, it } from 'vitest';
import {
  callRecordBytes,
  callRecordMappings,
  CallRecords,
  stateBytes,
} from '../../../shared/protocol/call-record.ts';

function newRecords() {
  const memory = new ArrayBuffer(callRecordBytes({ slots: 2 }));
  const records = (): CallRecords => new CallRecords([memory], { slots: 2 });
  return { writer: records().record(1), reader: () => records().record(1), neighbour: records().record(0) };
}

describe('the record of a call', () => {
  it('is read by another process as it was written, and only for its own connection', () => {
    const { writer, reader, neighbour } = newRecords();
    writer.begin(7);
    expect(reader().left(7)).toBe('begun');
    writer.opened();
    expect(reader().left(7)).toBe('writable');
    writer.keepSetup('{"prompt":"ü"}');
    writer.save('state 1', '["said"]');
    writer.keepTail(Buffer.from([1, 2, 3]), 0, 0);
    writer.keepTail(Buffer.from([4]), 3, 0);
    writer.played(3, 480);
    writer.listening(12, 5);
    expect(reader().left(7)).toBe('open');
    expect(reader().left(8)).toBeUndefined();
    expect(neighbour.left(7)).toBeUndefined();
    expect(reader().read()).toEqual({
      state: 'state 1',
      history: '["said"]',
      setup: '{"prompt":"ü"}',
      tail: Buffer.from([1, 2, 3, 4]),
      playout: { context: 3, sentSamples: 480 },
      listenFrom: 12,
      generation: 5,
    });
  });

  it('gives on what nobody has handled', () => {
    const { writer, reader } = newRecords();
    writer.begin(7);
    writer.opened();
    writer.save('a', '[]');
    writer.keepTail(Buffer.from([1, 2, 3]), 0, 7);
    writer.handled(9);
    writer.keepTail(Buffer.from([4]), 3, 0);
    expect(reader().read().tail).toEqual(Buffer.from([3, 4]));
    writer.keepTail(Buffer.from([5]), 0, 10);
    expect(reader().read().tail).toEqual(Buffer.from([5]));
  });

  it('gives on no message from which something follows in the state, wherever its worker died', () => {
    const { writer, reader } = newRecords();
    writer.begin(7);
    writer.opened();
    writer.save('a', '[]');
    // The count of bytes wraps within a call of days.
    const earlier = 2 ** 31 - 2;
    writer.handled(earlier);
    writer.keepTail(Buffer.from([1, 2, 3]), 0, earlier);
    writer.handling((earlier + 2) | 0);
    expect(reader().read()).toMatchObject({ state: 'a', tail: Buffer.from([1, 2, 3]) });
    writer.save('b', undefined);
    expect(reader().read()).toMatchObject({ state: 'b', tail: Buffer.from([3]) });
    writer.handled((earlier + 3) | 0);
    expect(reader().read()).toMatchObject({ state: 'b', tail: Buffer.alloc(0) });
  });

  it('keeps a history until another one belongs to the state', () => {
    const { writer, reader } = newRecords();
    writer.begin(7);
    writer.opened();
    writer.save('a', '[1]');
    writer.save('ö', undefined);
    expect(reader().read()).toMatchObject({ state: 'ö', history: '[1]' });
    writer.save('c', '[1,2]');
    expect(reader().read()).toMatchObject({ state: 'c', history: '[1,2]' });
  });

  it('is not taken up while a write is under way, with a tail that did not fit, or without a state that did', () => {
    const { writer, reader } = newRecords();
    writer.begin(7);
    writer.opened();
    writer.save('a', '[]');
    writer.isWriting = true;
    expect(reader().left(7)).toBe('torn');
    writer.isWriting = false;
    writer.keepTail(Buffer.alloc(1 << 20), 0, 0);
    writer.keepTail(Buffer.from([1]), 1 << 20, 0);
    expect(reader().left(7)).toBe('writable');
    writer.keepTail(Buffer.alloc(0), 0, 0);
    expect(reader().left(7)).toBe('open');
    expect(writer.save('x'.repeat(stateBytes + 1), undefined)).toBe(false);
    expect(reader().left(7)).toBe('writable');
    writer.save('fits', undefined);
    expect(reader().left(7)).toBe('open');
  });

  it('is one of many that lie in mappings of less than 4 GiB', () => {
    const layout = { slots: 16_000 };
    const lengths = callRecordMappings(layout);
    expect(Math.max(...lengths)).toBeLessThan(2 ** 32);
    expect(lengths.reduce((sum, length) => sum + length)).toBe(callRecordBytes(layout));
    for (const length of lengths) expect(length % 4096).toBe(0);
  });

  it('is gone once the call is over', () => {
    const { writer, reader } = newRecords();
    writer.begin(7);
    writer.opened();
    writer.save('a', '[]');
    writer.end();
    expect(reader().left(7)).toBeUndefined();
  });
});
