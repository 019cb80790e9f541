/**
 * A caller who does nothing but interrupt: every answer is cut at a random sample, and what the LLM is told of it is compared
 * with what the simulated client has played.
 */
import type { CallAction } from '../../worker/core/actions.ts';
import type { CallEvent, PlayoutPosition } from '../../worker/core/events.ts';
import type { CallState } from '../../worker/core/state.ts';
import type { Core } from '../support/core/core.ts';
import { Client } from './world/client.ts';
import type { Prng } from '../../shared/base/prng.ts';
import { noFaults, planOf, type Plan } from './plan.ts';
import { SimPlayout } from './world/playout.ts';
import { SimTts } from './world/sim-tts.ts';
import type { SimWorld } from './world/sim-world.ts';
import { wordsOf } from './story.ts';
import { Timeline } from './world/timeline.ts';
import { PlayoutClock } from '../../worker/webrtc/playout-clock.ts';

/**
 * What tells the core how much was heard: of the audio, the echo of marks, acknowledgements, the clock of a WebRTC call,
 * whose client plays whatever was sent, or nothing; of the text, the times of
 * words, the ends of pieces, or nothing before the end of all ('estimate').
 */
export type Source =
  | 'marks'
  | 'marks that come late'
  | 'marks that come late by chance'
  | 'words'
  | 'acknowledgements'
  | 'clock'
  | 'estimate';

export const sources: readonly Source[] = [
  'marks',
  'marks that come late',
  'marks that come late by chance',
  'words',
  'acknowledgements',
  'clock',
  'estimate',
];

export interface Cut {
  readonly source: Source;
  readonly seed: number;
  /** Words of the answer that were played to their end, and words that the context keeps. */
  readonly heard: number;
  readonly kept: number;
  /** Words between these belong to a sentence of which nothing was played. */
  readonly keptSentences: number;
  readonly heardSentences: number;
}

const tickMs = 20;
const cutsInACall = 20;

function planFor(seed: number, source: Source): Plan {
  const plan = planOf(seed);
  const { prng, settings } = plan;
  const kind = source.startsWith('marks') ? 'echo' : source === 'acknowledgements' ? 'acks' : 'silent';
  return {
    ...plan,
    faults: noFaults,
    client: {
      kind,
      downMs: prng.below(40),
      bufferMs: prng.below(160),
      upMs: prng.below(40),
      ...lateness(source, prng),
    },
    tts: {
      ...plan.tts,
      speed: 6 + prng.below(14),
      reports: source !== 'estimate',
      words: source === 'words',
    },
    settings: {
      ...settings,
      modelSpeaks: false,
      greeting: '',
      maxCallMs: 10_000_000,
      interrupt: { ...settings.interrupt, enabled: true, minWords: 0 },
      turn: { ...settings.turn, model: false, speculate: false, askEarlyMs: Infinity },
      idle: { ...settings.idle, askAfterMs: 0 },
    },
  };
}

/** Of clients that echo a mark later than it was played: always, or now and then. */
function lateness(source: Source, prng: Prng): Pick<Plan['client'], 'late'> {
  if (source === 'marks that come late') return { late: { fixedMs: 200 + prng.below(1_000), jitterMs: 0 } };
  if (source === 'marks that come late by chance')
    return { late: { fixedMs: 0, jitterMs: 200 + prng.below(800) } };
  return {};
}

/** The service knows the way to the client from its reports, and nothing of its buffer. */
function clockFor({ client: { downMs, upMs } }: Plan, source: Source): PlayoutClock | undefined {
  if (source !== 'clock') return undefined;
  const clock = new PlayoutClock();
  clock.noteWay({ roundTripMs: downMs + upMs, jitterMs: 0 });
  return clock;
}

/** Words by which the context may differ from what was played. */
export const tolerance: Readonly<Record<Source, number>> = {
  marks: 1,
  'marks that come late': 1,
  'marks that come late by chance': 2,
  words: 1,
  acknowledgements: 1,
  clock: 2,
  estimate: 2,
};

/** What is wrong about a cut. */
export function wrongs({ source, heard, kept, keptSentences, heardSentences }: Cut): string[] {
  const wrong: string[] = [];
  if (Math.abs(heard - kept) > tolerance[source]) wrong.push('words');
  if (keptSentences > heardSentences) wrong.push('a sentence that nobody heard');
  return wrong;
}

