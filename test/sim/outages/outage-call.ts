/**
 * One call with stages that are down in one way, on virtual time, and how long its caller hears nothing: a caller who says the same
 * short thing again and again, or waits for the answer that is owed.
 */
import { CallDriver } from '../../../worker/call/driver.ts';
import { speechEvent } from '../../../worker/call/speech-event.ts';
import type { CallAction } from '../../../worker/core/actions.ts';
import { newCall } from '../../../worker/core/state.ts';
import type { CallSettings } from '../../../worker/core/settings.ts';
import { SpeechDetector } from '../../../worker/media/vad/speech-detector.ts';
import { OwedSilence } from '../../../scripts/measure/chaos/owed-silence.ts';
import { scriptSettings } from '../../support/core/script-settings.ts';
import { SimPlayout } from '../world/playout.ts';
import { Timeline } from '../world/timeline.ts';
import { WeakStt, WeakTts, type SttManner, type TtsManner } from './weak-stages.ts';

export interface OutagePlan {
  readonly stt?: SttManner;
  readonly tts?: TtsManner;
  readonly llmMs?: number;
  /** How long the caller speaks each time. */
  readonly clipMs?: number;
  /** The caller says it so often, each time a second behind the agent's last sound; after that it waits. */
  readonly turns?: number;
  /** The caller presses keys instead. */
  readonly keys?: boolean;
  /** For so long what is left of its last sound is taken for a voice. */
  readonly fadeMs?: number;
  /** Marks come back so late; absent: never. */
  readonly echoMs?: number;
  readonly settings?: Partial<CallSettings>;
  readonly durationMs?: number;
}

export interface Outage {
  /** The longest time without a sound: from the caller's last word to the first, and of all. */
  readonly longestFirstMs: number;
  readonly longestMs: number;
  /** How often the caller has spoken. */
  readonly turns: number;
}

const tickMs = 20;
const confirmMs = 250;
/** A caller who is not answered at all gives up waiting. */
const patienceMs = 20_000;
const answer = 'I have found what you asked for. It will be there on Friday.';

class OutageCall {
  readonly #plan: OutagePlan;
  readonly #settings: CallSettings;
  readonly #time = new Timeline();
  readonly #silence = new OwedSilence();
  readonly #driver: CallDriver;
  readonly #playout: SimPlayout;
  readonly #stt: WeakStt;
  readonly #tts: WeakTts;
  readonly #detector: SpeechDetector;
  #round = 0;
  #turns = 0;
  #speaksUntil = 0;
  #nextAt = 500;
  #isOver = false;
  /** Keys make no sound. */
  readonly #fadeMs: number;

