/** The account of one call, as its runner keeps it: open as soon as the call has an agent, and at the latest when it ends. */
import { present } from '../../shared/base/present.ts';
import type { CallStart } from '../transports/transport.ts';
import type { CallAgent } from '../agents/call-agent.ts';
import type { AccountedCall, CallAccount, CallOver } from './account.ts';
import type { AdmittedStart } from './admission.ts';
import type { CallServices, WorkerServices } from './services.ts';

export class OwnAccount {
  readonly #worker: WorkerServices;
  /** Names the record of the call, where one is kept. The same in whichever worker. */
  recordId: string | undefined;
  #asked: CallStart | undefined;
  #open: CallAccount | undefined;

  constructor(worker: WorkerServices) {
    this.#worker = worker;
  }

  /** Follows the call; undefined where no record is kept. */
  get observer(): CallAccount | undefined {
    return this.#open;
  }

  /** A client or carrier has asked for the call; it has no agent yet. */
  asked(start: CallStart): void {
    this.#asked = start;
  }

  /** The start of the call with the name of its record. */
  named<S extends CallStart>(start: S, { accounts }: Pick<CallServices, 'accounts'>): S {
    this.recordId ??= accounts?.newRecordId();
    return { ...start, ...present({ recordId: this.recordId }) };
  }

  /** Of a call that is not admitted. */
  unadmitted(start: CallStart): AdmittedStart {
    const { newSessionId, wallNow } = this.#worker;
    return { ...start, sessionId: start.metadata['session_id'] ?? newSessionId(), at: wallNow() };
  }

  /** Of the agent that has the call from now on. */
  open(start: AdmittedStart, { agent, ...opening }: Opening): void {
    const { chosen } = agent.called;
    const call = { ...opening, ...present({ insteadOf: chosen?.insteadOf }) };
    this.#begin(start, agent.services, call);
  }

  over(over: CallOver): void {
    const { accounts, clock } = this.#worker;
    const now = clock.now();
    // The agent that it named is not there, or was not equipped in time.
    if (this.#open === undefined && this.#asked !== undefined)
      this.#begin(this.unadmitted(this.named(this.#asked, { accounts })), { accounts }, { startedAt: now });
    this.#open?.over(over, now);
  }

  #begin(
    start: AdmittedStart,
    { accounts }: Pick<CallServices, 'accounts'>,
    call: Omit<AccountedCall, 'start'>,
  ): void {
    const { recordId } = start;
    if (recordId !== undefined) this.#open = accounts?.open({ start: { ...start, recordId }, ...call });
  }
}

interface Opening extends Omit<AccountedCall, 'start' | 'insteadOf'> {
  readonly agent: CallAgent;
}
