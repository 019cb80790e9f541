/**
 * A caller who says numbered words, two simulated recognisers that hear numbers in samples, and a judge that knows what
 * was said. The recognisers keep the contract of a session; some say how much of the audio a final covers, some do not.
 */
import { newFailoverStt } from '../../../worker/stages/failover/stt.ts';
import type { SttEvent, SttSession, SttStage } from '../../../worker/stages/stage.ts';
import { newStageContext } from '../../support/core/stage-context.ts';
import type { VirtualClock } from '../../support/core/virtual-clock.ts';
import { Fate, mostExtraMs, newFailoverWorld, planDeath, runUntil, type Death } from './failover-world.ts';

const chunk = 320;
const perMs = 16;
/** A pause in the audio that ends a segment, where the recogniser ends any. */
const endpointMs = 300;
const queueChunks = 64;

interface Manner {
  readonly latencyMs: number;
  readonly connectMs: number;
  /** Ends segments by itself: in pauses, or also after so many words in the middle of speech. */
  readonly segments: 'never' | 'pauses' | 'anywhere';
  readonly tellsTimes: boolean;
}

class SimRecogniser implements SttSession {
  private readonly clock: VirtualClock;
  private readonly fate: Fate;
  private readonly manner: Manner;
  private readonly sink: (event: SttEvent) => void;
  private queue: (Int16Array | 'end')[] = [];
  private isOpen = false;
  private isClosed = false;
  private isFinishing = false;
  private hears: { readonly word: number; samples: number }[] = [];
  private silentSamples = 0;
  private samples = 0;

  constructor(fate: Fate, manner: Manner, sink: (event: SttEvent) => void) {
    this.fate = fate;
    this.clock = fate.clock;
    this.manner = manner;
    this.sink = sink;
    fate.watch((error) => {
      if (this.isClosed) return;
      this.isClosed = true;
      this.sink({ type: 'error', error });
    });
    this.clock.after(manner.connectMs, () => {
      this.isOpen = !fate.isDead;
      this.pump();
    });
  }

  audio(pcm: Int16Array): boolean {
    if (this.isClosed) return false;
    this.queue.push(pcm.slice());
    const isFull = this.queue.filter((item) => item !== 'end').length > queueChunks;
    if (isFull)
      this.queue.splice(
        this.queue.findIndex((item) => item !== 'end'),
        1,
      );
    this.pump();
    return !isFull;
  }

  hasRoom(): boolean {
    return this.queue.length < queueChunks / 2;
  }

  finalize(): void {
    this.queue.push('end');
    this.pump();
  }

  close(): void {
    this.isClosed = true;
  }

  private pump(): void {
    while (this.isOpen && !this.isFinishing && !this.fate.isDead) {
      const item = this.queue.shift();
      if (item === undefined) return;
      if (item === 'end') this.finish();
      else this.hear(item);
    }
  }

  private hear(pcm: Int16Array): void {
    for (const value of pcm) {
      this.samples += 1;
      this.silentSamples = value === 0 ? this.silentSamples + 1 : 0;
      if (value !== 0) {
        const last = this.hears.at(-1);
        if (last?.word === value) last.samples += 1;
        else this.hears.push({ word: value, samples: 1 });
      } else if (this.manner.segments !== 'never' && this.silentSamples === endpointMs * perMs) {
        this.segment(true);
      } else if (this.manner.segments === 'anywhere' && this.silentSamples === 20 * perMs) {
        if (this.hears.length >= 3) this.segment(false);
      }
    }
    const text = this.text();
    if (text !== '') this.say({ type: 'transcript', text, ...flags(false, false, false) });
  }

  /** What was heard so far is a final. */
  private segment(isEndpoint: boolean): void {
    const text = this.text();
    this.hears = [];
    if (text === '') return;
    const heardMs = (this.samples - this.silentSamples) / perMs;
    const times = this.manner.tellsTimes ? { heardMs } : {};
    this.say({ type: 'transcript', text, ...flags(true, isEndpoint, false), ...times });
  }

  private finish(): void {
    this.isFinishing = true;
    const text = this.text();
    this.hears = [];
    this.samples = 0;
    this.silentSamples = 0;
    if (text !== '') this.say({ type: 'transcript', text, ...flags(true, true, true) });
    this.say({ type: 'finalized' }, () => {
      this.isFinishing = false;
      this.pump();
    });
  }

  /** A word of which less than half was heard is noise. */
  private text(): string {
    const words = this.hears.filter(({ samples }) => samples >= 100 * perMs);
    return words.map(({ word }) => String(word)).join(' ');
  }

