/**
 * One simulated call: the core between a caller, three providers, playout and a client, on virtual time. It does what the
 * shell of a call does and tells the judge everything. It decides nothing and never reads the state of the core.
 */
import { SpeechDetector } from '../../worker/media/speech-detector.ts';
import type { CallAction } from '../../worker/core/actions.ts';
import type { CallEvent } from '../../worker/core/events.ts';
import type { CallState } from '../../worker/core/state.ts';
import type { Core } from '../support/core.ts';
import { Caller } from './caller.ts';
import { Client } from './client.ts';
import { Judge, type Violation } from './judge.ts';
import { planOf, type Plan } from './plan.ts';
import { SimPlayout } from './playout.ts';
import { SimTts } from './sim-tts.ts';
import { SimLlm, SimStt, type Note, type SimWorld } from './stages.ts';
import { Timeline } from './timeline.ts';
import { Trace } from './trace.ts';

const tickMs = 20;
/** After its end a call is watched for this long. */
const afterlifeMs = 3_000;

export interface WorldReport {
  readonly seed: number;
  readonly violations: readonly Violation[];
  readonly virtualMs: number;
  readonly trace: Trace;
}

export interface WorldOptions {
  /** Keep every step in words, for reading. */
  readonly keep?: boolean;
}

export function runWorld(core: Core, seed: number, { keep = false }: WorldOptions = {}): WorldReport {
  const world = new World(core, planOf(seed), new Trace(keep));
  const violations = world.run();
  return { seed, violations, virtualMs: world.time.now, trace: world.trace };
}

class World implements SimWorld {
  readonly plan: Plan;
  readonly time = new Timeline();
  readonly trace: Trace;
  readonly #core: Core;
  readonly #state: CallState;
  readonly #judge: Judge;
  readonly #client: Client;
  readonly #playout: SimPlayout;
  readonly #stt: SimStt;
  readonly #llm: SimLlm;
  readonly #tts: SimTts;
  readonly #detector: SpeechDetector;
  readonly #caller: Caller;
  #facts: { event: CallEvent; note: Note }[] = [];
  #handling = false;
  #deadline: number | undefined;
  #gone = false;
  #endAt = Infinity;

