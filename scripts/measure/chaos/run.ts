/** One run: providers, service and callers, the faults one after the other, and what each of them did to the calls. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { newPrng } from '../../../shared/base/prng.ts';
import { audioFrame } from '../bench/client/client.ts';
import { machineUse } from '../bench/processes.ts';
import { loadVoices } from '../bench/client/speech.ts';
import { Distribution, type Summary } from '../bench/report/statistics.ts';
import { sampleRate } from './coded-audio.ts';
import { Crowd, type Totals } from './crowd.ts';
import { hangTimeoutMs, strike, type Struck } from './strike.ts';
import { plan, spaceAfter, type FaultName, type PlannedFault } from './faults.ts';
import { agentFile, ChaosProviders } from './providers.ts';
import { faultText, type FaultResult } from './fault-text.ts';
import { countRecords, recordsEnv, recordsMade, type RecordsCount } from './records.ts';
import { MemoryGroup } from './memory-group.ts';
import { ChaosService } from './service.ts';

export interface ChaosOptions {
  readonly calls: number;
  readonly seconds: number;
  readonly seed: number;
  readonly workers: number;
  readonly faults: readonly FaultName[];
  /** How long one stage of providers is at fault, in ms. */
  readonly providerMs: number;
  readonly logFile?: string | undefined;
  /** A model hears and speaks by itself. */
  readonly realtime?: boolean;
  readonly root: URL;
}

export interface ChaosResult {
  readonly options: ChaosOptions;
  readonly calm: Summary;
  readonly faults: readonly FaultResult[];
  readonly totals: Totals;
  readonly violations: readonly string[];
  readonly ownLateness: Summary;
  readonly complaints: ReadonlyMap<string, number>;
  readonly loadAverage: number;
  /** Processes that outlived a killed supervisor, and how long that was looked for; undefined when it was not killed. */
  readonly orphans: { readonly count: number; readonly afterMs: number } | undefined;
  readonly records: RecordsCount;
}

const settleMs = 5_000;
const leaveLimitMs = 5_000;
/** The process of records, at its low priority, brings into the database what has ended. */
const orphanLimitMs = 25_000;

