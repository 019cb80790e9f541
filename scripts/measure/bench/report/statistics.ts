/**
 * The arithmetic of the benchmark: distributions of times in constant memory, a client's view of paced frames, and quantiles
 * of Prometheus histograms. Pure: times are arguments, in milliseconds.
 */

const binMs = 0.1;
const lowestMs = -200;
const highestMs = 20_000;
const binCount = Math.round((highestMs - lowestMs) / binMs);

export interface Summary {
  readonly count: number;
  readonly meanMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** A distribution in bins of 0.1 ms from -200 ms to 20 s; what lies outside counts in the outermost bins. */
export class Distribution {
  readonly #bins = new Uint32Array(binCount);
  #count = 0;
  #sum = 0;
  #max = Number.NEGATIVE_INFINITY;

  add(valueMs: number): void {
    const bin = Math.floor((valueMs - lowestMs) / binMs);
    const inside = Math.min(binCount - 1, Math.max(0, bin));
    this.#bins[inside] = (this.#bins[inside] ?? 0) + 1;
    this.#count += 1;
    this.#sum += valueMs;
    this.#max = Math.max(this.#max, valueMs);
  }

  get count(): number {
    return this.#count;
  }

  /** Smallest value, to 0.1 ms, that at least this share of the values do not exceed; NaN when there are none. */
  quantile(share: number): number {
    if (this.#count === 0) return Number.NaN;
    const rank = Math.max(1, Math.ceil(share * this.#count));
    let seen = 0;
    for (let bin = 0; bin < binCount; bin += 1) {
      seen += this.#bins[bin] ?? 0;
      if (seen >= rank) return Math.min(this.#max, lowestMs + (bin + 1) * binMs);
    }
    return this.#max;
  }

  summary(): Summary {
    return {
      count: this.#count,
      meanMs: this.#count === 0 ? Number.NaN : this.#sum / this.#count,
      p50Ms: this.quantile(0.5),
      p99Ms: this.quantile(0.99),
      maxMs: this.#count === 0 ? Number.NaN : this.#max,
    };
  }
}

export interface FrameFindings {
  /** Arrival of a frame against the schedule that the first frame of its stretch began; negative is early. */
  readonly lateness: Distribution;
  /** Time between two frames of a stretch. */
  readonly gaps: Distribution;
  /** Times a client with the prebuffer ran dry inside a response. */
  underruns: number;
  /** When they happened, close ones together; the first few. */
  readonly stalls: Stall[];
}

export interface Stall {
  /** Time of the first of them, on the clock of the frames. */
  readonly atMs: number;
  calls: number;
  worstMs: number;
}

/** Under-runs within this time belong together. */
const sameStallMs = 500;
const maxStalls = 20;

function noteStall(stalls: Stall[], now: number, lateMs: number): void {
  const last = stalls.at(-1);
  if (last !== undefined && now - last.atMs < sameStallMs) {
    last.calls += 1;
    last.worstMs = Math.max(last.worstMs, lateMs);
  } else if (stalls.length < maxStalls) stalls.push({ atMs: now, calls: 1, worstMs: lateMs });
}

export const newFrameFindings = (): FrameFindings => ({
  lateness: new Distribution(),
  gaps: new Distribution(),
  underruns: 0,
  stalls: [],
});

/** Length of a frame, and what a client collects before it plays. */
export const frameMs = 20;
export const prebufferMs = 60;

/**
 * Watches the frames of one call as its client plays them: from the first frame of a stretch on, frame k is due k times 20 ms
 * later, and playback that started a prebuffer later runs dry when a frame is later than that. After it ran dry it starts
 * anew with the frame that came, so one stall counts once.
 */
export class FrameWatch {
  #startAt: number | undefined;
  #lastAt = 0;
  #frames = 0;

  /** When everything that came in this stretch has been played; undefined outside of a stretch. */
  get playedAt(): number | undefined {
    return this.#startAt === undefined ? undefined : this.#startAt + prebufferMs + this.#frames * frameMs;
  }

  /** @param options.mayPause the service may have held its output on purpose, so a hole is not its failure. */
  frame(now: number, options: { findings: FrameFindings; mayPause: boolean }): void {
    if (this.#startAt === undefined) {
      this.#begin(now);
      return;
    }
    const lateMs = now - (this.#startAt + this.#frames * frameMs);
    const dry = lateMs > prebufferMs;
    if (dry && options.mayPause) {
      this.#begin(now);
      return;
    }
    options.findings.lateness.add(lateMs);
    options.findings.gaps.add(now - this.#lastAt);
    this.#lastAt = now;
    this.#frames += 1;
    if (!dry) return;
    options.findings.underruns += 1;
    noteStall(options.findings.stalls, now, lateMs);
    this.#begin(now);
  }

  /** The response is complete or was cut. */
  end(): void {
    this.#startAt = undefined;
  }

  #begin(now: number): void {
    this.#startAt = now;
    this.#lastAt = now;
    this.#frames = 1;
  }
}

/** Samples of a Prometheus text: name with labels as written, to value. */
export type Samples = ReadonlyMap<string, number>;

export function parseMetrics(text: string): Samples {
  const samples = new Map<string, number>();
  for (const line of text.split('\n')) {
    const match = /^([a-z_]+(?:\{[^}]*\})?) (\S+)/i.exec(line);
    if (match?.[1] !== undefined) samples.set(match[1], Number(match[2]));
  }
  return samples;
}

/** How much each counter grew; counters that were not there before grew from 0. */
export function growth(before: Samples, after: Samples): Samples {
  return new Map([...after].map(([name, value]) => [name, value - (before.get(name) ?? 0)]));
}

export interface HistogramSummary {
  readonly count: number;
  readonly meanMs: number;
  /** Upper bound of the bucket that holds the quantile; infinite above the last one. */
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** A histogram in seconds, as `name` and the label text inside the braces (may be empty). */
export function histogramOf(samples: Samples, name: string, label = ''): HistogramSummary {
  const braces = label === '' ? '' : `{${label}}`;
  const count = samples.get(`${name}_count${braces}`) ?? 0;
  const sum = samples.get(`${name}_sum${braces}`) ?? 0;
  const buckets: [bound: number, upTo: number][] = [];
  for (const [key, value] of samples) {
    if (!key.startsWith(`${name}_bucket{`) || (label !== '' && !key.includes(label))) continue;
    const bound = /le="([^"]+)"/.exec(key)?.[1];
    if (bound !== undefined) buckets.push([bound === '+Inf' ? Infinity : Number(bound), value]);
  }
  buckets.sort((a, b) => a[0] - b[0]);
  const quantile = (share: number): number =>
    count === 0 ? Number.NaN : (buckets.find(([, upTo]) => upTo >= share * count)?.[0] ?? Infinity) * 1000;
  return { count, meanMs: (sum / count) * 1000, p50Ms: quantile(0.5), p99Ms: quantile(0.99) };
}

export interface FloorRow {
  readonly rule: string;
  readonly found: string;
  readonly passed: boolean;
}
