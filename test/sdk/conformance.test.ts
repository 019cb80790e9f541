/** The TypeScript SDK in the scenarios that every SDK of the agent link must pass, in this process and on real sockets. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { conformanceToken, play, scenarios } from './conformance.ts';

describe('the TypeScript SDK', () => {
  let port = 0;

  beforeAll(async () => {
    vi.stubEnv('SVC_AGENT_TOKEN', conformanceToken);
    vi.stubEnv('VOICE_AGENT_PORT', '0');
    const said = vi.spyOn(console, 'log').mockImplementation(() => undefined);
    await import('../../sdk/typescript/test/conformance-agent.ts');
    port = Number(/\d+/.exec(String(said.mock.calls[0]?.[0]))?.[0]);
    expect(port).toBeGreaterThan(0);
  });
  // Other files run in this thread.
  afterAll(() => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  });

  it.each(scenarios)('$name ($row)', { timeout: 10_000 }, (scenario) => play(port, scenario));
});
