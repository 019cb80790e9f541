/** What each child process is told and given when it starts. */
import { resolve } from 'node:path';
import type { ServerSettings } from '../../shared/config/server/server.ts';
import type { WebrtcSettings } from '../../shared/webrtc/variables.ts';
import type { NamedFiles } from '../../shared/agents/version.ts';
import type { InferenceSetup, WebrtcSetup, WorkerSetup } from '../../shared/protocol/ipc.ts';
import type { Agents } from '../agents/agents.ts';
import { controlCapabilities } from '../telephony/control-capabilities.ts';
import { callLimits } from '../service/call-limits.ts';
import type { CallMemory } from '../service/call-memory.ts';
import { tracingSetup } from '../tracing/resource.ts';
import { newRecordingMemory } from '../recording/memory.ts';

export interface ChildSetup {
  /** Descriptors of the memory that all of them share. */
  readonly memoryFd: number;
  readonly recordsFd: number;
  /** Present where calls are recorded. */
  readonly recordingFd: number | undefined;
  worker(index: number): WorkerSetup;
  inference(): InferenceSetup;
}

/** What workers are told of the agent. */
export interface AgentForWorkers {
  readonly agentText: string;
  readonly files: NamedFiles;
  /** Certificates in PEM form that are trusted beside the public ones for agents. */
  readonly agentCa: readonly string[];
  /** It records calls. */
  readonly records: boolean;
}

export interface ChildSetupOptions extends AgentForWorkers {
  readonly settings: ServerSettings;
  readonly memory: CallMemory;
  /** Absent in a service of one agent. */
  readonly agents: Pick<Agents, 'setup'> | undefined;
  /** Workers, the spare among them. */
  readonly workerRows: () => number;
  /** Path of the turn model; none when turns end by silence. */
  readonly turnModel: () => string | undefined;
}

function webrtcSetup(webrtc: WebrtcSettings, workerRows: number): WebrtcSetup {
  const { udpAddr, candidateIps, tcp, turn } = webrtc;
  return {
    udp: udpAddr,
    seats: workerRows,
    candidateIps,
    ...(tcp !== undefined && {
      tcp: { host: tcp.addr.host, maxFrameBytes: tcp.maxFrameBytes, queue: tcp.queue },
    }),
    ...(turn !== undefined &&
      turn.relay !== 'off' && {
        relay: { mode: turn.relay, timeoutMs: turn.relayTimeoutMs, isLogged: turn.isLogged },
      }),
  };
}

/** The agent of a worker as it is now, and all the others where there are some. */
const ofMany = (
  many: ReturnType<Agents['setup']> | undefined,
  one: Pick<AgentForWorkers, 'agentText' | 'files'>,
): Pick<WorkerSetup, 'agentText' | 'files' | 'agents'> =>
  many === undefined ? one : { agentText: many.own.text, files: many.own.files, agents: many.agents };

export function newChildSetup({
  settings,
  memory,
  agents,
  agentText,
  files,
  agentCa,
  records,
  workerRows,
  turnModel,
}: ChildSetupOptions): ChildSetup {
  const { layout, mailboxesFd, recordsFd } = memory;
  const { logLevel, callResume, vadModel, webrtc, calls } = settings;
  const limits = callLimits(settings);
  const recording = records ? newRecordingMemory(settings, layout) : undefined;
  return {
    memoryFd: mailboxesFd,
    recordsFd,
    recordingFd: recording?.fd,
    worker: (index) => ({
      ...ofMany(agents?.setup(index), { agentText, files }),
      type: 'setup',
      worker: index,
      layout,
      logLevel,
      limits,
      callResume,
      agentCa,
      live: settings.health.liveToken !== undefined,
      monitored: settings.monitor !== undefined,
      ...(recording !== undefined && { recording: recording.setup }),
      ...tracingSetup(settings),
      ...(calls !== undefined && { callSpool: resolve(calls.spool) }),
      callControl: controlCapabilities(settings),
      ...(webrtc !== undefined && { webrtc: webrtcSetup(webrtc, workerRows()) }),
    }),
    inference: () => {
      const model = turnModel();
      return {
        type: 'setup',
        layout,
        logLevel,
        vadModel,
        ...(model !== undefined && { turnModel: model }),
      };
    },
  };
}
