/** The rehearsal refuses as the service would, whatever its settings ask of callers, and ends. */
import { describe, expect, it } from 'vitest';
import { parseServerSettings } from '../../../shared/config/server.ts';
import { systemClock, systemWallClock } from '../../../shared/runtime/clock.ts';
import { newLog } from '../../../shared/runtime/log.ts';
import { DoorRehearsal } from '../../../supervisor/door-rehearsal.ts';

function rehearsal(env: Record<string, string>, connections: number): DoorRehearsal {
  const settings = parseServerSettings({ SVC_AGENT_FILE: 'agent.toml', ...env }, { cores: 2 });
  if (!settings.ok) throw new Error('the settings are not valid');
  return new DoorRehearsal({
    settings: settings.value.settings,
    clock: systemClock,
    wallClock: systemWallClock,
    log: newLog({ role: 'supervisor', level: 'fatal', to: { write: () => undefined } }),
    connections,
  });
}

describe('The rehearsal of refusals', () => {
  it('has every connection answered, and ends', async () => {
    expect(await rehearsal({}, 45).run()).toBe(45);
  });

  it('is not stopped by a service that asks for tokens', async () => {
    const env = { SVC_WS_TOKEN: 'a-token-of-some-length-0123456789', SVC_SESSION_SECRET: 'x'.repeat(40) };
    expect(await rehearsal(env, 15).run()).toBe(15);
  });

  it('ends with the service, before all are answered', async () => {
    const short = rehearsal({}, 1_000_000);
    const refused = short.run();
    short.stop();
    expect(await refused).toBeLessThanOrEqual(10);
  });
});
