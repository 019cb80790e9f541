/** What each child process is told and given when it starts. */
import type { ServerSettings } from '../../shared/config/server/server.ts';
import type { InferenceSetup, NamedFiles, WorkerSetup } from '../../shared/protocol/ipc.ts';
import { callLimits } from '../service/call-limits.ts';
import type { CallMemory } from '../service/call-memory.ts';

export interface ChildSetup {
  /** Descriptors of the memory that all of them share. */
  readonly memoryFd: number;
  readonly recordsFd: number;
  worker(index: number): WorkerSetup;
  inference(): InferenceSetup;
}

export interface ChildSetupOptions {
  readonly settings: ServerSettings;
  readonly memory: CallMemory;
  readonly agentText: string;
  readonly files: NamedFiles;
  readonly agentCa: readonly string[];
  /** Workers, the spare among them. */
  readonly seats: () => number;
  /** Path of the turn model; none when turns end by silence. */
  readonly turnModel: () => string | undefined;
}

export function newChildSetup({
  settings,
  memory,
  agentText,
  files,
  agentCa,
  seats,
  turnModel,
}: ChildSetupOptions): ChildSetup {
  const { layout, mailboxesFd, recordsFd } = memory;
  const { logLevel, callResume, vadModel, webrtc } = settings;
  const limits = callLimits(settings);
  return {
    memoryFd: mailboxesFd,
    recordsFd,
    worker: (index) => ({
      type: 'setup',
      worker: index,
      layout,
      logLevel,
      limits,
      callResume,
      agentText,
      files,
      agentCa,
      ...(webrtc !== undefined && {
        webrtc: { udp: webrtc.udpAddr, seats: seats(), candidateIps: webrtc.candidateIps },
      }),
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
