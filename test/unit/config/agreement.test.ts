/**
 * `check` and the start agree: what the one accepts, the other starts, and what it refuses is refused with the same words at
 * the same place. The start is the service's own up to the point where it would open sockets, and a worker's from there.
 */
import { mkdtempSync, rmSync, writeFileSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { pino } from 'pino';
import { afterAll, describe, expect, it } from 'vitest';
import { loadAgentFile } from '../../../shared/config/load.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { runCheck } from '../../../cli/commands/check/check-command.ts';
import { runServe } from '../../../supervisor/service/serve.ts';
import {
  callSettings,
  speechSettings,
  stageDefinitions,
  toolSettings,
} from '../../../worker/host/definition.ts';
import { loadAdapters, openStages, ownStageServices } from '../../../worker/stages/registry.ts';
import { ToolRegistry } from '../../../worker/tools/registry.ts';
import { agentFile } from '../../support/agent-files.ts';
import { newStageContext } from '../../support/core/stage-context.ts';

const folder = mkdtempSync(join(tmpdir(), 'agreement-'));
const file = join(folder, 'agent.toml');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const env = { TOKEN: 'a-token', BROKEN: 'a\nb', SVC_AGENT_FILE: file };

function check(text: string): { lines: readonly string[]; isValid: boolean } {
  writeFileSync(file, text);
  const lines: string[] = [];
  const readFile = (path: string): string => readFileSync(path, 'utf8');
  const status = runCheck(file, {
    requireSecrets: true,
    env,
    readFile,
    readBytes: () => undefined,
    write: (line) => lines.push(line),
  });
  // The last line counts the others.
  return { lines: lines.slice(0, -1), isValid: status === 0 };
}

async function refusalAtStart(): Promise<readonly string[]> {
  const lines: string[] = [];
  const launch = { command: process.execPath, args: [], env: {}, pid: process.pid };
  const status = await runServe({ workers: 1, env, launch, writeError: (line) => lines.push(line) });
  expect(status).toBe(1);
  return lines;
}

/** What a worker does with the file before it takes calls, and what a call of every kind of transport gets. */
async function startInWorker(text: string): Promise<void> {
  const { definition } = loadAgentFile(text, {
    env,
    readFile: () => undefined,
    readBytes: () => undefined,
    requireSecrets: true,
  });
  if (definition === undefined) throw new Error('the file is valid for check and not here');
  callSettings(definition, { turnModel: false, replayMs: 0 });
  speechSettings(definition, { turnModel: false });
  const definitions = stageDefinitions(definition);
  const stages = openStages(definitions, await loadAdapters(definitions), ownStageServices());
  const warnings: unknown[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => warnings.push(line) });
  const registry = new ToolRegistry(toolSettings(definition), { clock: systemClock, log });
  const control = { transfer: { warm: true }, sendDtmf: true };
  const { tools, refused } = registry.openCall(newStageContext(), { control });
  expect([refused, warnings]).toEqual([[], []]);
  const { flow, agent } = definition;
  const declared = new Set(['end_call', 'send_dtmf', ...definition.tools.map(({ name }) => name)]);
  if (flow === undefined) {
    const offered = tools.declarations().map(({ name }) => name);
    const wanted = [...declared].filter((name) => agent.tools?.includes(name) ?? true);
    expect(offered).toEqual(expect.arrayContaining(wanted));
  }
  for (const [name, node] of Object.entries(flow?.nodes ?? {})) {
    const offered = tools.declarations(name).map((tool) => tool.name);
    const own = node.tools.filter((tool) => declared.has(tool));
    expect(offered).toEqual(expect.arrayContaining([...own, ...node.next.map(({ to }) => `go_to_${to}`)]));
  }
  await Promise.all([registry.close(), stages.stt.close(), stages.llm.close(), stages.tts.close()]);
}

describe('check and the start', () => {
  it('agree on every agent file', async () => {
    const seen = { valid: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(agentFile, async (text) => {
        const { lines, isValid } = check(text);
        seen[isValid ? 'valid' : 'refused'] += 1;
        if (isValid) await startInWorker(text);
        else expect(await refusalAtStart()).toEqual(lines);
      }),
      { numRuns: 400 },
    );
    // Neither side of the property is empty.
    expect(Math.min(seen.valid, seen.refused)).toBeGreaterThan(40);
  });
});
