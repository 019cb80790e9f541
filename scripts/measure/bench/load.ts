/**
 * The load process: holds the calls of a run in real time and measures what their callers see. One ticker with absolute
 * deadlines serves all calls; calls send at different phases of the 20 ms.
 */
import { newPrng } from '../../../shared/base/prng.ts';
import { wires, type TransportName } from './client/wire.ts';
import { Caller, newFindings, type Findings, type Incident } from './client/caller.ts';
import { loadVoices, type CallFormat } from './client/speech.ts';
import { Distribution, frameMs, type Stall, type Summary } from './report/statistics.ts';

export interface LoadOrder {
  readonly type: 'open';
  readonly address: { readonly host: string; readonly port: number };
  readonly calls: number;
  readonly callsPerSecond: number;
  readonly format: CallFormat;
  readonly transport: TransportName;
  readonly assets: string | undefined;
}

export interface LoadResult {
  readonly type: 'result';
  readonly open: number;
  readonly failures: readonly string[];
  readonly lateness: Summary;
  readonly gaps: Summary;
  readonly underruns: number;
  /** Times count from the beginning of the window. */
  readonly stalls: readonly Stall[];
  readonly response: Summary;
  readonly clear: Summary;
  /** How late this process's own ticker ran: the part of lateness that is not the service's. */
  readonly ticker: Summary;
  readonly counts: Readonly<Record<string, number>>;
  /** The first few; times as those of stalls. */
  readonly incidents: readonly Incident[];
}

export type LoadMessage =
  | { readonly type: 'loaded'; readonly source: string }
  | { readonly type: 'opened'; readonly open: number }
  | LoadResult
  | { readonly type: 'closed' };

const tickMs = 2;
const phases = frameMs / tickMs;
/** A stalled process sends at most this many frames at once to get back to real time. */
const catchUpTicks = 50;

let findings: Findings = newFindings();
let ticker = new Distribution();
let beganAt = 0;
/** The same callers do the same things in every run, as far as the service lets them. */
const prng = newPrng(20);
const failures: string[] = [];
const callers: (Caller | undefined)[] = [];

const tell = (message: LoadMessage): void => void process.send?.(message);

function run(): void {
  const origin = performance.now();
  let index = 0;
  const onTick = (): void => {
    const now = performance.now();
    ticker.add(now - (origin + index * tickMs));
    const target = Math.floor((now - origin) / tickMs);
    index = Math.max(index, target - catchUpTicks);
    for (; index <= target; index += 1) {
      for (let at = index % phases; at < callers.length; at += phases) callers[at]?.tick(now);
    }
    setTimeout(onTick, Math.max(0, origin + index * tickMs - performance.now()));
  };
  setTimeout(onTick, 0);
}

/** Opens calls, beside those that are open already. */
async function open(order: LoadOrder): Promise<void> {
  const voices = await loadVoices(order.format, order.assets);
  const wire = wires[order.transport];
  const clips = voices.clips.map((clip) => clip.map((bytes) => wire.audio(bytes)));
  const silence = voices.silence.map((bytes) => wire.audio(bytes));
  tell({ type: 'loaded', source: voices.source });
  if (callers.length === 0) run();
  for (let count = 0; count < order.calls; count += 1) {
    const call = callers.length;
    const callId = `CA${String(call).padStart(32, '0')}`;
    const head = await wire.head(order.address, callId);
    const caller = new Caller({
      address: order.address,
      start: { sample_rate: order.format.sampleRate, encoding: order.format.encoding },
      wire,
      head,
      callId,
      clips,
      silence,
      findings: () => findings,
      random: () => prng.next(),
      failed: (reason) => {
        failures.push(reason);
        callers[call] = undefined;
        caller.destroy();
      },
    });
    callers.push(caller);
    await new Promise((resolve) => setTimeout(resolve, 1000 / order.callsPerSecond));
  }
  tell({ type: 'opened', open: openCalls() });
}

const openCalls = (): number => callers.filter((caller) => caller?.isOpen === true).length;

function result(): LoadResult {
  const { frames, response, clear, incidents, ...counts } = findings;
  return {
    type: 'result',
    open: openCalls(),
    failures,
    lateness: frames.lateness.summary(),
    gaps: frames.gaps.summary(),
    underruns: frames.underruns,
    stalls: frames.stalls.map((stall) => ({ ...stall, atMs: stall.atMs - beganAt })),
    response: response.summary(),
    clear: clear.summary(),
    ticker: ticker.summary(),
    counts,
    incidents: incidents.map((one) => ({ ...one, atMs: one.atMs - beganAt })),
  };
}

async function close(): Promise<void> {
  for (const caller of callers) caller?.hangUp();
  await new Promise((resolve) => setTimeout(resolve, 500));
  for (const caller of callers) caller?.destroy();
  tell({ type: 'closed' });
}

process.on('message', (order: LoadOrder | 'begin' | 'end' | 'close') => {
  if (order === 'begin') {
    findings = newFindings();
    beganAt = performance.now();
    ticker = new Distribution();
  } else if (order === 'end') tell(result());
  else if (order === 'close') void close();
  else void open(order);
});
process.on('disconnect', () => process.exit(0));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => undefined);
