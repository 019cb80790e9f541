/**
 * A person who speaks to the caller in the agent's place (docs/monitoring-calls.md). The agent is silent meanwhile: turns of the caller end
 * and are kept, and nobody answers them here. How it begins and ends stands in dialogue/takeover.ts.
 */
import { maybe, record, text, time } from '../../shared/base/codec.ts';
import type { Millis } from '../../shared/base/units.ts';

export interface Operator {
  /** `coming`: the agent comes to the end of its sentence first. `speaking`: the caller is the operator's. */
  phase: 'none' | 'coming' | 'speaking';
  /** `coming`: the agent is cut at this time at the latest. `speaking`: the operator is away, and the agent goes on at this time. */
  by: Millis | undefined;
}

/** What of a call's state tells. */
interface Led {
  readonly operator: Operator;
}

export const newOperator = (): Operator => ({ phase: 'none', by: undefined });

/** Nobody speaks in the agent's place, or is about to. */
export const agentLeads = ({ operator }: Led): boolean => operator.phase === 'none';

/** What the caller says is said to somebody else. */
export const operatorLeads = ({ operator }: Led): boolean => operator.phase === 'speaking';

export const operatorDeadline = ({ operator }: Led): Millis | undefined => operator.by;

export const operatorCodec = record<Operator>({ phase: text(), by: maybe(time) });