  private say(event: SttEvent, then: () => void = () => undefined): void {
    this.clock.after(this.manner.latencyMs, () => {
      if (this.isClosed || this.fate.isDead) return;
      this.sink(event);
      then();
    });
  }
}

const flags = (isFinal: boolean, speechFinal: boolean, fromFinalize: boolean) => ({
  isFinal,
  speechFinal,
  fromFinalize,
});

interface Turn {
  readonly words: readonly number[];
  readonly pcm: Int16Array;
}

export interface SttRun {
  readonly violations: readonly string[];
  readonly failovers: number;
  readonly extraMs: number;
}

interface Heard {
  readonly turns: readonly (readonly string[])[];
  readonly finalizedMs: readonly number[];
  readonly errors: number;
}

/** Words of 200 ms, with pauses of 60 to 700 ms between them. */
function planTurn(first: number, count: number, pauseMs: () => number): Turn {
  const words = Array.from({ length: count }, (_, at) => first + at);
  const parts = words.flatMap((word) => [
    new Int16Array(200 * perMs).fill(word),
    new Int16Array(pauseMs() * perMs),
  ]);
  const pcm = new Int16Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    pcm.set(part, at);
    at += part.length;
  }
  return { words, pcm };
}

function hearTurns(
  seed: number,
  turns: readonly Turn[],
  plan: { manner: readonly Manner[]; death?: Death },
): {
  heard: Heard;
  failovers: number;
} {
  const world = newFailoverWorld(seed);
  const { clock } = world;
  const stage = (fate: Fate, manner: Manner): SttStage => ({
    provider: 'sim',
    open: (_context, sink) => new SimRecogniser(fate, manner, sink),
    close: () => Promise.resolve(),
  });
  const decorated = newFailoverStt(
    world.scope<SttStage>('stt', {
      primary: stage(new Fate(clock, plan.death), plan.manner[0]!),
      secondary: stage(new Fate(clock, undefined), plan.manner[1]!),
    }),
  );
  const texts: string[][] = [[]];
  const finalizedMs: number[] = [];
  let errors = 0;
  const session = decorated.open(newStageContext(clock), (event) => {
    if (event.type === 'error') errors += 1;
    else if (event.type === 'finalized') {
      finalizedMs.push(clock.now());
      texts.push([]);
    } else if (event.type === 'transcript' && event.isFinal) texts.at(-1)!.push(event.text);
  });
  turns.forEach(({ pcm }, index) => {
    for (let at = 0; at < pcm.length; at += chunk) {
      session.audio(pcm.subarray(at, at + chunk));
      clock.advance(20);
    }
    session.finalize();
    // Every other time the caller goes on at once.
    if (index % 2 === 0) runUntil(clock, () => finalizedMs.length > index || errors > 0, 10_000);
  });
  runUntil(clock, () => finalizedMs.length === turns.length || errors > 0, 15_000);
  session.close();
  return { heard: { turns: texts, finalizedMs, errors }, failovers: world.reasons.length };
}

export function runStt(seed: number): SttRun {
  const { prng } = newFailoverWorld(seed);
  const turns = Array.from({ length: 2 }, (_, turn) =>
    planTurn(1 + turn * 50, 1 + prng.below(8), () => 60 + prng.below(prng.chance(0.3) ? 640 : 120)),
  );
  const manner = (): Manner => {
    const tellsTimes = prng.chance(0.5);
    return {
      latencyMs: 20 + prng.below(180),
      connectMs: 20 + prng.below(200),
      segments: prng.pick(tellsTimes ? ['never', 'pauses', 'anywhere'] : ['never', 'pauses']),
      tellsTimes,
    };
  };
  const manners = [manner(), manner()];
  const wholeMs = turns.reduce((sum, { pcm }) => sum + pcm.length / perMs + 300, 0);
  const death = planDeath(prng, wholeMs);
  const usual = hearTurns(seed, turns, { manner: manners });
  const { heard, failovers } = hearTurns(seed, turns, { manner: manners, death });
  const violations: string[] = [];
  if (heard.errors > 0) violations.push('the session failed');
  turns.forEach(({ words }, index) => {
    const got = (heard.turns[index] ?? []).join(' ');
    if (got !== words.join(' ')) violations.push(`turn ${index}: said ${words.join(' ')}, heard ${got}`);
  });
  const late = heard.finalizedMs.map((ms, index) => ms - (usual.heard.finalizedMs[index] ?? 0));
  const extraMs = Math.max(...late);
  const silentMs = death.how === 'silence' || death.after === 'silence' ? death.timeoutMs : 0;
  if (extraMs > silentMs + mostExtraMs) violations.push(`${extraMs} ms late, with a timeout of ${silentMs}`);
  return { violations, failovers, extraMs };
}
