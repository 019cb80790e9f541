/**
 * The tools of a worker and how a call gets its own (docs/tools.md). Connections and compiled schemas are
 * shared by all calls; what a call was given stays the same to its end, even when a server lists other tools meanwhile.
 * A tool that cannot be had is left out and logged; nothing here ends a call.
 */
import type { AgentDefinition } from '../../shared/config/agent-file.ts';
import { agentTool, type TeamDefinition } from '../../shared/agents/team.ts';
import type { CallMetadata } from '../../shared/config/agent/call-variables.ts';
import type { McpDefinition } from '../../shared/config/agent/mcp.ts';
import { isTable } from '../../shared/config/table.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { ToolRule } from '../core/tools/tools-state.ts';
import type { StageContext, ToolDeclaration } from '../stages/stage.ts';
import { newFailureLog, type Failure } from '../stages/failure-log.ts';
import { builtInTools } from './built-in.ts';
import { ToolCatalog, type CatalogReading, type RefusedTool, type ToolSource } from './catalog.ts';
import { HttpTool } from './http-tool.ts';
import type { McpServer } from './mcp/server.ts';
import { ToolServers, type SharedServer } from './mcp/tool-servers.ts';
import type { CallControl, CallTools, RemoteTools } from './tool.ts';
import { ToolsOfCall } from './tools-of-call.ts';

/** What the agent file says of tools. `agentTools` is its list of names; absent: all of them. */
export interface ToolSettings extends Pick<AgentDefinition, 'tools' | 'mcp' | 'telephony' | 'flow'> {
  readonly agentTools?: readonly string[];
  /** Other agents that it may hand callers to. */
  readonly team?: TeamDefinition | undefined;
  /** Tool servers are at public addresses alone. */
  readonly isPublicOnly?: boolean;
  /** Recordings of its calls can be paused. */
  readonly isRecorded?: boolean;
}

export interface RegistryOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Those of the worker; absent: the agent's alone. */
  readonly servers?: ToolServers | undefined;
  /** Tenant of the agent; absent: it is the operator's. */
  readonly owner?: string | undefined;
}

export interface CallToolsOptions {
  readonly control: CallControl;
  /** What came with the call; absent: nothing. */
  readonly metadata?: CallMetadata;
  /** Tools that the call's agent process brought along. */
  readonly remote?: RemoteTools;
  /** Names of the tools that the LLM may call, where the call has others than its agent; absent: as the file says. */
  readonly allowed?: readonly string[] | undefined;
}

export interface OpenedTools {
  readonly tools: CallTools;
  /** Remote tools that the call does not get (`tool_refused` in docs/reference/agent-link.md, Errors). */
  readonly refused: readonly RefusedTool[];
  /** The call is over: whatever still runs is told so, and reports nothing more. */
  readonly close: () => void;
}

/** Beyond those of the agent, calls may have lists of their own. */
const mostCatalogs = 32;

interface Server {
  readonly definition: McpDefinition;
  readonly server: McpServer;
  readonly shared: SharedServer;
}

export class ToolRegistry {
  readonly #settings: ToolSettings;
  readonly #log: Log;
  readonly #declared: readonly ToolSource[];
  readonly #http: readonly HttpTool[];
  readonly #servers: readonly Server[];
  /** By what the transport can do; dropped when a server lists other tools. */
  readonly #catalogs = new Map<string, CatalogReading>();

