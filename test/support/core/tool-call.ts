/** The tools of one call for tests, out of the text of an agent file's sections on tools. */
import { pino } from 'pino';
import { loadAgentFile } from '../../../shared/config/load.ts';
import type { AgentDefinition } from '../../../shared/config/agent-file.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { toolSettings } from '../../../worker/host/definition.ts';
import { ToolRegistry } from '../../../worker/tools/registry.ts';
import type { CallToolsOptions } from '../../../worker/tools/registry.ts';
import { noCallControl } from '../../../worker/tools/tool.ts';
import type { CallTools, ToolReport } from '../../../worker/tools/tool.ts';
import { newStageContext } from './stage-context.ts';

const stages = `[stt]
provider = "stt_local_ws"
[llm]
provider = "chat_compatible"
chat_compatible = { base_url = "http://127.0.0.1:1/v1", model = "m" }
[tts]
provider = "speech_compatible"
voice = "v"
speech_compatible = { base_url = "http://127.0.0.1:1/v1", preset = "local_b" }
`;

/** A definition with these sections; `[agent]` has a name and, unless there is a flow, a prompt. */
export function definitionOf(sections: string, agent = ''): AgentDefinition {
  const prompt = sections.includes('[flow]') ? '' : 'prompt = "Be brief."\n';
  const text = `[agent]\nname = "desk"\n${prompt}${agent}\n${stages}\n${sections}`;
  const loaded = loadAgentFile(text, {
    env: { TOKEN: 's3cret' },
    readFile: () => undefined,
    readBytes: () => undefined,
    requireSecrets: true,
  });
  if (loaded.definition === undefined) throw new Error(JSON.stringify(loaded.problems, null, 2));
  return loaded.definition;
}

const open: ToolRegistry[] = [];

export function newRegistry(sections: string, agent = ''): ToolRegistry {
  const log = pino({ level: 'silent' });
  const registry = new ToolRegistry(toolSettings(definitionOf(sections, agent)), { clock: systemClock, log });
  open.push(registry);
  return registry;
}

/** For `afterEach`. */
export async function closeRegistries(): Promise<void> {
  await Promise.all(open.splice(0).map((registry) => registry.close()));
}

export function openTools(
  registry: ToolRegistry,
  options: CallToolsOptions = { control: noCallControl },
): CallTools {
  return registry.openCall(newStageContext(systemClock), options).tools;
}

let ids = 0;

export function orderOf(name: string, given: unknown, timeoutMs = 5_000) {
  ids += 1;
  return {
    call: { id: `call_${ids}`, name, arguments: JSON.stringify(given) },
    epoch: 1,
    idempotencyKey: '0123456789abcdef',
    timeoutMs,
  };
}

export const runTool = (
  tools: CallTools,
  name: string,
  { given = {}, timeoutMs = 5_000 }: { given?: unknown; timeoutMs?: number } = {},
): Promise<ToolReport> => new Promise((resolve) => tools.run(orderOf(name, given, timeoutMs), resolve));
