/** Starts the service: settings, agent file, children, listeners, signals. Every problem is told before anything runs. */
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { stopWithNpm } from '../../scripts/process/stop-with-npm.mjs';
import { fail, ok, type Result } from '../../shared/base/result.ts';
import { agentLinkVariables } from '../../shared/agent-link/variables.ts';
import {
  parseServerSettings,
  unknownVariables,
  type ServerSettings,
} from '../../shared/config/server/server.ts';
import { maxThreads } from '../../shared/protocol/mailbox.ts';
import { certificateLimits, readCertificates } from '../../shared/net/certificates.ts';
import { systemClock, systemWallClock } from '../../shared/runtime/clock.ts';
import { errorFields, newLog, type Log } from '../../shared/runtime/log.ts';
import { newSystemd } from '../../shared/runtime/systemd.ts';
import { raiseOpenFileLimit } from '../../shared/runtime/shm.ts';
import { showProblem } from '../../shared/config/problem.ts';
import { readAgentAt, type AgentPlace } from '../../shared/installation/agents-folder.ts';
import { readBytes, whyUnreadable } from '../../shared/installation/named-files.ts';
import type { OwnAgent } from '../agents/agents.ts';
import { openAgents } from '../agents/open-agents.ts';
import { CannotListen } from '../listeners/ports.ts';
import { tryMediaPorts } from '../webrtc/media-ports.ts';
import type { ParentChannel } from '../restart/predecessor.ts';
import type { AgentProviders, ProviderNames } from './provider-watch.ts';
import { Priorities, systemScheduler } from '../children/priorities.ts';
import type { AgentDefinition } from '../../shared/config/agent-file.ts';
import { afterCallSetup, ownAfterCall, whyNothingAfterCalls } from '../calls/after-call-setup.ts';
import { whyNoRecords } from '../calls/call-records.ts';
import { newFleet } from '../fleet/fleet.ts';
import { Service } from './service.ts';
import type { Launch } from '../restart/successor.ts';
import { whyNoKeys, whyNotRecording } from '../recording/memory.ts';
import { whyNoVadModel } from '../../shared/installation/turn-model.ts';
import { provideTurnModel } from '../../shared/installation/turn-model-fetch.ts';
import { whyNoState } from '../telephony/saga-store.ts';
import { missingTransfers } from '../telephony/control-capabilities.ts';

/** Descriptors beside those of calls: listeners, children, logs, pools. */
const descriptorMargin = 256;

export interface ServeOptions {
  /** Number of call workers. */
  readonly workers: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly writeError: (line: string) => void;
  /** How to start this program once more. */
  readonly launch: Launch;
  /** Present where this supervisor takes over from the one that started it. */
  readonly parent?: ParentChannel;
}

function listenToSignals(service: Service, { isSuccessor }: { readonly isSuccessor: boolean }): void {
  let isAsked = false;
  const signal = (name: string): void => {
    isAsked = true;
    service.signal(name);
  };
  // A terminal that is closed stops what was started in it by SIGHUP; calls finish all the same.
  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(name, () => signal(name));
  process.on('SIGUSR2', () => service.restart());
  // `npx` passes SIGTERM on to the shell in between alone. A successor soon has another parent, which stops nothing.
  const stop = (): void => {
    if (!isAsked) signal('SIGTERM');
  };
  if (!isSuccessor) stopWithNpm(stop);
}

/** Runs until the service is stopped. Resolves with 1 when it could not start; else the process exits by itself. */
export async function runServe(options: ServeOptions): Promise<1 | undefined> {
  const parsed = parseServerSettings(options.env, { cores: availableParallelism() });
  if (!parsed.ok) {
    for (const problem of parsed.error) options.writeError(problem.message);
    for (const warning of unknownVariables(options.env)) options.writeError(`warning: ${warning}`);
    return 1;
  }
  const { settings, warnings } = parsed.value;
  const agent = await readAgent(settings, options);
  if (agent === undefined) return 1;
  const agentCa = readAgentCa(settings);
  if (!agentCa.ok) {
    options.writeError(agentCa.error);
    return 1;
  }
  const missing = whatIsMissing(settings, { agent, isSuccessor: options.parent !== undefined });
  if (missing !== undefined) {
    options.writeError(missing);
    return 1;
  }
  const log = newLog({ role: 'supervisor', level: settings.logLevel });
  const { smartTurn } = agent;
  const turn = await provideTurnModel(settings, { env: options.env, smartTurn, clock: systemClock, log });
  if (!turn.ok) {
    options.writeError(turn.error);
    return 1;
  }
  for (const warning of [...warnings, ...agent.notes]) log.warn(warning);
  const own = agent.own.version;
  const records = recordsCalls(settings, agent);
  const hasTurnModel = turn.value.path !== undefined;
  const agents = await openAgents({ settings, own: agent.own, env: options.env, log, records, hasTurnModel });
  if (!agents.ok) {
    options.writeError(agents.error);
    return 1;
  }
  raiseLimits(settings, log);
  const service = new Service({
    settings,
    workers: options.workers,
    inferenceThreads: Math.min(maxThreads, Math.max(1, Math.floor(availableParallelism() / 2))),
    ...(turn.value.path !== undefined && { turnModel: turn.value.path }),
    agentName: agent.name,
    ...(agents.value !== undefined && { agents: agents.value }),
    agent: { agentText: own.text, files: own.files, agentCa: agentCa.value, records },
    afterCall: () => agents.value?.afterCall ?? ownAfterCall(agent.own),
    providers: agent.providers,
    clock: systemClock,
    log,
    launch: options.launch,
    priorities: new Priorities(systemClock, settings.raisesPriority ? systemScheduler : undefined),
    ...(options.parent !== undefined && { parent: options.parent }),
    systemd: newSystemd(options.env),
    fleet: newFleet(settings, { clock: systemClock, wallClock: systemWallClock, log }),
    exit: (status) => {
      agents.value?.close();
      process.exit(status);
    },
  });
  listenToSignals(service, { isSuccessor: options.parent !== undefined });
  try {
    if (options.parent === undefined) await tryMediaPorts(settings, options.workers, systemClock);
    await service.start();
  } catch (error) {
    const fields = error instanceof CannotListen ? { error: error.message } : errorFields(error);
    log.fatal(fields, 'the service cannot start');
    return 1;
  }
  return undefined;
}

