/** Opens the folder of agents at the start of the service, where the settings name one. */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { agentsVariables } from '../../shared/agents/variables.ts';
import { fail, ok, type Result } from '../../shared/base/result.ts';
import type { ServerSettings } from '../../shared/config/server/server.ts';
import { reasonOfFile } from '../../shared/installation/named-files.ts';
import { recordingVariables } from '../../shared/recording/variables.ts';
import { callsVariables } from '../../shared/calls/variables.ts';
import { systemClock, systemWallClock } from '../../shared/runtime/clock.ts';
import type { Log } from '../../shared/runtime/log.ts';
import { afterCallSetup } from '../calls/after-call-setup.ts';
import { Agents, type OwnAgent } from './agents.ts';
import { FolderWatch } from './folder-watch.ts';
import { UsedMinutes } from './used-minutes.ts';

export interface OpenAgentsOptions {
  readonly settings: ServerSettings;
  /** That of SVC_AGENT_FILE. */
  readonly own: OwnAgent;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  /** Calls can be recorded here. */
  readonly records: boolean;
  /** A turn model is there. */
  readonly hasTurnModel: boolean;
}

/** Undefined in a service of one agent. An agent that is wrong does not keep the others from their calls. */
export async function openAgents({
  settings: {
    agents: settings,
    calls,
    telephony: { stateDir },
  },
  own,
  env,
  log,
  records,
  hasTurnModel,
}: OpenAgentsOptions): Promise<Result<Agents | undefined, string>> {
  const { dir, unknown, secrets } = settings;
  if (dir === undefined) return ok(undefined);
  const why = whyNoFolder(dir);
  if (why !== undefined)
    return fail(`${agentsVariables.agentsDir.name} must name a folder that can be read: ${why}`);
  const clocks = { clock: systemClock, wallClock: systemWallClock };
  const agents = new Agents({
    unknown,
    own,
    watch: (events) =>
      new FolderWatch({ ...events, ...clocks, dir: resolve(dir), besides: own, env, secretsDir: secrets }),
    ...clocks,
    log,
    minutes: stateDir === undefined ? undefined : new UsedMinutes(stateDir, log),
    afterCallOf: afterCallSetup,
    whyNot: ({ reading: { definition } }) => {
      if (definition?.recording !== undefined && !records)
        return `recording needs ${recordingVariables.recordingDir.name}, which is read at the start`;
      if (definition?.afterCall !== undefined && calls === undefined)
        return `after_call needs ${callsVariables.callsDb.name}, which is read at the start`;
      if (definition?.turn.smartTurn === 'on' && !hasTurnModel)
        return 'turn.smart_turn is "on", and the service runs without a turn model';
      return undefined;
    },
  });
  await agents.open();
  log.info(agents.counts, 'the folder of agents is read');
  return ok(agents);
}

function whyNoFolder(dir: string): string | undefined {
  try {
    return statSync(dir).isDirectory() ? undefined : 'it is no folder';
  } catch (error) {
    return reasonOfFile(error);
  }
}
