/** Whatever dies at whatever moment, each call that left a line on the disk has one record, with the end that it had. */
import { describe, expect, it } from 'vitest';
import { tries } from '../../support/sampled.ts';
import { SpoolWorld } from './spool-world.ts';

async function faultOf(seed: number): Promise<string | undefined> {
  const world = new SpoolWorld(seed);
  await world.run();
  for (const call of world.expected) {
    const [record] = world.kept.get(call.id) ?? [];
    if (!call.isKnown) {
      if (record !== undefined) return `${call.id} has a record and no line`;
      continue;
    }
    if (record === undefined) return `${call.id} has no record`;
    const code = call.ended ?? 'worker_lost';
    if (record.end.code !== code) return `${call.id} ended as ${record.end.code} instead of ${code}`;
    const turns = record.turns.map(({ epoch }) => epoch).join();
    const wanted = [...call.turns].toSorted((a, b) => a - b).join();
    if (turns !== wanted) return `${call.id} has the turns ${turns} instead of ${wanted}`;
    const silence = record.turns.reduce((sum, { silence_ms: ms = 0 }) => sum + ms, 0);
    if (record.turns.length > 0 && silence !== record.silence.total_ms)
      return `the turns of ${call.id} have ${silence} ms of silence instead of ${record.silence.total_ms}`;
    if (record.speech.caller_ms !== call.voiceMs)
      return `${call.id} has ${record.speech.caller_ms} ms of voice instead of ${call.voiceMs}`;
  }
  return world.left.length > 0 ? `${world.left.length} spools are left` : undefined;
}

describe('the spool and the process of records', () => {
  it('lose no call and count none twice, in many worlds', async () => {
    const faults: string[] = [];
    const seeds = tries(20_000, 1_000);
    for (let seed = 1; seed <= seeds && faults.length < 5; seed += 1) {
      const fault = await faultOf(seed);
      if (fault !== undefined) faults.push(`seed ${seed}: ${fault}`);
    }
    expect(faults).toEqual([]);
  });

  it('sees calls, deaths and losses in these worlds', async () => {
    const ends = new Map<string, number>();
    let takeovers = 0;
    for (let seed = 1; seed <= 200; seed += 1) {
      const world = new SpoolWorld(seed);
      await world.run();
      for (const [record] of world.kept.values()) {
        if (record === undefined) continue;
        ends.set(record.end.code, (ends.get(record.end.code) ?? 0) + 1);
        takeovers += record.takeovers.length;
      }
    }
    for (const code of ['caller_hung_up', 'worker_lost', 'shutdown'])
      expect(ends.get(code)).toBeGreaterThan(20);
    expect(takeovers).toBeGreaterThan(50);
  });
});