function raiseLimits({ maxSessions }: ServerSettings, log: Log): void {
  const files = raiseOpenFileLimit();
  if (!files.raised || files.hard < 2 * maxSessions + descriptorMargin)
    log.warn({ ...files, maxSessions }, 'the limit of open files is low for the configured number of calls');
}

interface ReadAgent {
  readonly name: string;
  /** As the service of many agents takes it. */
  readonly own: OwnAgent;
  readonly providers: AgentProviders;
  readonly smartTurn: 'auto' | 'on' | 'off';
  /** It records calls. */
  readonly records: boolean;
  readonly definition: AgentDefinition;
  /** Warnings and notes about the file. */
  readonly notes: readonly string[];
}

/** Reads and checks the agent file. The files that it names are read once, here, for all workers. */
async function readAgent(settings: ServerSettings, options: ServeOptions): Promise<ReadAgent | undefined> {
  const place: AgentPlace = { path: resolve(settings.agentFile), shown: settings.agentFile };
  const { version, definition, problems, unreadable, named } = await readAgentAt(place, options.env, {
    requireSecrets: true,
    secretsDir: settings.agents.secrets,
  });
  if (unreadable !== undefined) {
    options.writeError(`SVC_AGENT_FILE: must name a file that can be read: ${unreadable}`);
    return undefined;
  }
  if (definition === undefined || version === undefined) {
    for (const problem of problems) options.writeError(showProblem(settings.agentFile, problem));
    return undefined;
  }
  const { agent, stt, llm, tts, realtime, turn, recording, telephony } = definition;
  const afterCall = afterCallSetup(definition, version);
  return {
    records: recording !== undefined,
    name: agent.name,
    own: { place, version, named, afterCall },
    definition,
    providers: {
      stt: stt && namesOf(stt),
      llm: llm && namesOf(llm),
      tts: tts && namesOf(tts),
      realtime: realtime && namesOf(realtime),
    },
    smartTurn: turn.smartTurn,
    notes: [
      ...problems.map((problem) => showProblem(settings.agentFile, problem)),
      ...missingTransfers(telephony, settings),
    ],
  };
}

/** The certificates of SVC_AGENT_TLS_CA, read once, here, for all workers. */
function readAgentCa({ agentCa: path }: ServerSettings): Result<readonly string[], string> {
  if (path === undefined) return ok([]);
  const { name } = agentLinkVariables.agentTlsCa;
  const bundle = readBytes(path, certificateLimits.bytes);
  if (bundle === undefined) return fail(`${name} must name a file that can be read: ${whyUnreadable(path)}`);
  const read = readCertificates(bundle);
  return read.ok ? read : fail(`${name} ${read.error}`);
}

const namesOf = (stage: { provider: string; secondary?: { provider: string } }): ProviderNames => ({
  primary: stage.provider,
  secondary: stage.secondary?.provider,
});

/** Calls may be recorded: the agent says so, or others may that come later. */
const recordsCalls = (
  { agents, recording }: ServerSettings,
  { records }: Pick<ReadAgent, 'records'>,
): boolean => records || (agents.dir !== undefined && recording.dir !== undefined);

/** What these settings name and is not there; undefined when nothing is missing. */
const whatIsMissing = (
  settings: ServerSettings,
  { agent, isSuccessor }: { readonly agent: ReadAgent; readonly isSuccessor: boolean },
): string | undefined =>
  whyNoVadModel(settings) ??
  whyNoRecords(settings) ??
  whyNothingAfterCalls(settings, agent.definition) ??
  (recordsCalls(settings, agent) ? whyNotRecording(settings) : undefined) ??
  whyNoKeys(settings) ??
  whyNoState(settings.telephony.stateDir, { isSuccessor }) ??
  missingLibrary(settings);

/** What has to be installed for these settings; undefined when nothing is missing. Nothing is loaded here. */
function missingLibrary({ webrtc }: ServerSettings): string | undefined {
  if (webrtc === undefined) return undefined;
  try {
    createRequire(import.meta.url).resolve('node-datachannel');
    return undefined;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return 'SVC_WEBRTC_ADDR needs a library that is not part of the service: npm install --ignore-scripts node-datachannel@0.33.4 (docs/webrtc.md says where)';
  }
}
