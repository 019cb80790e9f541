/** What each child process is told and given when it starts. */
import type { ServerSettings } from '../../shared/config/server/server.ts';
import type { InferenceSetup, NamedFiles, WorkerSetup } from '../../shared/protocol/ipc.ts';
import { callMeans } from '../telephony/means.ts';
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
  /** Path of the turn model; none when turns end by silence. */
  readonly turnModel: () => string | undefined;
}

export function newChildSetup({
  settings,
  memory,
  agentText,
  files,
  agentCa,
  turnModel,
}: ChildSetupOptions): ChildSetup {
  const { layout, mailboxesFd, recordsFd } = memory;
  const { logLevel, callResume, vadModel } = settings;
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
      callControl: callMeans(settings),
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
