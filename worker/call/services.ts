/** What a call runs on: what its worker lends to each of its calls, and what its agent adds. */
import type { ChosenAgent } from '../../shared/agents/choose.ts';
import type { AgentRef } from '../../shared/agents/version.ts';
import type { CallStart } from '../transports/transport.ts';
import type { Overrides } from '../../shared/agents/overrides.ts';
import type { LookUpCall } from '../agents/look-up.ts';
import type { RouteOf } from '../agent-link/routes.ts';
import type { CallMetadata } from '../../shared/config/agent/call-variables.ts';
import type { Millis } from '../../shared/base/units.ts';
import type { Mailboxes } from '../../shared/protocol/mailbox.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { WorkerMetrics } from '../../shared/runtime/metrics.ts';
import type { OpenCallLink } from '../agent-link/contract.ts';
import type { Accounts } from './account.ts';
import type { ObserveCall } from './observer.ts';
import type { TraceOf } from './trace.ts';
import type { CallSettings, ToolBook } from '../core/settings.ts';
import type { OpenedTools } from '../tools/registry.ts';
import type { SoundLoop } from '../media/background/loop.ts';
import type { NoiseMode } from '../../shared/protocol/noise-mode.ts';
import type { EchoMode } from '../media/echo/echo.ts';
import type { SpeechDetectorSettings } from '../media/vad/speech-detector.ts';
import type { SpokenStage } from '../lines/known-lines.ts';
import type { TelephonyServices } from '../telephony/call-control.ts';
import type { CallControl as ControlTools, RemoteTools } from '../tools/tool.ts';
import type { LlmStage, StageContext, SttStage } from '../stages/stage.ts';

/** The sessions of the service, as a call counts itself (`SVC_MAX_SESSIONS` in docs/reference/server-settings.md). */
export interface SessionCounter {
  /** A call begins; false where there are as many as there may be. */
  readonly claim: () => boolean;
  /** A call goes on that another worker had: it has its place. */
  readonly carry: () => void;
  readonly release: () => void;
}

/** What a worker lends to each of its calls, whatever its agent. */
export interface WorkerServices {
  readonly clock: Clock;
  /** Milliseconds of the machine's monotonic clock, as in heartbeats. */
  readonly machineMs: () => number;
  /** Unix milliseconds. */
  readonly wallNow: () => number;
  readonly log: Log;
  readonly metrics: WorkerMetrics;
  readonly boxes: Mailboxes;
  /** What a call is called by that no token names. */
  readonly newSessionId: () => string;
  /** Telephone numbers may be passed on. */
  readonly showsNumbers: boolean;
  /** Wakes the threads of inference that wait for a word of the memory; absent where they run in this one. */
  readonly wake?: (word: Int32Array) => void;
  /** The last moment at or before `time` at which the worker may tick. */
  readonly gridBefore: (time: Millis) => Millis;
  /** A tick is wanted at this time at the latest. */
  readonly wakeBy: (at: Millis) => void;
  /** False while the worker takes no new calls. */
  readonly takesCalls: () => boolean;
  readonly sessions: SessionCounter;
  readonly agents: CallAgents;
  /** Who keeps account of calls that end before they have an agent; absent as that of agents. */
  readonly accounts?: Accounts | undefined;
}

/** What depends on the agent of a call, made from its definition once for all of its calls (worker/agents/equip.ts). */
export interface AgentServices {
  readonly settings: Omit<CallSettings, 'tools'>;
  /** Name of the agent. */
  readonly agent: string;
  /** What metrics call it: one of the busiest, or one of the others. */
  readonly agentLabel?: () => string;
  /** Time zone of the agent. */
  readonly timezone: string;
  /** The agent with what a call has otherwise, and what a node of its flow has of its own; absent: its file has neither. */
  readonly vary?: (given: Overrides, node?: string) => VariedAgent;
  /** Asks the operator's server about a call that is to begin; absent: there is none. */
  readonly lookUp?: LookUpCall;
  /** Says to which agent process a call goes; absent as `openLink` is. */
  readonly routeOf?: RouteOf;
  /** Connects a call to its agent process; absent: calls run on the agent's definition alone. */
  readonly openLink?: OpenCallLink;
  /** The tools of a call, and what the core knows of them. */
  readonly openTools: (
    context: StageContext,
    given: {
      readonly metadata: CallMetadata;
      readonly remote: RemoteTools | undefined;
      readonly control: ControlTools;
    },
  ) => { readonly tools: OpenedTools; readonly book: ToolBook };
  /** What the core knows of tools that a call has opened already; absent: what it knew. */
  readonly bookOf?: (tools: OpenedTools) => ToolBook;
  /** Who follows calls to tell of them later; absent: nobody. */
  readonly observe?: ObserveCall;
  /** Who keeps account of calls for their records; absent: no records are kept. */
  readonly accounts?: Accounts | undefined;
  /** Absent: calls have no trace. */
  readonly traceOf?: TraceOf | undefined;
  /** What is asked of carriers, and how. */
  readonly carriers: TelephonyServices;
  readonly speech: SpeechDetectorSettings;
  /** Whether what the caller's microphone brings back is looked for. */
  readonly echo: EchoMode;
  /** Whether noise is taken out before VAD hears the caller. */
  readonly noise: NoiseMode;
  /** What callers hear behind the agent's voice; absent: nothing. */
  readonly background?: readonly SoundLoop[] | undefined;
  /** Loudness that voices are brought to, in LUFS; absent: they are heard as they come. */
  readonly lufs?: number | undefined;
  readonly stt: SttStage;
  /** Writes down what an operator says in a call whose caller is heard by a model that speaks; absent: `stt` does. */
  readonly operatorStt?: SttStage;
  readonly llm: LlmStage;
  readonly tts: SpokenStage;
}

export interface CallServices extends Omit<WorkerServices, 'agents'>, AgentServices {}

/** An agent in the hands of one call. */
export interface CalledAgent {
  readonly services: AgentServices;
  /** Which version it is, and why the call has it; absent in a service of one agent. */
  readonly chosen?: ChosenAgent;
  /** The call is over. Called once. */
  readonly release: () => void;
}

/** An agent with what one call has otherwise. */
export interface VariedAgent {
  readonly services: AgentServices;
  /** What of it holds, and what is wrong with the rest: key and rule. */
  readonly applied: Overrides;
  readonly problems: readonly string[];
  /** The call is over, or has another one. Called once. */
  readonly release: () => void;
}

/** Gives calls their agents. */
export interface CallAgents {
  /**
   * The agent of a call that begins, or at once the one that it had before. A promise while that is being equipped, or asked for; `unknown`
   * for a call that names an agent which is not there, and is refused; `full` where the agent may have no other call.
   */
  readonly of: (start: CallStart, kept?: AgentRef) => CalledAgent | Promise<CalledAgent | 'full'> | 'unknown';
  /** An agent of the same tenant, or a promise of it; `same` where it is this one, undefined where the tenant has none of the name. */
  readonly other: (
    of: CalledAgent,
    name: string,
  ) => CalledAgent | Promise<CalledAgent | 'full'> | 'same' | undefined;
  /** The agent of a call that another worker began; it is equipped. */
  readonly again: (kept?: AgentRef) => CalledAgent;
}
