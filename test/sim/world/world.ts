/**
 * One simulated call: the core between a caller, three providers, playout and a client, on virtual time. It does what the
 * shell of a call does and tells the judge everything. It decides nothing and never reads the state of the core, except to hand
 * it over to another worker, as text.
 */
import { newPrng } from '../../../shared/base/prng.ts';
import { speechEvent } from '../../../worker/call/speech-event.ts';
import { SpeechDetector, type SpeechFact } from '../../../worker/media/vad/speech-detector.ts';
import type { CallAction } from '../../../worker/core/actions.ts';
import type { CallEvent, PlayoutPosition } from '../../../worker/core/events.ts';
import type { Core } from '../../support/core/core.ts';
import { ordersIn, spokenIn, type Order } from '../../support/core/order.ts';
import { Caller } from './caller.ts';
import { Client } from './client.ts';
import { CommandJudge } from '../judges/command-judge.ts';
import { Judge, type Violation } from '../judges/judge.ts';
import { planOf, type Plan } from '../plan.ts';
import { SimPlayout } from './playout.ts';
import { SimLlm } from './sim-llm.ts';
import { SimStt } from './sim-stt.ts';
import { SimTts } from './sim-tts.ts';
import type { Note, SimWorld } from './sim-world.ts';
import { Strangers } from './strangers.ts';
import { Timeline } from './timeline.ts';
import { ToldJudge } from '../judges/told-judge.ts';
import { Trace } from '../trace.ts';
import { SimWorker } from './worker.ts';

const tickMs = 20;
/** After its end a call is watched for this long. */
const afterlifeMs = 3_000;

export interface WorldReport {
  readonly seed: number;
  readonly violations: readonly Violation[];
  readonly virtualMs: number;
  readonly trace: Trace;
  /** How often each answer to a command was given. */
  readonly answers: ReadonlyMap<string, number>;
}

export interface WorldOptions {
  /** Keep every step in words, for reading. */
  readonly keep?: boolean;
  /**
   * Commands of every kind are given as well. Only what they and the stream of events promise is judged then: the other judges know
   * nothing of what is typed, edited and ended from outside.
   */
  readonly commands?: boolean;
}

export function runWorld(core: Core, seed: number, options: WorldOptions = {}): WorldReport {
  const { keep = false, commands = false } = options;
  const world = new World(core, planOf(seed), { trace: new Trace(keep), commands });
  const violations = world.run();
  const { answers } = world;
  return { seed, violations, virtualMs: world.time.now, trace: world.trace, answers };
}

const timersIn = (actions: readonly CallAction[]): string[] =>
  actions.flatMap((action) =>
    action.type === 'told' && action.event.type === 'timer.fired' ? [action.event.timer] : [],
  );

class World implements SimWorld {
  readonly plan: Plan;
  readonly time = new Timeline();
  readonly trace: Trace;
  readonly #worker: SimWorker;
  readonly #judge: Judge;
  readonly #told: ToldJudge;
  readonly #commands: boolean;
  readonly #answers: CommandJudge;
  /** What the stream of events promises and does not keep. */
  readonly #broken: Violation[] = [];
  readonly #client: Client;
  readonly #playout: SimPlayout;
  readonly #stt: SimStt;
  readonly #llm: SimLlm;
  readonly #tts: SimTts;
  readonly #strangers: Strangers;
  readonly #known: ReadonlySet<string>;
  #detector: SpeechDetector;
  readonly #caller: Caller;
  /** What is known of the facts that were told and not yet taken. */
  readonly #notes: Note[] = [];
  /** This belongs to the step that is being performed. */
  #orders: readonly Order[] = [];
  #gone = false;
  #endAt = Infinity;
  #lossesAtMs: number[];
  /** The context whose audio goes on in the next one that is opened. */
  #former = 0;
  /** Words of the agent that the microphone has heard. */
  #echoed = { context: 0, words: 0 };

