/**
 * A caller who talks with the running demo: asks, waits until the answer has been played to its end, and keeps its sound.
 *
 * Invariant: it waits for what is heard, never for a time of its own choosing; the test's own time limit ends what never comes.
 */
import { CallClient, type CallerEvent } from '../../../cli/commands/call/caller.ts';
import { speechIn } from '../../../cli/commands/call/call-report.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';

export interface ConversationOptions {
  readonly ws: string;
  readonly rate: number;
  readonly encoding?: 'pcm16' | 'mulaw';
  /** Asks to be told what is heard and said. */
  readonly follow?: boolean;
}

/** After so long without a sound an answer is over; the demo pauses for less between its sentences. */
const OVER_AFTER_MS = 1500;
/** Held back after a pause: a machine that is busy for a moment must not leave a hole in a word that is written down afterwards. */
const PREBUFFER_MS = 400;

export class Conversation {
  readonly rate: number;
  readonly events: CallerEvent[] = [];
  readonly client: CallClient;

  static async open({
    ws,
    rate,
    encoding = 'pcm16',
    follow = false,
  }: ConversationOptions): Promise<Conversation> {
    const events: CallerEvent[] = [];
    const client = await CallClient.connect(
      { url: ws, clock: systemClock, sampleRate: rate, encoding, follow, prebufferMs: PREBUFFER_MS },
      (event) => {
        if (event.type !== 'audio' && event.type !== 'frame-sent') events.push(event);
      },
    );
    return new Conversation(client, { rate, events });
  }

  private constructor(client: CallClient, { rate, events }: { rate: number; events: CallerEvent[] }) {
    this.client = client;
    this.rate = rate;
    this.events = events;
  }

  of<T extends CallerEvent['type']>(type: T): Extract<CallerEvent, { type: T }>[] {
    return this.events.filter((event): event is Extract<CallerEvent, { type: T }> => event.type === type);
  }

  /** Resolves at the first frame for which the condition holds; rejects when the call ends before. */
  async until(condition: () => boolean, what: string): Promise<void> {
    if (condition()) return;
    const found = await this.client.next((event) => event.type === 'frame-sent' && condition());
    if (found === undefined) throw new Error(`the call ended before ${what}`);
  }

  /** The agent's speech from `sinceMs` on, as soon as it is over. */
  async answerSince(sinceMs: number): Promise<Int16Array> {
    const { playout } = this.client;
    await this.until(() => {
      const last = playout.speech().at(-1);
      return last !== undefined && last.endMs > sinceMs && this.client.nowMs() - last.endMs > OVER_AFTER_MS;
    }, 'an answer was over');
    return this.heardSince(sinceMs);
  }

  /** All that was heard from `sinceMs` on. */
  heardSince(sinceMs: number): Int16Array {
    return this.client.heard().slice(Math.floor((sinceMs * this.rate) / 1000));
  }

  /** Waits for the agent's voice that begins after `sinceMs` and has lasted for `lastsMs`. */
  untilBotSpeaks(sinceMs: number, lastsMs: number): Promise<void> {
    return this.until(
      () =>
        this.client.playout
          .speech()
          .some((span) => span.startMs >= sinceMs && this.client.nowMs() > span.startMs + lastsMs),
      'the agent spoke',
    );
  }

  /** Says this and gives the sound of the answer, which may begin while a recording still plays its last silence. */
  async ask(pcm: Int16Array): Promise<Int16Array> {
    const said = await this.client.say(pcm);
    const speech = speechIn(pcm, this.rate);
    if (said === undefined || speech === undefined) throw new Error('the question was not asked');
    return this.answerSince(said.startMs + speech.endMs);
  }
}