export function interruptedCall(core: Core, seed: number, source: Source): Cut[] {
  return new InterruptedCall(core, planFor(seed, source), source).run();
}

class InterruptedCall implements SimWorld {
  readonly plan: Plan;
  readonly time = new Timeline();
  readonly #core: Core;
  readonly #state: CallState;
  readonly #source: Source;
  readonly #client: Client;
  /** Of a WebRTC call; undefined for the others. */
  readonly #clock: PlayoutClock | undefined;
  readonly #playout: SimPlayout;
  readonly #tts: SimTts;
  readonly #cuts: Cut[] = [];
  #facts: CallEvent[] = [];
  #handling = false;
  #round = 0;
  #said = 0;
  /** The answer that runs, and what the LLM was last told. */
  #answer = '';
  #context = 0;
  #toldWords: readonly string[] = [];
  #asked = false;

  constructor(core: Core, plan: Plan, source: Source) {
    this.#core = core;
    this.plan = plan;
    this.#source = source;
    this.#state = core.newCall(plan.settings);
    this.#client = new Client(plan, this.time, (id) => this.tell({ type: 'mark.played', id }));
    this.#clock = clockFor(plan, source);
    this.#playout = new SimPlayout({
      frame: (context, audioMs) => {
        this.#client.frame(context, audioMs);
        this.#clock?.audioSent(this.time.now);
      },
      mark: (id, inside) => {
        this.#client.mark(id);
        this.#clock?.sent(id, this.time.now);
        this.tell({ type: 'mark.sent', id, ...(inside && { inside }) });
      },
      started: (context, audioAt) => this.tell({ type: 'playout.started', context, audioAt }),
      drained: (context, sentMs) => this.tell({ type: 'playout.drained', context, sentMs }),
      starved: (context, sentMs) => this.tell({ type: 'playout.starved', context, sentMs }),
      fed: (context) => this.tell({ type: 'playout.fed', context }),
    });
    const open = (context: number): boolean => context === this.#playout.context;
    this.#tts = new SimTts(this, {
      audio: (context, ms) => this.#playout.audio(context, ms, this.time.now),
      spoken: (context, chars) => {
        if (open(context))
          this.tell({ type: 'tts.spoken', context, chars, audioMs: this.#playout.deliveredMs });
      },
      word: (context, at) => {
        if (open(context)) this.tell({ type: 'tts.word', context, ...at });
      },
      flushed: (context) => {
        if (!open(context)) return;
        this.tell({ type: 'tts.flushed', context, audioMs: this.#playout.deliveredMs });
        this.#playout.finish(context);
      },
      failed: () => undefined,
    });
  }

  get position(): PlayoutPosition {
    return this.#playout.position;
  }

  knows(): boolean {
    return false;
  }

  run(): Cut[] {
    const { prng } = this.plan;
    this.tell({ type: 'call.opened' });
    this.tell({ type: 'speech.started', position: this.position });
    this.#turn();
    // A client that echoes marks is known by its first echo.
    this.#answers(4);
    this.#pass(6_000);
    this.tell({ type: 'speech.started', position: this.position });
    this.#turn();
    for (let cut = 0; cut < cutsInACall; cut += 1) {
      this.#answers(3 + prng.below(40));
      const before = this.#toldWords.length;
      this.#pass(500 + prng.below(6_000));
      if (prng.chance(0.3)) this.#cough();
      this.tell({ type: 'speech.started', position: this.position });
      this.#pass(250 + prng.below(200));
      this.tell({ type: 'speech.confirmed', position: this.position });
      this.#turn();
      this.#compare(before);
    }
    return this.#cuts;
  }

  /** The caller's words, up to the next request. */
  #turn(): void {
    const { stopMs, maxSilenceMs } = this.plan.settings.turn;
    this.#said += 1;
    this.#asked = false;
    this.#pass(200);
    const text = `say${this.#said}`;
    this.tell({ type: 'stt.final', text, speechFinal: false, position: this.position });
    this.#pass(stopMs);
    this.tell({ type: 'speech.stopped', position: this.position });
    for (let waited = 0; !this.#asked && waited < 2 * maxSilenceMs; waited += tickMs) this.#pass(tickMs);
  }

  /** A sound that holds the output for a moment. */
  #cough(): void {
    const { stopMs } = this.plan.settings.turn;
    this.tell({ type: 'speech.started', position: this.position });
    this.#pass(100 + stopMs);
    this.tell({ type: 'speech.stopped', position: this.position });
    this.#pass(800 + this.plan.prng.below(1_000));
  }

  #answers(words: number): void {
    const { prng } = this.plan;
    this.#answer = Array.from({ length: words }, (_, index) => {
      const word = prng.pick(['so', 'table', 'reservation', 'at', 'morning']);
      return `${word}${index}${index % 9 === 8 || index === words - 1 ? '.' : ''}`;
    }).join(' ');
    this.#context = this.#playout.context;
    this.tell({ type: 'llm.text', round: this.#round, text: this.#answer });
    this.tell({ type: 'llm.done', round: this.#round, finish: 'stop', toolCalls: [] });
  }

  #compare(before: number): void {
    const heardMs = this.#client.heardMs(this.#context, Infinity);
    const heard = this.#tts.wordEnds(this.#context).filter((end) => end <= heardMs).length;
    const begun = this.#tts.words(this.#context).filter(({ startMs }) => startMs < heardMs).length;
    const kept = this.#toldWords.length - before;
    const said = wordsOf(this.#answer);
    if (this.#toldWords.slice(before).some((word, index) => word !== said[index]))
      throw new Error('the context holds what the bot did not say');
    const sentences = (count: number): number =>
      count === 0 ? 0 : 1 + said.slice(0, count - 1).filter((word) => word.endsWith('.')).length;
    this.#cuts.push({
      source: this.#source,
      seed: this.plan.seed,
      heard,
      kept,
      keptSentences: sentences(kept),
      heardSentences: sentences(begun),
    });
  }

  #pass(ms: number): void {
    const until = this.time.now + ms;
    for (let now = this.time.now + tickMs; now <= until; now += tickMs) {
      this.time.run(now);
      this.#playout.tick();
      for (let id = this.#clock?.takePlayed(now); id !== undefined; id = this.#clock?.takePlayed(now))
        this.tell({ type: 'mark.played', id });
      if (this.plan.client.kind === 'acks' && now % 100 < tickMs) this.#acknowledge(now);
      const deadline = this.#core.nextDeadline(this.#state);
      if (deadline !== undefined && now >= deadline)
        this.tell({ type: 'deadline.reached', position: this.position });
    }
  }

  #acknowledge(now: number): void {
    const { context } = this.#playout;
    const playedMs = this.#client.heardMs(context, now - this.plan.client.upMs);
    if (playedMs > 0) this.tell({ type: 'playout.acknowledged', context, playedMs });
  }

  tell(event: CallEvent): void {
    this.#facts.push(event);
    if (this.#handling) return;
    this.#handling = true;
    for (let fact = this.#facts.shift(); fact !== undefined; fact = this.#facts.shift())
      for (const action of this.#core.step(this.#state, fact, this.time.now)) this.#perform(action);
    this.#handling = false;
  }

  #perform(action: CallAction): void {
    const playout = this.#playout;
    if (action.type === 'stt.finalize') this.time.after(60, () => this.tell({ type: 'stt.finalized' }));
    else if (action.type === 'llm.start') {
      this.#round = action.round;
      this.#asked = true;
      const heard = action.messages.filter(({ role }) => role === 'assistant');
      this.#toldWords = heard.flatMap(({ text }) => wordsOf(text));
    } else if (action.type === 'tts.speak') this.#tts.speak(action.context, action.text);
    else if (action.type === 'tts.flush') this.#tts.flush(action.context);
    else if (action.type === 'tts.cancel') this.#tts.cancel(action.context);
    else if (action.type === 'playout.open') playout.open(action.context);
    else if (action.type === 'playout.pause') playout.hold(true, action.duckMs);
    else if (action.type === 'playout.resume' || action.type === 'playout.duck') playout.hold(false);
    else if (action.type === 'playout.mark') playout.mark(action.context, action.id);
    else if (action.type === 'playout.clear') {
      playout.clear();
      this.#clock?.cleared();
      if (action.wire && this.#clock === undefined) this.#client.clear();
    }
  }
}
