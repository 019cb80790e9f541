/** Cold transfers that nobody takes: who is brought back to the agent, when, and who is not. */
import { beforeEach, describe, expect, it } from 'vitest';
import { CallsAway } from '../../../supervisor/telephony/away.ts';
import type { Carrier, ColdOutcome } from '../../../supervisor/telephony/carrier.ts';
import { ColdTransfers } from '../../../supervisor/telephony/cold-transfers.ts';

const callId = 'v3:caller';
const carried = {
  context: [{ role: 'user', text: 'Hm.' }],
  after: 'transfer',
  metadata: { name: 'Ada' },
} as const;
const command = {
  ...({ type: 'transfer', mode: 'cold', commandId: 'k', carrier: 'carrier_b', callId, carried } as const),
  ...{ to: '+15550100077', attempt: 1, summary: '', language: 'en' },
};

let away: CallsAway;
let cold: ColdTransfers;
let back: string[];
let ended: string[];

beforeEach(() => {
  away = new CallsAway({ forgotten: () => undefined });
  [back, ended] = [[], []];
  cold = new ColdTransfers({ away, bringBack: (id) => back.push(id), endStream: (id) => ended.push(id) });
});

const carrier = (outcome: ColdOutcome): Carrier => ({
  ...{ name: 'carrier_b', capabilities: { transfer: true, warm: true, keys: true } },
  hangUp: () => Promise.reject(new Error('nobody hangs up')),
  transfer: () => Promise.resolve(outcome),
  pressKeys: () => Promise.reject(new Error('no keys')),
});

const given = async (outcome: ColdOutcome = { kind: 'ok' }): Promise<void> => {
  expect(await cold.give(carrier(outcome), command)).toMatchObject({ kind: outcome.kind });
};

describe('a caller of carrier B', () => {
  it('whom nobody took is brought back, with what was said', async () => {
    await given();
    cold.legOver(callId, { isCallers: false });
    expect(back).toEqual([callId]);
    away.returns(callId);
    expect(away.arrives(callId)).toEqual(carried);
    expect(away.isAway(callId)).toBe(false);
  });

  it('who has talked with the destination is not', async () => {
    await given();
    cold.legAnswered(callId);
    cold.legOver(callId, { isCallers: false });
    expect([back, away.isAway(callId)]).toEqual([[], false]);
  });

  it('who has hung up is not', async () => {
    await given();
    cold.legOver(callId, { isCallers: true });
    expect(back).toEqual([]);
  });

  it('is brought back only once the stream of the bot is over', async () => {
    cold.streamBegins(callId);
    await given();
    cold.legOver(callId, { isCallers: false });
    expect(back).toEqual([]);
    expect(cold.streamOver(callId)).toBe(true);
    expect([back, cold.streamOver(callId)]).toEqual([[callId], false]);
  });

  it('is brought back when the service that gave them away has died meanwhile', () => {
    cold.legOver(callId, { isCallers: false });
    away.returns(callId);
    expect([back, away.arrives(callId)?.after]).toEqual([[callId], 'transfer']);
  });

  it('whose transfer was refused once the stream had been stopped is brought back', async () => {
    await given({ kind: 'unknown', isAlone: true });
    expect(back).toEqual([callId]);
  });

  it('whose transfer had an unknown outcome is still with the bot when the leg is over', async () => {
    cold.streamBegins(callId);
    await given({ kind: 'unknown' });
    cold.legOver(callId, { isCallers: false });
    expect([cold.streamOver(callId), away.isAway(callId), back]).toEqual([false, false, []]);
  });

  it('with whom somebody talks after all, behind an unknown outcome or before it, hears the bot no more', async () => {
    cold.streamBegins(callId);
    await given({ kind: 'unknown' });
    expect(ended).toEqual([]);
    cold.legAnswered(callId);
    expect(ended).toEqual([callId]);
    cold.streamOver(callId);
    expect([away.isAway(callId), back]).toEqual([true, []]);

    cold.streamBegins(callId);
    const lost = given({ kind: 'unknown' });
    cold.legAnswered(callId);
    expect(ended).toEqual([callId]);
    await lost;
    expect(ended).toEqual([callId, callId]);
  });

  it('whose transfer was made is left by the bot itself', async () => {
    cold.streamBegins(callId);
    await given();
    cold.legAnswered(callId);
    expect(ended).toEqual([]);
  });

  it('whose transfer was refused, or is unknown and nobody rang, stays with the bot', async () => {
    cold.streamBegins(callId);
    await given({ kind: 'refused', code: 'rejected' });
    expect([away.isAway(callId), cold.streamOver(callId)]).toEqual([false, false]);
    expect(back).toEqual([]);
  });
});

describe('a caller of carrier A', () => {
  it.each(['busy', 'no-answer', 'failed', 'canceled'])(
    'comes back where the dialling ended as %s',
    async (status) => {
      await given();
      expect(cold.dialled(callId, status)).toBe(true);
      expect(away.arrives(callId)).toEqual(carried);
    },
  );

  it.each(['completed', 'answered'])('does not where it ended as %s', async (status) => {
    await given();
    expect(cold.dialled(callId, status)).toBe(false);
    expect(away.arrives(callId)).toBeUndefined();
  });
});

it('calls that are away are bounded: the oldest is forgotten', () => {
  for (let at = 0; at < 5_000; at += 1) away.leaves(`c${at}`, carried);
  expect([away.isAway('c0'), away.isAway('c4999')]).toEqual([false, true]);
});