  constructor(plan: OutagePlan) {
    this.#plan = plan;
    this.#fadeMs = plan.keys === true ? 0 : (plan.fadeMs ?? 0);
    this.#settings = { ...scriptSettings, ...plan.settings };
    const tell = (event: Parameters<CallDriver['tell']>[0]): void => void this.#driver.tell(event);
    const time = this.#time;
    this.#driver = new CallDriver(newCall(this.#settings), {
      now: () => time.now,
      perform: (order) => this.#perform(order),
    });
    this.#playout = new SimPlayout({
      frame: () => this.#heard(),
      mark: (id) => {
        tell({ type: 'mark.sent', id });
        const { echoMs } = plan;
        if (echoMs !== undefined) time.after(echoMs, () => tell({ type: 'mark.played', id }));
      },
      started: (context, audioAt) => tell({ type: 'playout.started', context, audioAt }),
      drained: (context, sentMs) => tell({ type: 'playout.drained', context, sentMs }),
      starved: (context, sentMs) => tell({ type: 'playout.starved', context, sentMs }),
      fed: (context) => tell({ type: 'playout.fed', context }),
    });
    const { fillers, farewell, apology, misheard, idle } = this.#settings;
    const lines = new Set([...fillers, farewell, apology, misheard, idle.ask]);
    this.#stt = new WeakStt(plan.stt ?? 'works', { time, tell });
    this.#tts = new WeakTts(plan.tts ?? 'works', {
      time,
      tell,
      audio: (context, ms) => this.#playout.audio(context, ms, time.now),
      isReady: (text) => lines.has(text.trim()),
    });
    const { minSpeechMs, stopMs } = this.#settings.turn;
    const detector: SpeechDetector = new SpeechDetector(
      { threshold: 0.5, minSpeechMs, confirmMs, sureMs: confirmMs, stopMs },
      (fact) =>
        tell(
          speechEvent(fact, {
            position: this.#playout.position,
            isNoEcho: true,
            isFaint: false,
            silenceMs: detector.silenceMs,
            quietMs: Math.max(0, time.now - this.#speaksUntil),
            lastedMs: detector.lastedMs,
          }),
        ),
    );
    this.#detector = detector;
  }

  run(): Outage {
    const { durationMs = 60_000 } = this.#plan;
    this.#driver.tell({ type: 'call.opened' });
    this.#driver.tell({ type: 'lines.ready', fillers: true, farewell: true });
    for (let now = tickMs; now <= durationMs && !this.#isOver; now += tickMs) {
      this.#time.run(now);
      this.#tick(now);
    }
    const { longestFirstMs, longestMs } = this.#silence;
    return { longestFirstMs, longestMs, turns: this.#turns };
  }

  #tick(now: number): void {
    const { clipMs = 900, turns = 1 } = this.#plan;
    if (now >= this.#nextAt && this.#turns < turns) {
      this.#silence.settled(now);
      this.#turns += 1;
      this.#speaksUntil = now + (this.#plan.keys === true ? 0 : clipMs);
      this.#nextAt = Infinity;
      if (this.#plan.keys === true)
        for (const digit of '12#')
          this.#driver.tell({ type: 'dtmf.pressed', digit, position: this.#playout.position });
    }
    const speaks = now < this.#speaksUntil;
    if (!speaks && this.#speaksUntil > 0 && this.#nextAt === Infinity) {
      this.#silence.owed(now);
      this.#nextAt = now + patienceMs;
    }
    this.#stt.audio(tickMs);
    this.#detector.take(now < this.#speaksUntil + this.#fadeMs ? 0.9 : 0.05, tickMs);
    this.#playout.tick();
    if (!speaks) this.#silence.look(now);
    const { deadline } = this.#driver;
    if (deadline !== undefined && now >= deadline) this.#driver.tell({ type: 'deadline.reached' });
  }

  #heard(): void {
    const { now } = this.#time;
    if (now < this.#speaksUntil) return;
    this.#silence.heard(now);
    if (this.#speaksUntil > 0) this.#nextAt = now + 1_000;
  }

  #perform(action: CallAction): void {
    const playout = this.#playout;
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
      case 'llm.start':
        this.#ask(action.round);
        return;
      case 'llm.cancel':
        this.#round = 0;
        return;
      case 'tts.speak':
        this.#tts.speak(action.context, action.text, action.recorded);
        return;
      case 'tts.flush':
        this.#tts.flush(action.context, () => playout.finish(action.context));
        return;
      case 'tts.reopen':
        this.#tts.reopen();
        return;
      case 'playout.open':
        playout.open(action.context);
        return;
      case 'playout.pause':
        playout.hold(true, action.duckMs);
        return;
      case 'playout.resume':
      case 'playout.duck':
        playout.hold(false);
        return;
      case 'playout.mark':
        playout.mark(action.context, action.id);
        return;
      case 'playout.finish':
        playout.finish(action.context);
        return;
      case 'playout.clear':
        playout.clear();
        return;
      case 'call.end':
        this.#silence.settled(this.#time.now);
        this.#isOver = true;
        return;
      default:
    }
  }

  #ask(round: number): void {
    this.#round = round;
    this.#time.after(this.#plan.llmMs ?? 300, () => {
      if (this.#round !== round) return;
      this.#driver.tell({ type: 'llm.text', round, text: answer });
      this.#driver.tell({ type: 'llm.done', round, finish: 'stop', toolCalls: [] });
    });
  }
}

export const outage = (plan: OutagePlan): Outage => new OutageCall(plan).run();
