/** What webhooks are told of records: the beginning of a call, its end, and what was made of it afterwards. */
import { isFailedEnd } from '../../shared/calls/ends.ts';
import { eventBody, recordBody } from '../../shared/calls/webhooks/payload.ts';
import type { CallRecord, RecordedAgent } from '../../shared/calls/record.ts';
import type { CallEventName } from '../../shared/calls/webhooks/events.ts';
import type { RecordHooks, StartedCall } from '../call-store.ts';
import type { Webhooks } from './webhooks.ts';

export class WebhookHooks implements RecordHooks {
  readonly #webhooks: Pick<Webhooks, 'tell'>;
  readonly #recordUrlOf: (agent: RecordedAgent) => string | undefined;

  constructor(webhooks: Pick<Webhooks, 'tell'>, recordUrlOf: (agent: RecordedAgent) => string | undefined) {
    this.#webhooks = webhooks;
    this.#recordUrlOf = recordUrlOf;
  }

  readonly started = (call: StartedCall): Promise<void> => {
    const { id, callId, agent, direction, transport, from, to, startedAtMs: at } = call;
    const numbers = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
    const startedAt = new Date(at).toISOString();
    const data = {
      id,
      call_id: callId,
      agent,
      direction,
      transport,
      ...numbers,
      started_at: startedAt,
    };
    this.#webhooks.tell({
      agent,
      call: id,
      type: 'call.started',
      body: eventBody({ type: 'call.started', at, data }),
    });
    return Promise.resolve();
  };

  /** Before the record is there for good: what is told and not kept will be kept, and told again under the same id. */
  readonly within = (record: CallRecord): Promise<void> => {
    this.#tell('call.ended', record);
    if (isFailedEnd(record.end.code)) this.#tell('call.failed', record);
    return Promise.resolve();
  };

  analyzed(record: CallRecord): void {
    this.#tell('call.analyzed', record);
  }

  #tell(type: CallEventName, record: CallRecord): void {
    const { agent } = record;
    const at = Date.parse(record.ended_at);
    const body = recordBody(record, { type, at, recordUrl: this.#recordUrlOf(agent) });
    this.#webhooks.tell({ agent, call: record.id, type, body });
  }
}
