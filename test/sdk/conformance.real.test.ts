/** The SDKs as processes of their own in the scenarios that every SDK of the agent link must pass. Each agent is started once. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { play, scenarios } from './conformance.ts';
import {
  sdks,
  startConformanceAgent,
  stopConformanceAgent,
  type ConformanceAgent,
} from './conformance-agents.ts';

describe.each(sdks)('the %s SDK', (_, programOf) => {
  let agent: ConformanceAgent | undefined;
  let problem = '';

  beforeAll(async () => {
    const started = await startConformanceAgent(programOf);
    if ('problem' in started) ({ problem } = started);
    else {
      agent = started;
      expect(agent.port).toBeGreaterThan(0);
    }
  }, 300_000);

  afterAll(async () => {
    if (agent !== undefined) await stopConformanceAgent(agent);
  });

  for (const scenario of scenarios)
    it(`${scenario.name} (${scenario.row})`, async (context) => {
      context.skip(problem !== '', problem);
      await play(agent?.port ?? 0, scenario);
    });
});
