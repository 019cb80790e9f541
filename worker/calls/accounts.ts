/** The accounts of this worker's calls: who the call is, and where its facts go. */
import { randomUUID } from 'node:crypto';
import type { AgentDefinition } from '../../shared/config/agent-file.ts';
import { redactionOf } from '../../shared/calls/privacy/redaction.ts';
import { chosenKeys, readChosen } from '../../shared/agents/chosen.ts';
import type { CallFact } from '../../shared/calls/facts.ts';
import { tenantOf } from '../../shared/agents/version.ts';
import { present } from '../../shared/base/present.ts';
import { recordingName } from '../../shared/recording/layout.ts';
import { directionOf, screeningKey } from '../../shared/telephony/call-control.ts';
import { carrierKeys } from '../../shared/telephony/twilio/protocol.ts';
import type { Millis } from '../../shared/base/units.ts';
import type { Clock, WallClock } from '../../shared/runtime/clock.ts';
import { errorFields, type Log } from '../../shared/runtime/log.ts';
import type { WorkerMetrics } from '../../shared/runtime/metrics.ts';
import { nameOfProcess, type ProcessName } from '../../shared/runtime/process-name.ts';
import { callerOf, saidOf, signedOf, tenantOfCall } from '../agent-link/caller-identity.ts';
import type { AccountedCall, Accounts, CallAccount } from '../call/account.ts';
import type { TraceOf } from '../call/trace.ts';
import type { ProviderNote } from '../stages/provider-note.ts';
import { CallFacts, type TextRedaction, type Untimed } from './call-facts.ts';
import { SpoolWriter, type SpoolDisk } from './spool-writer.ts';
import { appendFile, rename, utimes } from 'node:fs';
import { join } from 'node:path';
import { spoolFolders } from '../../shared/calls/spool.ts';

/** The folder of the spool as workers write to it. */
const told =
  (done: (code?: string) => void) =>
  (error: NodeJS.ErrnoException | null): void => {
    if (error === null) done();
    else done(error.code ?? 'unknown');
  };

const spoolDisk = (folder: string): SpoolDisk => ({
  append: (name, text, done) =>
    appendFile(join(folder, spoolFolders.open, name), text, { mode: 0o600 }, told(done)),
  touch: (name) => {
    const now = new Date();
    utimes(join(folder, spoolFolders.open, name), now, now, () => undefined);
  },
  end: (name, done) =>
    rename(join(folder, spoolFolders.open, name), join(folder, spoolFolders.ended, name), told(done)),
});

export interface CallAccountsOptions {
  readonly spool: string;
  readonly showsNumbers: boolean;
  readonly clock: Clock;
  readonly wallClock: WallClock;
  readonly log: Log;
  readonly metrics: Pick<WorkerMetrics, 'callFactsLost'>;
  readonly traceOf: TraceOf | undefined;
  /** What names the call in which the present code runs. */
  readonly currentCall: () => object | undefined;
}

const redacted = (
  metadata: Readonly<Record<string, string>>,
  redaction: TextRedaction,
): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(metadata).map(([key, value]) => [key, redaction.text(value)]));

/** A full disk refuses every second, and may be the one that has to hold the log. */
const tellAgainMs: Millis = 60_000;

/** A process of whose start the system says nothing. */
const named = (pid: number): ProcessName => nameOfProcess(pid) ?? { pid, since: '' };

/** An agent whose calls are kept account of. */
export interface AccountedAgent {
  readonly definition: AgentDefinition;
  /** Its name, with that of its tenant. */
  readonly id: string;
  /** Tells versions of it apart. */
  readonly version: string;
}

export class CallAccounts {
  readonly #options: CallAccountsOptions;
  readonly #spool: SpoolWriter;
  readonly #calls = new WeakMap<object, CallFacts>();
  readonly #worker = { ...named(process.pid), parent: named(process.ppid) };
  #toldAt: Millis = -Infinity;

