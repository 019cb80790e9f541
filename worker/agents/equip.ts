/**
 * Equips an agent: from its definition and the adapters of its providers comes everything that its calls share in this worker and that
 * another agent's calls have otherwise. What belongs to the worker is lent by it.
 */
import { ringMarginFrames } from '../call/audio.ts';
import type { AgentServices, WorkerServices } from '../call/services.ts';
import { LookUps } from './look-up.ts';
import { agentLinkServices } from '../agent-link/agent-links.ts';
import type { LoadedAgent } from '../host/agent.ts';
import {
  callSettings,
  knownTexts,
  speechSettings,
  stageDefinitions,
  toolBook,
  toolSettings,
  type WorkerFeatures,
} from '../host/definition.ts';
import { announcementLine } from '../lines/announcement.ts';
import { withKnownLines } from '../lines/known-lines.ts';
import { SoundLoop } from '../media/background/loop.ts';
import type { Observation } from '../observe/observation.ts';
import type { FailureLog } from '../stages/failure-log.ts';
import { withPauses } from '../stages/later-tts.ts';
import { openStages } from '../stages/registry.ts';
import { capabilitiesOf, telephonyServices, type CapabilitiesByCarrier } from '../telephony/call-control.ts';
import type { AskCarrier } from '../telephony/carrier-line.ts';
import { systemWallClock } from '../../shared/runtime/clock.ts';
import { showsNumbers } from '../../shared/telephony/variables.ts';
import { ToolRegistry } from '../tools/registry.ts';
import { noCallControl } from '../tools/tool.ts';
import type { Mailboxes } from '../../shared/protocol/mailbox.ts';
import type { AgentDefinition } from '../../shared/config/agent-file.ts';
import { vadFrameMs } from '../../shared/protocol/mailbox-slot.ts';

/** What a worker lends to its agents. */
export interface AgentSite extends Pick<WorkerServices, 'clock' | 'machineMs' | 'log' | 'metrics' | 'boxes'> {
  /** Its number. */
  readonly worker: number;
  readonly failures: FailureLog;
  readonly observation: Observation;
  /** Certificates in PEM form that are trusted beside the public ones for agent processes. */
  readonly agentCa: readonly string[];
  /** What calls of carriers can be made to do. */
  readonly callControl: CapabilitiesByCarrier;
  readonly askCarrier: AskCarrier;
}

/** An agent whose calls can be taken. */
export interface EquippedAgent {
  readonly services: AgentServices;
  /** Connects the servers of its tools. Resolves within a bounded time, and never fails. */
  readonly start: () => Promise<void>;
  /** Ends connections and child processes of its tools. */
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
  { clock, metrics, failures }: AgentSite,
): LookUps | undefined =>
  beforeCall &&
  new LookUps(beforeCall, {
    clock,
    metrics,
    failures,
    wallClock: systemWallClock,
    showsNumbers: showsNumbers(process.env),
    agent: agent.name,
  });

/** @throws Error when a key may not be sent to its address. */
export function equipAgent({ definition, adapters }: LoadedAgent, site: AgentSite): EquippedAgent {
  const { clock, machineMs, log, metrics, boxes, worker, failures, observation, callControl } = site;
  const features = featuresOf(boxes);
  const settings = callSettings(definition, features);
  const registry = new ToolRegistry(toolSettings(definition), { clock, log });
  const stages = openStages(stageDefinitions(definition), adapters, {
    breakers: boxes.breakers,
    metrics,
    machineMs,
    requested: (stage, role) => boxes.countRequest(worker, stage, role),
    failed: (failure) => failures.note(failure),
    noted: observation.tracing?.noted,
  });
  const traceOf = observation.tracing?.traceOf;
  const lookUps = lookUpsOf(definition, site);
  const services: AgentServices = {
    settings,
    ...(lookUps && { lookUp: lookUps.ask }),
    agent: definition.agent.name,
    timezone: definition.agent.timezone,
    ...agentLinkServices(definition, {
      env: process.env,
      certificates: site.agentCa,
      mayTransfer: (start) => capabilitiesOf(start, callControl)?.transfer === true,
      clock,
      log,
      metrics,
      traceOf,
    }),
    openTools: (context, { metadata, remote, control }) => {
      const tools = registry.openCall(context, { control, metadata, ...(remote && { remote }) });
      return { tools, book: toolBook(definition, tools.tools) };
    },
    observe: observation.observerOf(definition),
    traceOf,
    carriers: telephonyServices(definition, callControl, site.askCarrier),
    speech: speechSettings(definition, features),
    echo: definition.turn.echo,
    background: definition.background?.map((sound) => new SoundLoop(sound)),
    ...stages,
    tts: withKnownLines(withPauses(stages.tts), {
      clock,
      log,
      ...knownTexts(settings),
      announcement: announcementLine(definition.agent.announcement, definition.tts.sampleRate),
      isDown: () => boxes.breakers.of('tts', 'primary').state(machineMs()) === 'open',
    }),
  };
  return {
    services,
    start: () => registry.start(noCallControl),
    close: async () => {
      await Promise.all([registry.close(), lookUps?.close()]);
    },
  };
}
