/** What hosts share, where the store is not there. */
import { expect, it, vi } from 'vitest';
import { newFleet } from '../../../supervisor/fleet/fleet.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';

it('tells of a store that cannot be reached before a caller is turned away', async () => {
  const clock = newVirtualClock();
  const warn = vi.fn();
  const tokenStore = { host: '127.0.0.1', port: 1, isTls: false, database: 0 };
  const fleet = newFleet({ access: { tokenStore } } as unknown as Parameters<typeof newFleet>[0], {
    clock,
    wallClock: { now: () => 0 },
    log: { warn },
  });
  expect(warn).not.toHaveBeenCalled();
  clock.advance(3_000);
  await vi.waitFor(() => expect(warn).toHaveBeenCalledOnce());
  expect(warn.mock.calls[0]?.[1]).toBe('the token store gives no answer; session tokens are refused');
  fleet?.line.close();
});