  constructor(options: CallAccountsOptions) {
    this.#options = options;
    const { spool: folder, clock, metrics } = options;
    metrics.callFactsLost.inc({ what: 'write' }, 0);
    metrics.callFactsLost.inc({ what: 'room' }, 0);
    this.#spool = new SpoolWriter({
      disk: spoolDisk(folder),
      clock,
      failed: (code) => this.#failed(code),
      leftOut: () => metrics.callFactsLost.inc({ what: 'room' }),
    });
  }

  /** `agent` is absent for calls that end before they have one. */
  of(agent?: AccountedAgent): Accounts {
    const models = agent === undefined ? new Map<string, string>() : modelsOf(agent.definition);
    return { newRecordId: randomUUID, open: (call) => this.#open(call, agent, models) };
  }

  #open(
    call: AccountedCall,
    agent: AccountedAgent | undefined,
    models: ReadonlyMap<string, string>,
  ): CallAccount {
    const { clock, currentCall } = this.#options;
    const { start, startedAt, silentMs } = call;
    const { recordId } = start;
    const redaction = redactionOf(agent?.definition ?? {});
    const facts = new CallFacts({
      startedAt,
      redaction,
      modelOf: (stage, provider) => models.get(`${stage} ${provider}`),
      write: (fact, how) => this.#spool.write(recordId, fact, how),
      end: (fact) => this.#spool.end(recordId, fact),
    });
    const scope = currentCall();
    if (scope !== undefined) this.#calls.set(scope, facts);
    const now = clock.now();
    const silent = silentMs === undefined ? {} : { silent: Math.round(silentMs) };
    const head = this.#head(call, { agent, redaction }, now);
    facts.begin([head, { t: 'worker', ...this.#worker, ...silent }], now);
    return facts;
  }

  /** A provider was asked, failed or counted, in the call that runs at present. */
  note(note: ProviderNote): void {
    const { currentCall, clock, log } = this.#options;
    const call = currentCall();
    try {
      if (call !== undefined) this.#calls.get(call)?.note(note, clock.now());
    } catch (error) {
      log.error(errorFields(error), 'the usage of a call is not counted');
    }
  }

  async close(): Promise<void> {
    await this.#spool.close();
  }

  /** The agent that the call is handed to writes it again, and another worker: the last holds, but for when the call began. */
  #head(
    { start, startedAt, insteadOf }: AccountedCall,
    { agent, redaction }: { readonly agent: AccountedAgent | undefined; readonly redaction: TextRedaction },
    now: Millis,
  ): Untimed<Extract<CallFact, { t: 'call' }>> {
    const { showsNumbers, wallClock, traceOf } = this.#options;
    const recording = agent?.definition.recording;
    const { recordId, callId, sessionId, route, metadata } = start;
    const { from, to, carrier_call_id: carrierCall } = callerOf(start, { showsNumbers }) ?? {};
    const token = signedOf(metadata)?.meta ?? {};
    const trace = traceOf?.(start);
    const ofAgent = agent && tenantOf(agent.id);
    const tenant = tenantOfCall(agent?.id, metadata);
    const { [screeningKey]: _, ...client } = saidOf(metadata) ?? {};
    return {
      t: 'call',
      v: 1,
      id: recordId,
      call: callId,
      session: sessionId,
      agent: agent?.id ?? redaction.text(askedFor(metadata)),
      direction: directionOf(metadata),
      transport: metadata[carrierKeys.transport] ?? 'websocket',
      token: redacted(token, redaction),
      client: redacted(client, redaction),
      started: Math.round(wallClock.now() - (now - startedAt)),
      ...present({ insteadOf, tenant, version: agent?.version }),
      ...(agent?.definition.realtime !== undefined && { realtime: true as const }),
      ...(route !== undefined && { route }),
      ...(from !== undefined && { from }),
      ...(to !== undefined && { to }),
      ...(carrierCall !== undefined && { carrierCall }),
      ...(trace?.isSampled === true && { trace: trace.traceId }),
      ...(recording !== undefined && {
        recording: recordingName(callId, ofAgent),
        transcript: recording.transcript,
        facts: recording.facts,
      }),
    };
  }

  #failed(code: string): void {
    const { metrics, log, clock, spool: folder } = this.#options;
    metrics.callFactsLost.inc({ what: 'write' });
    if (clock.now() - this.#toldAt < tellAgainMs) return;
    this.#toldAt = clock.now();
    log.warn({ code, folder }, 'facts of calls could not be written; they wait');
  }
}

/** The agent that was chosen for a call or that its client named, as far as anybody said. */
const askedFor = (metadata: AccountedCall['start']['metadata']): string =>
  readChosen(metadata[chosenKeys.signed] ?? '')?.id ?? metadata['agent'] ?? '';

/** The models that the agent file names, on which prices depend: `llm llm_chat` → `gpt-4.1`. A provider that chooses by itself has none. */
function modelsOf({
  stt,
  llm,
  tts,
  realtime,
}: Pick<AgentDefinition, 'stt' | 'llm' | 'tts' | 'realtime'>): ReadonlyMap<string, string> {
  const models = new Map<string, string>();
  const note = (
    stage: string,
    { provider, options }: { readonly provider: string; readonly options: object },
  ): void => {
    const model: unknown = Reflect.get(options, 'model');
    if (typeof model === 'string') models.set(`${stage} ${provider}`, model);
  };
  for (const [stage, definition] of Object.entries({ stt, llm, tts })) {
    // Both may be the same provider with two models; the first one is used most.
    if (definition?.secondary !== undefined) note(stage, definition.secondary);
    if (definition !== undefined) note(stage, definition);
  }
  if (realtime !== undefined) note('realtime', realtime);
  return models;
}
