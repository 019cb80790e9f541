/** What follows on records, by `[after_call]` of the agent files. With nothing asked for nothing is there. */
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import type { AfterCallSetup, RecordsSetup } from '../../../shared/calls/messages.ts';
import { analysesFolder, webhooksFolder } from '../../../shared/calls/spool.ts';
import { systemClock, systemWallClock } from '../../../shared/runtime/clock.ts';
import { errorFields, type Log } from '../../../shared/runtime/log.ts';
import { Analyses, type AnalysisNews } from './analysis/analyses.ts';
import { AnalystProcess } from './analysis/analyst-process.ts';
import type { CallStore, RecordHooks } from './call-store.ts';
import { WebhookHooks } from './webhooks/webhook-hooks.ts';
import { Webhooks, type WebhookNews } from './webhooks/webhooks.ts';

export interface AfterCall {
  readonly hooks: readonly RecordHooks[];
  readonly close: () => Promise<void>;
}

export interface AfterCallSite {
  readonly log: Log;
  readonly store: () => Promise<CallStore>;
}

export function openAfterCall({ spool, afterCall, logLevel }: RecordsSetup, site: AfterCallSite): AfterCall {
  if (afterCall === undefined) return { hooks: [], close: () => Promise.resolve() };
  const webhooks = new Webhooks({
    dir: join(spool, webhooksFolder),
    endpoints: afterCall.endpoints,
    clock: systemClock,
    wallClock: systemWallClock,
    random: () => randomInt(2 ** 32) / 2 ** 32,
    told: (news) => tell(site.log, news),
  });
  const hooks = new WebhookHooks(webhooks, new Map(Object.entries(afterCall.recordUrls)));
  const analyses = openAnalyses(afterCall, {
    ...site,
    dir: join(spool, analysesFolder),
    logLevel,
    analyzed: (record) => hooks.analyzed(record),
  });
  return {
    hooks: [hooks, ...(analyses?.hooks ?? [])],
    close: async () => {
      await analyses?.close();
      await webhooks.close();
    },
  };
}

function openAnalyses(
  { analyses }: AfterCallSetup,
  site: AfterCallSite & { readonly dir: string } & Pick<RecordsSetup, 'logLevel'> &
    Pick<ConstructorParameters<typeof Analyses>[0], 'analyzed'>,
): AfterCall | undefined {
  const agents = new Set(Object.keys(analyses));
  if (agents.size === 0) return undefined;
  const { dir, store, logLevel, analyzed, log } = site;
  const analyst = new AnalystProcess({ analyses, logLevel, clock: systemClock });
  const queue = new Analyses({
    dir,
    agents,
    store,
    analyse: async (record) => await analyst.analyse(record),
    analyzed,
    clock: systemClock,
    wallClock: systemWallClock,
    told: (news) => tellOfAnalysis(log, news),
  });
  return {
    hooks: [queue],
    close: async () => {
      const closed = queue.close();
      analyst.close();
      await closed;
    },
  };
}

function tellOfAnalysis(log: Log, news: AnalysisNews): void {
  switch (news.type) {
    case 'analysed':
      log.debug({ call: news.call }, 'a call was analysed');
      return;
    case 'again':
      log.warn({ call: news.call, reason: news.reason }, 'a call could not be analysed, and is tried again');
      return;
    case 'given_up':
      log.error({ call: news.call, reason: news.reason }, 'a call could not be analysed');
      return;
    case 'crowded_out':
      log.error({ record: news.call }, 'a call is not analysed because too many wait');
      return;
    case 'failed':
      log.error(errorFields(news.error), 'analyses of calls wait');
  }
}

function tell(log: Log, news: WebhookNews): void {
  if (news.type === 'failed') {
    log.error(errorFields(news.error), 'webhooks cannot be kept or sent');
    return;
  }
  const { type, call, host, attempts, last } = news.event;
  const fields = {
    event: type,
    record: call,
    host,
    attempts,
    ...(last !== undefined && { answer: last.answer }),
  };
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
