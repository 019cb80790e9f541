/** Messages between the supervisor and the process that keeps the records of calls. */
import type { CallEventName } from './webhooks/events.ts';
import type { AgentRef, NamedFiles } from '../agents/version.ts';
import type { CallRecord } from './record.ts';
import type { Analysed, AnalysisFailure } from './analysis/analyse.ts';
import type { Result } from '../base/result.ts';
import type { LogLevel } from '../config/server/server.ts';

/** The process brings what has ended into the database when it leaves, at the low priority that it has. */
export const recordsLeaveWithinMs = 20_000;

/** An endpoint of webhooks. */
export interface EndpointSetup {
  readonly url: string;
  /** Variables of its secrets, the present one first. */
  readonly secretEnv: readonly string[];
  readonly events: readonly CallEventName[];
  readonly allowPrivate: boolean;
}

/** What happens after the calls of one version of an agent. */
export interface AfterCallSetup {
  /** Id of the agent, with its tenant. */
  readonly agent: string;
  /** Hash of the version. */
  readonly version: string;
  /** Absent: it is the operator's own. */
  readonly tenant?: string;
  /** What its variables stand for, where that is not what the whole service has. Never on the disk. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly endpoints: readonly EndpointSetup[];
  readonly recordUrl?: string;
  readonly analysis?: AnalystSetup;
}

/** Which versions of agents there are, of those after whose calls something happens. */
export interface AfterCallVersions {
  /** Those that the process was not told of yet. */
  readonly versions: readonly AfterCallSetup[];
  /** Hashes of all versions that calls may have. */
  readonly kept: readonly string[];
  /** What new calls get. */
  readonly inForce: readonly AgentRef[];
}

/** What a process that analyses calls of one version of an agent is made with: the agent file, as workers get it. */
export interface AnalystSetup {
  readonly agentText: string;
  readonly files: NamedFiles;
  readonly tenant?: string;
  /** For one answer of the LLM. */
  readonly timeoutMs: number;
}

export type ToAnalyst =
  | ({ readonly type: 'setup'; readonly logLevel: LogLevel } & AnalystSetup)
  | { readonly type: 'analyse'; readonly id: string; readonly record: Pick<CallRecord, 'transcript'> };

export interface FromAnalyst {
  readonly type: 'analysed';
  readonly id: string;
  /** An {@link AnalystOutcome} as JSON: messages between processes would not keep every digit of its numbers. */
  readonly outcome: string;
}

/** As the agent file names it. */
export interface AnalystLlm {
  readonly provider: string;
  readonly model: string | undefined;
}
export type AnalystOutcome = Result<Analysed & AnalystLlm, AnalysisFailure & Partial<AnalystLlm>>;

/** The first message. */
export interface RecordsSetup {
  readonly type: 'setup';
  readonly logLevel: LogLevel;
  /** Path of an SQLite file, or the address of a PostgreSQL server. */
  readonly database: string;
  /** Folder in which lines of calls wait. */
  readonly spool: string;
  readonly mostSpoolBytes: number;
  /** Absent: records are kept for ever. */
  readonly keepMs?: number;
  /** The text of the price table. */
  readonly prices?: string;
  readonly afterCall: AfterCallVersions;
}

/** What the supervisor asks for those who ask it. The shapes of queries and answers are those of the store. */
export type RecordsQuestion =
  | { readonly kind: 'list'; readonly query: object }
  /** `tenant`: calls of others are not there. */
  | { readonly kind: 'get'; readonly id: string; readonly tenant?: string };

export type ToRecords =
  | RecordsSetup
  | { readonly type: 'ask'; readonly ask: number; readonly question: RecordsQuestion }
  | ({ readonly type: 'after_call' } & AfterCallVersions)
  /** So many calls of workers that are gone wait for another worker. */
  | { readonly type: 'moving'; readonly count: number };

export type FromRecords =
  | { readonly type: 'ready' }
  /** `value` is JSON, which keeps every digit; absent where the database does not answer. */
  | { readonly type: 'answer'; readonly ask: number; readonly value?: string }
  /** How many records were kept, and what was dropped for want of room, since the last such message; and what waits. */
  | {
      readonly type: 'counts';
      readonly kept: number;
      readonly dropped: number;
      readonly waiting: number;
      readonly bytes: number;
      /** For how long the oldest has waited. */
      readonly oldestForMs: number;
    };