  constructor(core: Core, plan: Plan, trace: Trace) {
    this.plan = plan;
    this.trace = trace;
    this.#core = core;
    this.#state = core.newCall(plan.settings);
    this.#client = new Client(plan, this.time, (id) => this.#twice({ type: 'mark.played', id }));
    this.#playout = new SimPlayout({
      frame: (context, audioMs) => this.#client.frame(context, audioMs),
      mark: (id) => {
        this.#client.mark(id);
        this.tell({ type: 'mark.sent', id });
      },
      started: (context, audioAt) => this.tell({ type: 'playout.started', context, audioAt }),
      drained: (context, sentMs) => this.tell({ type: 'playout.drained', context, sentMs }),
    });
    this.#stt = new SimStt(this);
    this.#llm = new SimLlm(this);
    this.#tts = new SimTts(this, {
      audio: (context, ms) => this.#playout.audio(context, ms, this.time.now),
      spoken: (context, chars) => this.#spoken(context, chars),
      flushed: (context) => this.#flushed(context),
      failed: () => this.tell({ type: 'tts.failed' }),
    });
    this.#judge = new Judge({ plan, client: this.#client, tts: this.#tts, stt: this.#stt, llm: this.#llm });
    const { turn } = plan.settings;
    this.#detector = new SpeechDetector(
      { threshold: 0.5, minSpeechMs: turn.minSpeechMs, confirmMs: plan.confirmMs, stopMs: turn.stopMs },
      (type) =>
        this.tell(type === 'speech.confirmed' ? { type, position: this.#playout.position } : { type }),
    );
    this.#caller = new Caller(plan.prng, {
      said: (word) => this.#stt.hear(word),
      pressed: (digit) => this.tell({ type: 'dtmf.pressed', digit, position: this.#playout.position }),
    });
  }

  run(): readonly Violation[] {
    const { plan, time } = this;
    this.tell({ type: 'call.opened' });
    for (let now = tickMs; now <= plan.durationMs && now <= this.#endAt; now += tickMs) {
      time.run(now);
      this.#tick(now);
      if (this.#judge.violations.length > 0) break;
    }
    return this.#judge.violations;
  }

  #tick(now: number): void {
    const { plan } = this;
    if (now >= plan.hangUpAtMs && !this.#gone) this.#hangUp();
    if (now >= plan.shutdownAtMs && now < plan.shutdownAtMs + tickMs) this.tell({ type: 'call.shutdown' });
    this.#detector.take(this.#caller.tick(now) ? 0.9 : 0.05, tickMs);
    this.#playout.tick();
    if (this.#deadline !== undefined && now >= this.#deadline) this.tell({ type: 'deadline.reached' });
    if (plan.prng.chance(plan.faults.stale)) this.#tellStale();
    this.#judge.tick(now);
  }

  #hangUp(): void {
    this.#gone = true;
    this.#endAt = Math.min(this.#endAt, this.time.now + afterlifeMs);
    this.tell({ type: 'call.closed' });
  }

  // ---- the shell ----

  tell(event: CallEvent, note: Note = {}): void {
    this.#facts.push({ event, note });
    if (this.#handling) return;
    this.#handling = true;
    for (let fact = this.#facts.shift(); fact !== undefined; fact = this.#facts.shift()) {
      const { now } = this.time;
      const actions = this.#core.step(this.#state, fact.event, now);
      this.#deadline = this.#core.nextDeadline(this.#state);
      this.trace.step(now, fact.event, actions);
      this.#judge.saw(fact, { actions, now, deadline: this.#deadline });
      for (const action of actions) this.#perform(action);
    }
    this.#handling = false;
  }

  #twice(event: CallEvent): void {
    this.tell(event);
    if (this.plan.prng.chance(this.plan.faults.twice)) this.tell(event);
  }

  #perform(action: CallAction): void {
    switch (action.type) {
      case 'stt.listen':
        this.#stt.listen();
        return;
      case 'stt.finalize':
        this.#stt.finalize();
        return;
      case 'stt.reopen':
        this.#stt.reopen();
        return;
      case 'llm.start':
        this.#llm.start(action.epoch);
        return;
      case 'llm.cancel':
        this.#llm.cancel();
        return;
      case 'tts.speak':
        this.#tts.speak(action.context, action.text);
        return;
      case 'tts.flush':
        this.#tts.flush(action.context);
        return;
      case 'tts.cancel':
        this.#tts.cancel(action.context);
        return;
      case 'tts.reopen':
        this.#tts.reopen();
        return;
      default:
        this.#performOutput(action);
    }
  }

  #performOutput(action: CallAction): void {
    const playout = this.#playout;
    if (action.type === 'playout.open') playout.open(action.context);
    else if (action.type === 'playout.pause') playout.hold(true);
    else if (action.type === 'playout.resume') playout.hold(false);
    else if (action.type === 'playout.mark') playout.mark(action.context, action.id);
    else if (action.type === 'playout.finish') playout.finish(action.context);
    else if (action.type === 'playout.clear') {
      playout.clear();
      if (action.wire) this.#client.clear();
    } else if (action.type === 'call.end') {
      playout.clear();
      this.#llm.cancel();
      this.#endAt = Math.min(this.#endAt, this.time.now + afterlifeMs);
    }
  }

  #spoken(context: number, chars: number): void {
    if (context !== this.#playout.context) return;
    this.tell({ type: 'tts.spoken', context, chars, audioMs: this.#playout.deliveredMs });
  }

  #flushed(context: number): void {
    if (context !== this.#playout.context) return;
    this.#twice({ type: 'tts.flushed', context, audioMs: this.#playout.deliveredMs });
    this.#playout.finish(context);
  }

  /** A result of something that is over comes after all. */
  #tellStale(): void {
    const { prng } = this.plan;
    const epoch = this.#judge.anyFinishedRound(prng);
    const context = this.#judge.anyClosedContext(prng);
    const stale: CallEvent[] = [];
    if (epoch !== undefined)
      stale.push(
        { type: 'llm.text', epoch, text: 'Stale words spoken late. ' },
        { type: 'llm.done', epoch, toolCalls: [{ id: 's', name: 'end_call', arguments: '{}' }] },
        { type: 'llm.failed', epoch },
      );
    if (context !== undefined)
      stale.push(
        { type: 'tts.spoken', context, chars: 1 + prng.below(80), audioMs: 1 + prng.below(4_000) },
        { type: 'tts.flushed', context, audioMs: 1 + prng.below(4_000) },
        { type: 'playout.started', context, audioAt: 0 },
        { type: 'playout.drained', context, sentMs: prng.below(4_000) },
      );
    if (stale.length > 0) this.tell(prng.pick(stale), { stale: true });
  }
}