  constructor(core: Core, plan: Plan, { trace, commands }: { trace: Trace; commands: boolean }) {
    this.plan = plan;
    this.#commands = commands;
    this.trace = trace;
    this.#worker = new SimWorker(core, plan, {
      now: () => this.time.now,
      stepped: (fact, orders) => this.#stepped(fact, orders),
      perform: (order) => this.#perform(order),
    });
    this.#lossesAtMs = [...plan.lossesAtMs].sort((a, b) => a - b);
    const { greeting, farewell, apology, misheard, fillers, lateLines, idle } = plan.settings;
    const lines = [greeting, farewell, apology, misheard, ...fillers, ...lateLines, idle.ask];
    this.#known = new Set(lines.flatMap((line) => line.split(/(?<=[.?!]) /)).filter((line) => line !== ''));
    this.#client = new Client(plan, this.time, (id) => this.#twice({ type: 'mark.played', id }));
    this.#playout = this.#newPlayout();
    this.#stt = new SimStt(this);
    this.#llm = new SimLlm(this);
    this.#tts = new SimTts(this, {
      audio: (context, ms) => this.#playout.audio(context, ms, this.time.now),
      spoken: (context, chars) => this.#spoken(context, chars),
      word: (context, at) => {
        if (context === this.#playout.context) this.tell({ type: 'tts.word', context, ...at });
      },
      flushed: (context) => this.#flushed(context),
      failed: () => this.tell({ type: 'tts.failed' }),
    });
    this.#judge = new Judge({ plan, client: this.#client, tts: this.#tts, stt: this.#stt, llm: this.#llm });
    const demand = (now: number, holds: boolean, rule: string): void => {
      if (!holds) this.#broken.push({ at: now, rule, detail: '' });
    };
    this.#told = new ToldJudge((holds, rule) => demand(this.time.now, holds, rule));
    this.#answers = new CommandJudge(demand);
    this.#strangers = new Strangers(this, this.#judge);
    this.#detector = this.#newDetector();
    this.#caller = new Caller(plan.prng, {
      said: (word) => this.#stt.hear(word),
      pressed: (digit) => this.tell({ type: 'dtmf.pressed', digit, position: this.position }),
    });
  }

  #newPlayout(): SimPlayout {
    return new SimPlayout({
      frame: (context, audioMs) => {
        this.#client.frame(context, audioMs);
        this.#judge.frame(this.time.now);
      },
      mark: (id, inside) => {
        this.#client.mark(id);
        this.tell({ type: 'mark.sent', id, ...(inside && { inside }) });
      },
      started: (context, at) =>
        this.tell({ type: 'playout.started', context, audioAt: at + this.#worker.offsetMs }),
      drained: (context, sentMs) => this.tell({ type: 'playout.drained', context, sentMs }),
      starved: (context, sentMs) => this.tell({ type: 'playout.starved', context, sentMs }),
      fed: (context) => this.tell({ type: 'playout.fed', context }),
    });
  }

  #newDetector(): SpeechDetector {
    const { minSpeechMs, stopMs } = this.plan.settings.turn;
    const { confirmMs, micHearsBot, echoIsClear } = this.plan;
    const isNoEcho = micHearsBot && echoIsClear;
    const { wordlessMs } = this.plan.settings.interrupt;
    const lastsMs = wordlessMs === 0 ? [] : [wordlessMs];
    const settings = { threshold: 0.5, minSpeechMs, confirmMs, sureMs: confirmMs, stopMs, lastsMs };
    const faint = newPrng(this.plan.seed + 7);
    const tell = (fact: SpeechFact): void => {
      const isFaint = faint.chance(0.2);
      this.tell(
        speechEvent(fact, {
          position: this.position,
          isNoEcho,
          isFaint,
          isDoubtful: isFaint && faint.chance(0.5),
          silenceMs: detector.silenceMs,
          quietMs: 0,
          lastedMs: detector.lastedMs,
          belowCallerDb: detector.belowCallerDb,
        }),
      );
    };
    const detector: SpeechDetector = new SpeechDetector(settings, tell, { isOverAgent: () => true });
    return detector;
  }

  get position(): PlayoutPosition {
    return this.#playout.position;
  }

  knows(text: string): boolean {
    return this.plan.voice.linesReady && this.#known.has(text.trim());
  }

  run(): readonly Violation[] {
    const { plan, time } = this;
    this.tell({ type: 'call.opened' });
    this.#tellLines();
    for (let now = tickMs; now <= plan.durationMs && now <= this.#endAt; now += tickMs) {
      time.run(now);
      this.#tick(now);
      if (this.#violations.length > 0) break;
    }
    return this.#violations;
  }

  get #violations(): readonly Violation[] {
    return this.#commands ? this.#broken : [...this.#judge.violations, ...this.#broken];
  }

  get answers(): ReadonlyMap<string, number> {
    return this.#answers.answers;
  }

  #tick(now: number): void {
    const { plan } = this;
    if (now >= plan.hangUpAtMs && !this.#gone) this.#hangUp();
    if (now >= plan.shutdownAtMs && now < plan.shutdownAtMs + tickMs) this.tell({ type: 'call.shutdown' });
    if (now >= (this.#lossesAtMs[0] ?? Infinity)) this.#loseWorker();
    const voice = this.#caller.tick(now);
    const echo = plan.micHearsBot && this.#hearBot(now);
    this.#detector.take(voice || (echo && !plan.echoIsClear) ? 0.9 : 0.05, tickMs);
    this.#playout.tick();
    if (plan.client.kind === 'acks' && now % 100 < tickMs) this.#acknowledge(now);
    const { deadline } = this.#worker;
    if (deadline !== undefined && now >= deadline)
      this.tell({ type: 'deadline.reached', position: this.position });
    this.#strangers.tick();
    if (this.#commands) this.#strangers.command();
    this.#worker.save(now);
    this.#judge.tick(now);
  }

  #hangUp(): void {
    this.#gone = true;
    this.#endAt = Math.min(this.#endAt, this.time.now + afterlifeMs);
    this.tell({ type: 'call.closed' });
  }

  #acknowledge(now: number): void {
    const { context } = this.#playout;
    const playedMs = this.#client.heardMs(context, now - this.plan.client.upMs);
    if (playedMs > 0) this.tell({ type: 'playout.acknowledged', context, playedMs });
  }

  /** What the client plays now comes back. */
  #hearBot(now: number): boolean {
    const { context } = this.#playout;
    if (context !== this.#echoed.context) this.#echoed = { context, words: 0 };
    const at = now - this.plan.client.upMs;
    const heardMs = this.#client.heardMs(context, at);
    const words = this.#tts.words(context);
    const isOver = ({ startMs, endMs }: { startMs: number; endMs: number }): boolean =>
      endMs <= heardMs || (endMs === Infinity && startMs <= heardMs);
    for (let word = words[this.#echoed.words]; word !== undefined && isOver(word);) {
      if (word.endMs < Infinity) this.#stt.hear(word.text.replace('sequel', 'SQL').replace(/[.,?!]+$/, ''));
      this.#echoed.words += 1;
      word = words[this.#echoed.words];
    }
    return heardMs > this.#client.heardMs(context, at - tickMs);
  }

  // ---- the shell ----

  tell(event: CallEvent, note: Note = {}): void {
    this.#notes.push(note);
    this.#worker.tell(event);
  }

  #stepped(event: CallEvent, actions: readonly CallAction[]): void {
    const { now } = this.time;
    const note = this.#notes.shift() ?? {};
    const orders = ordersIn(actions);
    this.#orders = orders;
    const timers = timersIn(actions);
    this.trace.step(now, event, { actions: orders, timers: timers.join(', ') });
    const wakes = event.type === 'deadline.reached';
    if (wakes) this.#judge.demand(now, timers.length > 0, 'the core wakes for nothing');
    this.#judge.saw({ event, note }, { actions: orders, now, deadline: this.#worker.deadline });
    this.#told.saw(event, actions);
    this.#answers.saw(event, actions, now);
  }

  #twice(event: CallEvent): void {
    this.tell(event);
    if (this.plan.prng.chance(this.plan.faults.twice)) this.tell(event);
  }

  #perform(action: CallAction): void {
    switch (action.type) {
      case 'stt.listen':
        this.#stt.listen(action.fresh);
        return;
      case 'stt.finalize':
      case 'stt.flush':
        this.#stt.finalize();
        return;
      case 'stt.reopen':
        this.#stt.reopen();
        return;
      case 'stt.replay':
        this.#stt.replay();
        return;
      case 'turn.judge':
        this.#strangers.judge(action.ask);
        return;
      case 'tool.run':
        this.#strangers.run(action.key, action.attempt);
        return;
      case 'llm.start':
        this.#llm.start(action.round);
        return;
      case 'llm.cancel':
        this.#llm.cancel();
        return;
      case 'tts.speak':
        this.#tts.speak(action.context, action.text, action);
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
    if (action.type === 'playout.open') {
      if (action.from !== undefined) this.#goOn(action.context, action.from);
      playout.open(action.context, action.from);
    } else if (action.type === 'playout.pause') playout.hold(true, action.duckMs);
    else if (action.type === 'playout.resume' || action.type === 'playout.duck') playout.hold(false);
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

  #goOn(context: number, { audioMs, skipMs }: { audioMs: number; skipMs: number }): void {
    const former = this.#former;
    const text = spokenIn(this.#orders, context);
    if (!this.#tts.adopt(context, { former, baseMs: audioMs, sentMs: audioMs + skipMs, text }))
      this.#judge.impossible(this.time.now, 'a response goes on where no piece of it ends');
    this.#client.adopt(context, this.#former);
    if (this.#echoed.context === this.#former) this.#echoed = { ...this.#echoed, context };
  }

  /** The worker is gone, with everything that was not written down; another one has the call. */
  #loseWorker(): void {
    this.#lossesAtMs.shift();
    if (!this.#worker.lose()) return;
    const { position, plan } = this;
    const { prng } = plan;
    const turnAudio = prng.chance(0.8);
    this.#former = position.context;
    this.#playout.clear();
    this.#llm.lose();
    this.#tts.reopen();
    this.#stt.lose();
    if (!turnAudio) this.#stt.forgetTurn();
    this.#detector = this.#newDetector();
    this.#strangers.lose();
    const known = position.context === 0 ? undefined : position;
    this.tell({ type: 'call.resumed', position: known, turnAudio });
    this.#tellLines();
  }

  #tellLines(): void {
    const { linesReady } = this.plan.voice;
    this.tell({ type: 'lines.ready', fillers: linesReady, farewell: linesReady });
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
}
