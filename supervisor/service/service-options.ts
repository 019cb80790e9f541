/** What a service is made with. */
import type { AfterCallVersions } from '../../shared/calls/messages.ts';
import type { ServerSettings } from '../../shared/config/server/server.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { Systemd } from '../../shared/runtime/systemd.ts';
import type { Agents } from '../agents/agents.ts';
import type { AgentForWorkers } from '../children/child-setup.ts';
import type { Priorities } from '../children/priorities.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { ParentChannel } from '../restart/predecessor.ts';
import type { Launch } from '../restart/successor.ts';
import type { AgentProviders } from './provider-watch.ts';

export interface ServiceOptions {
  readonly settings: ServerSettings;
  readonly workers: number;
  readonly inferenceThreads: number;
  /** Path of the turn model; absent: turns end by silence. */
  readonly turnModel?: string;
  readonly agentName: string;
  /** Absent in a service of one agent. */
  readonly agents?: Agents;
  readonly agent: AgentForWorkers;
  /** What happens after calls, of all versions that calls may have. */
  readonly afterCall: () => AfterCallVersions;
  readonly providers: AgentProviders;
  readonly clock: Clock;
  readonly log: Log;
  /** How to start this program once more, for a restart without a gap. */
  readonly launch: Launch;
  readonly priorities: Priorities;
  /** Present where this supervisor takes over from the one that started it. */
  readonly parent?: ParentChannel;
  readonly systemd: Systemd;
  /** What is shared with other hosts; undefined where nothing is. */
  readonly fleet: Fleet | undefined;
  readonly exit: (status: number) => void;
}
