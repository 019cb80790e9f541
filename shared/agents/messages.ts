/** What the supervisor tells workers of the agents of a service that has many. The text of a version goes to a worker once. */
import type { AgentRef, AgentVersion } from './version.ts';

export interface AgentsForWorker {
  /** Versions that this worker does not have yet. */
  readonly versions: readonly AgentVersion[];
  /** The versions that new calls get. */
  readonly inForce: readonly AgentRef[];
  /** Hashes of those that running calls may need beside them. */
  readonly kept: readonly string[];
  /** Serves whoever no other agent does. */
  readonly fallback: AgentRef;
  readonly unknown: 'default' | 'refuse';
  /** Ids of agents whose calls are limited: for each of them the supervisor is asked. */
  readonly limited?: readonly string[];
  /** Ids of agents that metrics tell apart; absent: all of them. */
  readonly named?: readonly string[];
}

/** Other versions are in force from now on. */
export interface AgentsChanged extends AgentsForWorker {
  readonly type: 'agents.changed';
}

/** A call runs on this version. */
export interface AgentOfCall {
  readonly type: 'call.agent';
  readonly offer: number;
  readonly agent: AgentRef;
}

/** A call is to begin on this version of an agent whose calls are limited: may it? */
export interface AgentAsked {
  readonly type: 'agent.asked';
  readonly ask: number;
  readonly offer: number;
  readonly agent: AgentRef;
  /** The supervisor chose the agent, and has kept room for the call. */
  readonly isExpected: boolean;
}

export interface AgentGranted {
  readonly type: 'agent.granted';
  readonly ask: number;
  readonly isGranted: boolean;
}