export async function runChaos(
  options: ChaosOptions,
  log: (text: string) => void = () => undefined,
): Promise<ChaosResult> {
  const folder = mkdtempSync(join(tmpdir(), 'voice-chaos-'));
  const spoken = await loadVoices({ sampleRate, encoding: 'pcm16' }, undefined);
  const crowd = new Crowd({
    calls: options.calls,
    clips: spoken.clips.map((clip) => clip.map(audioFrame)),
    silence: spoken.silence.map(audioFrame),
    prng: newPrng(options.seed + 1),
    slackWords: options.realtime === true ? 1 : 0,
  });
  const providers = new ChaosProviders({ asked: (call, messages, how) => crowd.asked(call, messages, how) });
  let service: ChaosService | undefined;
  const memory = options.faults.includes('memory-limit') ? MemoryGroup.create() : undefined;
  const stop = (): void => service?.kill();
  process.once('exit', stop);
  try {
    writeFileSync(join(folder, 'agent.toml'), agentFile(await providers.start(), options));
    const clockFile = join(folder, 'clock');
    writeFileSync(clockFile, '0');
    const given = {
      root: options.root,
      workers: options.workers,
      logFile: options.logFile,
      fullDisk: options.faults.includes('log-full'),
      memory,
      env: {
        SVC_AGENT_FILE: join(folder, 'agent.toml'),
        SVC_MAX_SESSIONS: String(options.calls * 2),
        SVC_HANG_TIMEOUT: `${hangTimeoutMs}ms`,
        // Calls of a supervisor that was replaced go on there.
        SVC_DRAIN_TIMEOUT: '600s',
        CHAOS_CLOCK_FILE: clockFile,
        ...recordsEnv(folder),
        NODE_OPTIONS: `--import ${new URL('scripts/measure/chaos/clock-step.mjs', options.root).href}`,
      },
    };
    service = await ChaosService.start(given);
    const result = await withCalls(options, { crowd, providers, service, clockFile, log });
    // The next one finds what the dead worker left behind.
    stop();
    service = await ChaosService.start({ ...given, fullDisk: false, memory: undefined });
    await recordsMade(folder);
    const begun = crowd.callers.filter(({ started }) => started).map(({ id }) => id);
    return { ...result, records: countRecords(begun, { folder, root: options.root }) };
  } finally {
    crowd.stop();
    providers.close();
    stop();
    process.off('exit', stop);
    await removed(memory);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The kernel keeps the group until the last of its processes is gone. */
async function removed(memory: MemoryGroup | undefined): Promise<void> {
  for (let tries = 0; memory !== undefined && tries < 50; tries += 1) {
    if (memory.remove()) return;
    await sleep(100);
  }
}

interface Stage {
  readonly crowd: Crowd;
  readonly providers: ChaosProviders;
  readonly service: ChaosService;
  readonly clockFile: string;
  readonly log: (text: string) => void;
}

async function withCalls(options: ChaosOptions, stage: Stage): Promise<Omit<ChaosResult, 'records'>> {
  const { crowd, service, log } = stage;
  const prng = newPrng(options.seed);
  const schedule = plan(options.faults, { seconds: options.seconds, providerMs: options.providerMs, prng });
  await crowd.fill(service.address);
  // The cost of opening them is no measure of faults.
  crowd.lateness = new Distribution();
  await sleep(settleMs);
  const calm = crowd.lateness.summary();
  log(`${options.calls} calls are open; ${schedule.length} faults are planned\n`);
  const startAt = performance.now();
  const faults: FaultResult[] = [];
  for (const planned of schedule) {
    await sleep(Math.max(0, planned.atMs - (performance.now() - startAt)));
    const fault = await suffer(planned, { ...stage, providerMs: options.providerMs }, prng);
    faults.push(fault);
    log(`${faultText(fault)}\n`);
    await crowd.fill(service.address);
  }
  if (schedule.length === 0) await sleep(options.seconds * 1_000);
  const totals = crowd.totals();
  const loadAverage = machineUse().loadAverage;
  const orphans = options.faults.includes('supervisor-kill') ? await killSupervisor(stage) : undefined;
  if (orphans === undefined) {
    for (const caller of crowd.callers) caller.hangUp();
    service.signal('SIGTERM');
    await service.exitWithin(leaveLimitMs);
  }
  return {
    options,
    calm,
    faults,
    totals,
    violations: crowd.violations,
    ownLateness: crowd.ownLateness.summary(),
    complaints: service.complaints,
    loadAverage,
    orphans,
  };
}

async function suffer(
  planned: PlannedFault,
  stage: Stage & { readonly providerMs: number },
  prng: ReturnType<typeof newPrng>,
): Promise<FaultResult> {
  const { crowd } = stage;
  const open = crowd.stillOpen;
  const before = crowd.totals(open);
  const now = performance.now();
  crowd.lateness = new Distribution();
  stage.service.takenUpAt.length = 0;
  const struck = await strike(planned.name, { ...stage, prng });
  crowd.disturbed = struck.affected;
  for (const caller of open) caller.watchRecovery(now);
  await sleep(Math.max(0, now + spaceAfter(planned.name, stage.providerMs) - 1_000 - performance.now()));
  struck.heal();
  crowd.disturbed = new Set();
  const takenUp = new Distribution();
  for (const at of stage.service.takenUpAt) takenUp.add(at - now);
  return { ...judged(planned.name, { struck, open, crowd, before }), takenUp: takenUp.summary() };
}

function judged(
  name: FaultName,
  found: { struck: Struck; open: readonly Crowd['callers'][number][]; crowd: Crowd; before: Totals },
): Omit<FaultResult, 'takenUp'> {
  const { struck, open, crowd, before } = found;
  const recovery = new Distribution();
  const gaps = new Distribution();
  const silences = new Distribution();
  const firsts = new Distribution();
  const affected = open.filter((caller) => struck.affected.has(caller));
  const ended = (callers: readonly Crowd['callers'][number][]): number =>
    callers.filter(({ endedBy }) => endedBy !== undefined).length;
  let tooLong = 0;
  for (const { recoveredMs, longestGapMs, silence } of affected) {
    if (recoveredMs !== undefined) recovery.add(recoveredMs);
    gaps.add(longestGapMs);
    silences.add(silence.longestMs);
    firsts.add(silence.longestFirstMs);
    tooLong += silence.tooLong;
  }
  const inTime = affected.filter(({ recoveredMs = Infinity }) => recoveredMs <= struck.limitMs);
  const after = crowd.totals(open);
  const grown = (key: keyof Totals): number => after[key] - before[key];
  return {
    name,
    what: struck.what,
    affected: affected.length,
    endedAffected: ended(affected),
    endedOthers: ended(open) - ended(affected),
    recoveredInTime: affected.length === 0 ? 1 : inTime.length / affected.length,
    recovery: recovery.summary(),
    gaps: gaps.summary(),
    silences: silences.summary(),
    firstSounds: firsts.summary(),
    silencesTooLong: tooLong,
    othersLateness: crowd.lateness.summary(),
    did: {
      turns: grown('turns'),
      answered: grown('answered'),
      unanswered: grown('unanswered'),
      short: grown('short'),
      doubledMs: grown('doubledMs'),
      lostMs: grown('lostMs'),
      wordsDoubled: grown('wordsDoubled'),
      wordsLost: grown('wordsLost'),
      ended: grown('ended'),
    },
    inferenceAwayMs: struck.inferenceAwayMs(),
    fallback: struck.fallback(),
    ends: [...new Set(open.flatMap(({ endedBy }) => endedBy ?? []))],
  };
}

/**
 * Last of all: nothing of the service may be left. One supervisor that was replaced, and whose calls go on, is killed with the other.
 */
async function killSupervisor({ service }: Stage): Promise<ChaosResult['orphans']> {
  const since = performance.now();
  for (const pid of service.supervisors) process.kill(pid, 'SIGKILL');
  for (;;) {
    const count = service.left.length;
    const afterMs = performance.now() - since;
    if (count === 0 || afterMs > orphanLimitMs) return { count, afterMs };
    await sleep(50);
  }
}
