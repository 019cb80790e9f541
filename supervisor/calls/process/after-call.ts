/** What follows on records, by `[after_call]` of the agent files. With nothing asked for nothing is there. */
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import type { RecordsSetup } from '../../../shared/calls/messages.ts';
import { webhooksFolder } from '../../../shared/calls/spool.ts';
import { systemClock, systemWallClock } from '../../../shared/runtime/clock.ts';
import { errorFields, type Log } from '../../../shared/runtime/log.ts';
import type { RecordHooks } from './call-store.ts';
import { WebhookHooks } from './webhooks/webhook-hooks.ts';
import { Webhooks, type WebhookNews } from './webhooks/webhooks.ts';

export interface AfterCall {
  readonly hooks: readonly RecordHooks[];
  readonly close: () => Promise<void>;
}

export function openAfterCall({ spool, afterCall }: RecordsSetup, log: Log): AfterCall {
  if (afterCall === undefined) return { hooks: [], close: () => Promise.resolve() };
  const webhooks = new Webhooks({
    dir: join(spool, webhooksFolder),
    endpoints: afterCall.endpoints,
    clock: systemClock,
    wallClock: systemWallClock,
    random: () => randomInt(2 ** 32) / 2 ** 32,
    told: (news) => tell(log, news),
  });
  const hooks = new WebhookHooks(webhooks, new Map(Object.entries(afterCall.recordUrls)));
  return { hooks: [hooks], close: () => webhooks.close() };
}

function tell(log: Log, news: WebhookNews): void {
  if (news.type === 'failed') {
    log.error(errorFields(news.error), 'webhooks cannot be kept or sent');
    return;
  }
  const { type, call, host, attempts, last } = news.event;
  const fields = { event: type, call, host, attempts, ...(last !== undefined && { answer: last.answer }) };
  switch (news.type) {
    case 'delivered':
      log.debug(fields, 'an event was delivered');
      return;
    case 'again':
      log.warn(fields, 'an event was not taken, and is sent again later');
      return;
    case 'given_up':
      log.error(fields, 'an event was given up; svc-supervisor webhooks replay sends it again');
      return;
    case 'crowded_out':
      log.error(fields, 'an event was given up because too many wait');
      return;
    case 'disabled':
      log.error(fields, 'an endpoint wants no more events; svc-supervisor webhooks replay enables it again');
  }
}
