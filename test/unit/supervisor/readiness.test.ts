/** Probes (docs/operate/runbook.md): `/readyz` where no session token can come in, over a real listener. */
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { parseServerSettings } from '../../../shared/config/server/server.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { newSupervisorMetrics } from '../../../shared/runtime/metrics.ts';
import { Admission } from '../../../supervisor/admission/admission.ts';
import { CallLedger } from '../../../supervisor/admission/call-ledger.ts';
import { callIngresses } from '../../../supervisor/listeners/all.ts';
import { FrontDoor } from '../../../supervisor/listeners/front-door.ts';
import { openHealthListener } from '../../../supervisor/service/health.ts';
import type { OpenListener } from '../../../supervisor/listeners/listeners.ts';
import { TokenLedger } from '../../../supervisor/admission/token-ledger.ts';
import { TokenStore } from '../../../supervisor/admission/token-store.ts';

const startS = 1_800_000_000;
let listener: OpenListener | undefined;

afterEach(() => {
  listener?.server.close();
});

interface World {
  readonly ledger: TokenLedger;
  readonly clock: { s: number };
  readonly readyz: () => Promise<readonly [number, unknown]>;
}

/** A set of used tokens with room for two, behind the health listener. */
async function world(env: Record<string, string>): Promise<World> {
  const parsed = parseServerSettings({ SVC_AGENT_FILE: 'agent.toml', ...env }, { cores: 2 });
  if (!parsed.ok) throw new Error('the settings are not valid');
  const { settings } = parsed.value;
  const clock = { s: startS };
  const wallClock = { now: () => clock.s * 1000 };
  const ledger = new TokenLedger({ maxIds: 2 });
  const admission = new Admission({ maxSessions: 5, acceptQueue: 5 });
  const door = new FrontDoor({
    settings,
    ingresses: callIngresses(settings),
    wallClock,
    metrics: newSupervisorMetrics(),
    log: { warn: () => undefined },
    admission,
    callLedger: new CallLedger({
      clock: systemClock,
      admission,
      providerLimits: new Map(),
      providers: () => [],
      maxCallsPerAddress: 0,
      released: () => undefined,
      carriedChanged: () => undefined,
    }),
    facts: () => ({
      draining: false,
      sessions: 0,
      readyWorkers: 1,
      inferenceBehind: false,
      workersLate: false,
      inHandOver: 0,
    }),
    tokenLedger: ledger,
    tokenStore: new TokenStore({ ledger, wallClock, log: { warn: () => undefined } }),
  });
  listener = await openHealthListener({
    addr: { host: '127.0.0.1', port: 0 },
    metrics: false,
    metricsToken: undefined,
    unready: () => door.unready()?.code,
    counts: () => ({}),
    renderMetrics: () => Promise.reject(new Error('not asked for')),
    isLeaving: () => false,
  });
  const { port } = listener.server.address() as AddressInfo;
  const readyz = async (): Promise<readonly [number, unknown]> => {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`);
    return [answer.status, await answer.json()];
  };
  return { ledger, clock, readyz };
}

describe('/readyz with the set of used tokens full', () => {
  const fill = ({ ledger }: World): void => {
    for (const sid of ['a', 'b']) ledger.use({ sid, expS: startS + 60, nowS: startS });
  };

  it('is 503 as long as no session token can come in', async () => {
    const at = await world({ SVC_SESSION_SECRET: 'x'.repeat(32) });
    expect(await at.readyz()).toEqual([200, { ready: 1 }]);
    fill(at);
    expect(await at.readyz()).toEqual([503, { ready: 0, token_set_full: 1 }]);
    at.clock.s += 90;
    expect(await at.readyz()).toEqual([200, { ready: 1 }]);
  });

  it('does not matter where no session tokens are in use', async () => {
    const at = await world({ SVC_WS_TOKEN: 'a-static-token' });
    fill(at);
    expect(await at.readyz()).toEqual([200, { ready: 1 }]);
  });
});
