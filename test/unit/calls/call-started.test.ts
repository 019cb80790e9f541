/** The beginning of a call, as those who are told of it hear of it. */
import { expect, it } from 'vitest';
import type { CallFact } from '../../../shared/calls/facts.ts';
import type { StartedCall } from '../../../records/call-store.ts';
import { RecordMaker } from '../../../records/record-maker.ts';
import { headFact } from '../../support/calls/records.ts';

const name = 'session-1.jsonl';

it('the beginning of a call is told to the agent that has it when its conversation opens, once', async () => {
  const lines: CallFact[] = [headFact({ agent: 'clinic/desk', version: 'a1' })];
  const started: StartedCall[] = [];
  const text = (): string => lines.map((line) => JSON.stringify(line)).join('\n');
  const maker = new RecordMaker({
    spool: {
      list: (where) =>
        Promise.resolve(where === 'open' ? [{ name, bytes: text().length, writtenMs: 0 }] : []),
      read: () => Promise.resolve(text()),
      end: () => Promise.resolve(),
      remove: () => Promise.resolve(),
    },
    store: () => Promise.reject(new Error('nothing ends here')),
    hooks: [{ started: (call) => Promise.resolve(void started.push(call)) }],
    priced: (record) => record,
    mostBytes: 1_000_000,
    wallNow: () => 0,
    who: { isAlive: () => true, stillForMs: () => 0 },
    dropped: () => undefined,
    refused: () => undefined,
  });
  await maker.look();
  expect(started).toEqual([]);
  // The operator's server hands the call to another agent before it opens.
  lines.push(headFact({ agent: 'clinic/emergency', version: 'b2' }), { t: 'open', at: 5 });
  await maker.look();
  lines.push({ t: 'turn', at: 9, epoch: 1 });
  await maker.look();
  expect(started).toMatchObject([{ callId: 'call-1', agent: { name: 'clinic/emergency', version: 'b2' } }]);
});
