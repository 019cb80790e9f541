/** The size of the mailboxes: what a turn model needs, and what one mapping holds. */
import { describe, expect, it } from 'vitest';
import { turnWindowSamples } from '../../../inference/features.ts';
import { mailboxBytes, mostSlots, turnRingFrames } from '../../../shared/protocol/mailbox.ts';
import { vadFrameSamples } from '../../../shared/protocol/mailbox-slot.ts';

describe('the mailboxes', () => {
  it('hold what the turn model hears, beside the frame that is being written', () => {
    expect(turnRingFrames * vadFrameSamples).toBeGreaterThan(turnWindowSamples + vadFrameSamples);
    expect(turnWindowSamples % vadFrameSamples).toBe(0);
  });

  it.each([16, turnRingFrames])(
    'with rings of %i frames fit into one mapping below 4 GiB, or are refused',
    (ringFrames) => {
      const layout = { workers: 1, slotsPerWorker: mostSlots(ringFrames), ringFrames, threads: 1 };
      expect(mailboxBytes(layout)).toBeLessThan(2 ** 32);
      expect(() => mailboxBytes({ ...layout, slotsPerWorker: layout.slotsPerWorker + 1 })).toThrow(
        'fit into one mapping',
      );
    },
  );
});
