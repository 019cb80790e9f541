/**
 * The tools of a rehearsed agent: those of its file, its tool servers among them, or what a scenario puts in their place.
 * Where no real tool may be run, no server is started and no key of a tool is needed.
 */
import type { AgentDefinition } from '../../shared/config/agent-file.ts';
import { builtInToolNames } from '../../shared/config/agent/tool-names.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { newLog } from '../../shared/runtime/log.ts';
import type { ToolRule } from '../../worker/core/tools/tools-state.ts';
import type { ToolBook } from '../../worker/core/settings.ts';
import { toolBook, toolSettings } from '../../worker/host/definition.ts';
import type { StageContext } from '../../worker/stages/stage.ts';
import { ToolRegistry, type OpenedTools } from '../../worker/tools/registry.ts';
import { noCallControl, refuseRun, type RemoteTools, type RemoteTool } from '../../worker/tools/tool.ts';
import { withStandIns, type StandIns } from './scenarios/canned-tools.ts';
import { printable } from '../commands/printable.ts';
import type { CannedTool } from './scenarios/scenario.ts';

export interface AgentToolsOptions {
  readonly clock: Clock;
  readonly realTools: boolean;
  /** Takes what is wrong with a tool or its server, in one line. */
  readonly notice: (line: string) => void;
}

/** Opens the tools of one call. */
export type OpenTools = (context: StageContext) => { readonly tools: OpenedTools; readonly book: ToolBook };

export class AgentTools {
  readonly #definition: AgentDefinition;
  readonly #registry: ToolRegistry;

  constructor(definition: AgentDefinition, { clock, realTools, notice }: AgentToolsOptions) {
    this.#definition = definition;
    const settings = toolSettings(definition);
    this.#registry = new ToolRegistry(realTools ? settings : { ...settings, mcp: [] }, {
      clock,
      log: newLog({
        role: 'rehearsal',
        level: 'warn',
        to: { write: (line) => notice(`tools: ${shownLogLine(line)}`) },
      }),
    });
  }

  /** Connects tool servers; done when each has listed its tools or had its time. Never fails. */
  async start(): Promise<void> {
    await this.#registry.start(noCallControl);
  }

  async close(): Promise<void> {
    await this.#registry.close();
  }

  /** Whether the agent may have a tool of this name; what a server lists is only known once it runs. */
  mayHave(name: string): boolean {
    const { mcp } = this.#definition;
    return this.#isDeclared(name) || mcp.some(({ tools }) => tools === undefined || tools.includes(name));
  }

  /** How calls with these stand-ins open their tools; without any, every tool is run. */
  opener(standIns?: StandIns): OpenTools {
    const remote = standIns && this.#absentTools(standIns.tools);
    return (context) => {
      const opened = this.#registry.openCall(context, {
        control: noCallControl,
        ...(remote !== undefined && { remote }),
      });
      const { tools } = opened;
      const used = standIns === undefined ? tools : withStandIns(tools, standIns, context);
      return { tools: { ...opened, tools: used }, book: toolBook(this.#definition, used) };
    };
  }

  #isDeclared(name: string): boolean {
    const { tools } = this.#definition;
    return builtInToolNames.includes(name) || tools.some((tool) => tool.name === name);
  }

  /** Stand-ins for tools of servers, which may not be there: declared by the scenario, under the rules of the agent file. */
  #absentTools(canned: readonly CannedTool[]): RemoteTools {
    const { agent, flow } = this.#definition;
    const named = [agent.tools ?? [], ...Object.values(flow?.nodes ?? {}).map(({ tools }) => tools)].flat();
    const isOffered = (name: string): boolean =>
      (agent.tools === undefined && flow === undefined) || named.includes(name);
    const absent = new Map<string, RemoteTool>();
    for (const { name, description, parameters } of canned)
      if (!this.#isDeclared(name) && isOffered(name) && !absent.has(name))
        absent.set(name, { name, description, parameters, rule: this.#ruleOf(name) });
    return {
      tools: [...absent.values()],
      runner: {
        run: (context, _, sink) =>
          refuseRun(context, { kind: 'failed', message: 'the tool is not there', transport: false }, sink),
      },
    };
  }

  #ruleOf(name: string): ToolRule {
    const { mcp } = this.#definition;
    const server = mcp.find(({ tools, sideEffects }) => [...(tools ?? []), ...sideEffects].includes(name));
    return {
      kind: server?.sideEffects.includes(name) === true ? 'side_effect' : 'read_only',
      timeoutMs: server?.timeoutMs ?? 5_000,
      fillerAfterMs: server?.fillerAfterMs ?? 0,
      confirm: server?.confirm.includes(name) === true,
      repeatable: false,
    };
  }
}

/** A line of the log for people: its sentence, then its fields. */
function shownLogLine(line: string): string {
  const fields = Object.entries(JSON.parse(line) as Readonly<Record<string, unknown>>);
  const sentence = fields.find(([name]) => name === 'msg')?.[1];
  const rest = fields.filter(([name]) => !['level', 'time', 'role', 'pid', 'msg'].includes(name));
  const shown = rest.map(
    ([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return printable(`${String(sentence)} (${shown.join(', ')})`);
}
