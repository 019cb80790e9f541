/** The account of one call for its record, through all agents that have it. */
import type { ChosenAgent } from '../../shared/agents/choose.ts';
import type { Millis } from '../../shared/base/units.ts';
import { present } from '../../shared/base/present.ts';
import type { CallAccount, CallOver } from './account.ts';
import type { AdmittedStart } from './admission.ts';
import type { AgentServices } from './services.ts';

interface Opened {
  readonly startedAt: Millis;
  readonly silentMs?: Millis;
  /** How the call came to its agent, in a service of many. */
  readonly chosen?: ChosenAgent | undefined;
}

export class RecordOfCall {
  /** Names the record, where one is kept. */
  id: string | undefined;
  #account: CallAccount | undefined;

  get account(): CallAccount | undefined {
    return this.#account;
  }

  /** The record that a call begins, or that another worker began. */
  name({ accounts }: Pick<AgentServices, 'accounts'>): { readonly recordId?: string } {
    this.id ??= accounts?.newRecordId();
    return this.id === undefined ? {} : { recordId: this.id };
  }

  /** An agent has the call from here on. */
  open(
    { accounts }: Pick<AgentServices, 'accounts'>,
    start: AdmittedStart,
    { startedAt, silentMs, chosen }: Opened,
  ): void {
    const { recordId } = start;
    if (recordId === undefined) return;
    const more = present({ silentMs, insteadOf: chosen?.insteadOf });
    this.#account = accounts?.open({ start: { ...start, recordId }, startedAt, ...more });
  }

  over(over: CallOver, now: Millis): void {
    this.#account?.over(over, now);
  }
}
