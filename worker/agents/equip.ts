/**
 * Equips an agent: from its definition and the adapters of its providers comes everything that its calls share in this worker and that
 * another agent's calls have otherwise. The worker lends what belongs to it.
 */
import { ringMarginFrames } from '../call/audio.ts';
import type { AgentServices } from '../call/services.ts';
import { equipStages, type StageSite } from './equip-stages.ts';
import { Variants, type VariantsOptions } from './variants.ts';
import { LookUps } from './look-up.ts';
import { agentLinkServices } from '../agent-link/agent-links.ts';
import type { LoadedAgent } from '../host/agent.ts';
import {
  callSettings,
  knownTexts,
  speechSettings,
  toolBook,
  toolSettings,
  type WorkerFeatures,
} from '../host/definition.ts';
import { SoundLoop } from '../media/background/loop.ts';
import { capabilitiesOf, telephonyServices, type CapabilitiesByCarrier } from '../telephony/call-control.ts';
import type { AskCarrier } from '../telephony/carrier-line.ts';
import { systemWallClock } from '../../shared/runtime/clock.ts';
import { tenantOf } from '../../shared/agents/version.ts';
import { showsNumbers } from '../../shared/telephony/variables.ts';
import type { ToolServers } from '../tools/mcp/tool-servers.ts';
import { ToolRegistry } from '../tools/registry.ts';
import { noCallControl } from '../tools/tool.ts';
import type { Mailboxes } from '../../shared/protocol/mailbox.ts';
import type { AgentDefinition } from '../../shared/config/agent-file.ts';
import { vadFrameMs } from '../../shared/protocol/mailbox-slot.ts';

/** What a worker lends to its agents. */
export interface AgentSite extends StageSite {
  /** Certificates in PEM form that are trusted beside the public ones for agent processes. */
  readonly agentCa: readonly string[];
  /** What calls of carriers can be made to do. */
  readonly callControl: CapabilitiesByCarrier;
  readonly askCarrier: AskCarrier;
  /** Tool servers that agents of one tenant share; absent: each has its own. */
  readonly toolServers?: ToolServers;
  /** What metrics call an agent; absent: its name. */
  readonly labelOf?: (id: string) => string;
}

/** An agent whose calls can be taken. */
export interface EquippedAgent {
  readonly services: AgentServices;
  /** Connects the servers of its tools. Resolves within a bounded time, and never fails. */
  readonly start: () => Promise<void>;
  /** Ends what its calls shared: connections, and child processes of its tools. */
  readonly close: () => Promise<void>;
}

/** What the machine adds to any agent. */
const featuresOf = ({ layout }: Pick<Mailboxes, 'layout'>): WorkerFeatures => ({
  turnModel: (layout.turnThreads ?? 0) > 0,
  replayMs: (layout.ringFrames - ringMarginFrames) * vadFrameMs,
});

/** How the operator's server is asked; undefined where there is none. */
const lookUpsOf = (
  { agent, beforeCall }: AgentDefinition,
  { clock, metrics, failures, id }: AgentSite,
): LookUps | undefined =>
  beforeCall &&
  new LookUps(beforeCall, {
    clock,
    metrics,
    failures,
    wallClock: systemWallClock,
    showsNumbers: showsNumbers(process.env),
    agent: agent.name,
    tenant: id === undefined ? undefined : tenantOf(id),
  });

/** @throws Error when a key may not be sent to its address. */
export function equipAgent(agent: LoadedAgent, site: AgentSite): EquippedAgent {
  const { definition } = agent;
  const { clock, log, boxes } = site;
  const features = featuresOf(boxes);
  const settings = callSettings(definition, features);
  const registry = new ToolRegistry(toolSettings(definition), {
    clock,
    log,
    servers: site.toolServers,
    owner: site.id === undefined ? undefined : tenantOf(site.id),
  });
  const lookUps = lookUpsOf(definition, site);
  const stages = equipStages(definition, agent, { texts: knownTexts(settings), site });
  const base: AgentServices = {
    ...stages.services,
    ...servicesOf(agent, site),
    settings,
    ...(lookUps && { lookUp: lookUps.ask }),
    openTools: (context, { metadata, remote, control }) => {
      const tools = registry.openCall(context, { control, metadata, ...(remote && { remote }) });
      return { tools, book: toolBook(definition, tools.tools) };
    },
    bookOf: ({ tools }) => toolBook(definition, tools),
    speech: speechSettings(definition, features),
  };
  const openStages: VariantsOptions['openStages'] = (other, texts) =>
    equipStages(other, agent, { texts, site });
  const variants = definition.overrides && new Variants({ agent, features, registry, base, openStages });
  return {
    services: variants === undefined ? base : { ...base, vary: variants.vary },
    start: () => registry.start(noCallControl),
    close: async () => {
      await Promise.all([registry.close(), lookUps?.close(), variants?.close(), stages.close()]);
    },
  };
}

/** What neither stages nor tools are needed for. */
function servicesOf({ definition, version, env }: LoadedAgent, site: AgentSite) {
  const { clock, log, metrics, observation, callControl } = site;
  const { traceOf } = observation;
  const id = site.id ?? definition.agent.name;
  return {
    agent: id,
    ...(site.labelOf && { agentLabel: () => site.labelOf?.(id) ?? id }),
    timezone: definition.agent.timezone,
    ...agentLinkServices(definition, {
      env,
      showsNumbers: showsNumbers(process.env),
      certificates: site.agentCa,
      mayTransfer: (start) => capabilitiesOf(start, callControl)?.transfer === true,
      clock,
      log,
      metrics,
      traceOf,
    }),
    observe: observation.observerOf(definition, site.id),
    accounts: observation.accountsOf({ definition, id, version }),
    traceOf,
    carriers: telephonyServices(definition, callControl, site.askCarrier),
    echo: definition.turn.echo,
    noise: definition.audio?.noise ?? 'off',
    background: definition.audio?.background?.map((sound) => new SoundLoop(sound, definition.audio?.level)),
    lufs: definition.audio?.level,
  };
}
