/** What follows on records, by `[after_call]` of the agent files. Nothing is opened before something is asked for. */
import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { agentsVariables } from '../shared/agents/variables.ts';
import type { AfterCallVersions, RecordsSetup } from '../shared/calls/messages.ts';
import type { PriceTable } from '../shared/calls/prices.ts';
import type { CallRecord } from '../shared/calls/record.ts';
import { analysesFolder, versionsFolder, webhooksFolder } from '../shared/calls/spool.ts';
import { systemClock, systemWallClock } from '../shared/runtime/clock.ts';
import { errorFields, type Log } from '../shared/runtime/log.ts';
import { KeptVersions } from './after-call-versions.ts';
import { Analyses, type AnalysisNews } from './analysis/analyses.ts';
import { AnalystProcess } from './analysis/analyst-process.ts';
import type { CallStore, RecordHooks, StartedCall } from './call-store.ts';
import { WebhookHooks } from './webhooks/webhook-hooks.ts';
import { Webhooks, type WebhookNews } from './webhooks/webhooks.ts';

export interface AfterCallSite {
  readonly log: Log;
  readonly store: () => Promise<CallStore>;
  readonly prices: PriceTable | undefined;
}

interface Opened {
  readonly versions: KeptVersions;
  readonly webhooks: WebhookHooks;
  readonly analyses: Analyses;
  readonly close: () => Promise<void>;
}

export class AfterCall implements RecordHooks {
  readonly #setup: Pick<RecordsSetup, 'spool' | 'logLevel'>;
  readonly #site: AfterCallSite;
  #opened: Opened | undefined;

  constructor(setup: Pick<RecordsSetup, 'spool' | 'logLevel' | 'afterCall'>, site: AfterCallSite) {
    this.#setup = setup;
    this.#site = site;
    this.know(setup.afterCall);
  }

  /** Agents have other versions from now on. */
  know(told: AfterCallVersions): void {
    // Events and analyses of an earlier process may wait.
    if (told.versions.length > 0 || existsSync(join(this.#setup.spool, versionsFolder)))
      this.#opened ??= open(this.#setup, this.#site);
    try {
      this.#opened?.versions.know(told);
    } catch (error) {
      this.#site.log.error(errorFields(error), versionsNotKept);
    }
  }

  readonly started = async (call: StartedCall): Promise<void> => {
    await this.#opened?.webhooks.started(call);
  };

  readonly within = async (record: CallRecord): Promise<void> => {
    await this.#opened?.webhooks.within(record);
    await this.#opened?.analyses.within(record);
  };

  readonly kept = (): void => this.#opened?.analyses.kept();

  /** Deletes what nothing can need any more. */
  tidy(): void {
    this.#opened?.versions.tidy();
  }

  async close(): Promise<void> {
    await this.#opened?.close();
  }
}

const versionsNotKept = 'the plan for what follows a call cannot be kept';

function open({ spool, logLevel }: Pick<RecordsSetup, 'spool' | 'logLevel'>, site: AfterCallSite): Opened {
  const { log, store, prices } = site;
  const clocks = { clock: systemClock, wallClock: systemWallClock };
  const versions = new KeptVersions({
    dir: join(spool, versionsFolder),
    env: process.env,
    secretsDir: process.env[agentsVariables.secretsDir.name],
    wallClock: systemWallClock,
  });
  const webhooks = new Webhooks({
    ...clocks,
    dir: join(spool, webhooksFolder),
    endpointsOf: (agent) => versions.endpointsOf(agent),
    random: () => randomInt(2 ** 32) / 2 ** 32,
    told: (news) => tell(log, news),
  });
  const hooks = new WebhookHooks(webhooks, (agent) => versions.of(agent)?.recordUrl);
  const analyst = new AnalystProcess({
    setupOf: (agent) => versions.of(agent)?.analysis,
    logLevel,
    clock: systemClock,
  });
  const analyses = new Analyses({
    ...clocks,
    dir: join(spool, analysesFolder),
    isAsked: (agent) => versions.of(agent)?.analysis !== undefined,
    store,
    prices,
    analyse: async (record) => await analyst.analyse(record),
    analyzed: (record) => hooks.analyzed(record),
    told: (news) => tellOfAnalysis(log, news),
  });
  const close = async (): Promise<void> => {
    const closed = analyses.close();
    analyst.close();
    await closed;
    await webhooks.close();
  };
  return { versions, webhooks: hooks, analyses, close };
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