  constructor(settings: ToolSettings, { clock, log, servers = new ToolServers(), owner }: RegistryOptions) {
    this.#settings = settings;
    this.#log = log;
    const failures = newFailureLog(clock, log);
    const failed = (failure: Failure): void => failures.note(failure);
    const tools = settings.tools.map((definition) => ({
      definition,
      runner: new HttpTool(definition.http, { name: definition.name, failed }),
    }));
    this.#http = tools.map(({ runner }) => runner);
    this.#declared = tools.map(({ definition, runner }) => {
      const { name, description, parameters, kind, timeoutMs, fillerAfterMs, confirm, repeatable } =
        definition;
      const rule = { kind, timeoutMs, fillerAfterMs, confirm, repeatable };
      return { declaration: { name, description, parameters }, rule, runner, patterns: 'obeyed' };
    });
    const isPublicOnly = settings.isPublicOnly === true;
    const changed = (): void => this.#catalogs.clear();
    this.#servers = settings.mcp.map((definition) => {
      const shared = servers.take(definition, owner, { clock, log, failed, changed, isPublicOnly });
      return { definition, server: shared.server, shared };
    });
  }

  /**
   * Connects the servers; done when each of them has listed its tools, failed once or had its time. Never fails. Schemas are
   * compiled for calls with `control`: the first call would hold up all others of its worker for as long.
   */
  async start(control: CallControl): Promise<void> {
    await Promise.all(this.#servers.map(({ shared }) => shared.start()));
    this.#catalog(control, this.#settings.agentTools);
  }

  /** Opens the tools of a call. `context` is the call's. */
  openCall(context: StageContext, given: CallToolsOptions): OpenedTools {
    const { control, metadata, remote, allowed = this.#settings.agentTools } = given;
    const reading =
      remote === undefined ? this.#catalog(control, allowed) : this.#build(control, remote, allowed);
    const isRemote = new Set(remote?.tools.map(({ name }) => name));
    const tools = new ToolsOfCall(context, reading.catalog, metadata ?? {});
    return {
      tools,
      close: () => tools.close(),
      refused: reading.refused.filter(({ name }) => isRemote.has(name)),
    };
  }

  /** Ends the connections and the child processes. */
  async close(): Promise<void> {
    await Promise.all([
      ...this.#http.map((tool) => tool.close()),
      ...this.#servers.map(({ shared }) => shared.close()),
    ]);
  }

  #catalog(control: CallControl, allowed: readonly string[] | undefined): CatalogReading {
    const id = JSON.stringify([control.transfer?.warm, control.sendDtmf, allowed]);
    const known = this.#catalogs.get(id);
    if (known !== undefined) return known;
    const made = this.#build(control, undefined, allowed);
    for (const { name, rule } of made.refused) this.#log.warn({ tool: name, rule }, 'a tool is left out');
    if (this.#catalogs.size >= mostCatalogs) this.#catalogs.clear();
    this.#catalogs.set(id, made);
    return made;
  }

  #build(
    control: CallControl,
    remote: RemoteTools | undefined,
    agentTools: readonly string[] | undefined,
  ): CatalogReading {
    const { telephony, flow, team, isRecorded = false } = this.#settings;
    const builtIn = builtInTools(telephony, control, { team, isRecorded });
    const listed = this.#servers.flatMap(sourcesOf);
    const brought = (remote?.tools ?? []).map(({ name, description, parameters, rule }): ToolSource => {
      const declaration = { name, description, parameters };
      return { declaration, rule, ...(remote && { runner: remote.runner }), patterns: 'ignored' };
    });
    const isRemote = new Set(brought.map(({ declaration }) => declaration.name));
    return ToolCatalog.build(
      [
        ...builtIn.map((tool): ToolSource => ({ ...tool, patterns: 'obeyed' })),
        ...this.#declared,
        ...listed,
        ...brought,
      ],
      {
        flow,
        // A team is there to be handed to.
        allowed: (name) =>
          agentTools === undefined || agentTools.includes(name) || isRemote.has(name) || name === agentTool,
      },
    );
  }
}

/** What a server lists at present, by the rules that the agent file gives it. */
export function sourcesOf({ definition, server }: Omit<Server, 'shared'>): ToolSource[] {
  const { sideEffects, confirm, timeoutMs, fillerAfterMs } = definition;
  return server.tools.map((listed) => {
    const declaration = withoutArguments(listed, Object.keys(definition.arguments));
    const { name } = declaration;
    const kind = sideEffects.includes(name) ? 'side_effect' : 'read_only';
    const rule: ToolRule = {
      kind,
      timeoutMs,
      fillerAfterMs,
      confirm: confirm.includes(name),
      repeatable: false,
    };
    return { declaration, rule, runner: server, patterns: 'ignored' };
  });
}

/** The tool as the LLM is offered it where the call gives some of its arguments. */
function withoutArguments(tool: ToolDeclaration, given: readonly string[]): ToolDeclaration {
  const { properties, required } = tool.parameters;
  if (!isTable(properties) || !given.some((name) => Object.hasOwn(properties, name))) return tool;
  const kept = Object.entries(properties).filter(([name]) => !given.includes(name));
  const parameters = {
    ...tool.parameters,
    properties: Object.fromEntries(kept),
    ...(Array.isArray(required) && { required: required.filter((name) => !given.includes(String(name))) }),
  };
  return { ...tool, parameters };
}
