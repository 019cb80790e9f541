/**
 * What a package's voice must do, as checks for any test runner: published as `@voice-agent-service/stage/checks`. Each check opens a
 * session of its own on a stage that reaches a real or a fake server, and throws what is wrong.
 */
import { systemClock } from '../../shared/runtime/clock.ts';
import type { StageContext, TtsEvent, TtsSession, TtsStage } from './stage.ts';

export interface StageCheck<T> {
  readonly name: string;
  /** Rejects with an `Error` that says what the stage does wrong. */
  readonly run: (stage: T) => Promise<void>;
}

/** Longest wait for the events of a check, in milliseconds. */
const patienceMs = 10_000;

class Spoken {
  readonly events: TtsEvent[] = [];
  readonly session: TtsSession;
  #isInside = false;
  #changed: () => void = () => undefined;

  constructor(stage: TtsStage) {
    const context: StageContext = { clock: systemClock, bind: (callback) => callback };
    this.session = stage.open(context, (event) => {
      if (this.#isInside) throw new Error(`told "${event.type}" from inside a method of the session`);
      this.events.push(event);
      this.#changed();
    });
  }

  /** Calls methods of the session, from inside of which nothing may be told. */
  ask(methods: (session: TtsSession) => void): void {
    this.#isInside = true;
    methods(this.session);
    this.#isInside = false;
  }

  of<K extends TtsEvent['type']>(type: K): Extract<TtsEvent, { type: K }>[] {
    return this.events.filter((event): event is Extract<TtsEvent, { type: K }> => event.type === type);
  }

  async until(what: string, holds: () => boolean): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const late = systemClock.after(patienceMs, () => reject(new Error(`waited in vain for ${what}`)));
      this.#changed = () => {
        const [error] = this.of('error');
        if (!holds() && error === undefined) return;
        late.cancel();
        if (holds()) resolve();
        else reject(new Error(`failed (${error?.error.kind ?? ''}) instead of ${what}`));
      };
      this.#changed();
    });
  }
}

const require = (isFine: boolean, what: string): void => {
  if (!isFine) throw new Error(what);
};

const samplesOf = (spoken: Spoken): number =>
  spoken.of('audio').reduce((sum, { pcm }) => sum + pcm.length, 0);

async function withSession(stage: TtsStage, check: (spoken: Spoken) => Promise<void>): Promise<void> {
  const spoken = new Spoken(stage);
  try {
    await check(spoken);
  } finally {
    spoken.session.close();
  }
}

const voiceCheck = (name: string, check: (spoken: Spoken) => Promise<void>): StageCheck<TtsStage> => ({
  name,
  run: (stage) => withSession(stage, check),
});

export const voiceChecks: readonly StageCheck<TtsStage>[] = [
  voiceCheck('speaks two pieces, says how far it got, and answers the flush last', async (spoken) => {
    spoken.ask((session) => {
      session.speak(7, 'Hello there. ');
      session.speak(7, 'How are you?');
      session.flush(7);
    });
    await spoken.until('flushed', () => spoken.of('flushed').length === 1);
    require(samplesOf(spoken) > 0, 'no audio came');
    require(spoken.of('spoken').at(-1)?.chars ===
      25, 'the last "spoken" must count all 25 characters of both pieces');
    require(spoken.events.at(-1)?.type === 'flushed', 'something came after "flushed"');
    require(spoken.events.every(
      (event) => event.type === 'error' || event.context === 7,
    ), 'a context must be 7');
  }),
  voiceCheck('speaks contexts one after the other', async (spoken) => {
    for (const context of [1, 2, 3]) {
      spoken.ask((session) => {
        session.speak(context, 'One.');
        session.flush(context);
      });
    }
    await spoken.until('three times flushed', () => spoken.of('flushed').length === 3);
    const order = spoken.events.map((event) => (event.type === 'error' ? 0 : event.context));
    require(order.every(
      (context, at) => at === 0 || context >= (order[at - 1] ?? 0),
    ), 'contexts got mixed up');
  }),
  voiceCheck('passes over blank text', async (spoken) => {
    spoken.ask((session) => {
      session.speak(1, ' \n');
      session.flush(1);
    });
    await spoken.until('flushed', () => spoken.of('flushed').length === 1);
    require(samplesOf(spoken) === 0, 'blank text has no sound');
  }),
  voiceCheck('is silent about a context that was cancelled, and speaks the next', async (spoken) => {
    spoken.ask((session) => {
      session.speak(1, 'This is never heard.');
      session.flush(1);
      session.cancel(1);
      session.speak(2, 'This is.');
      session.flush(2);
    });
    await spoken.until('flushed', () => spoken.of('flushed').length > 0);
    require(spoken.of('cancelled').length === 1, 'a cancel is answered by one "cancelled"');
    const from = spoken.events.findIndex(({ type }) => type === 'cancelled');
    const after = spoken.events.slice(from + 1);
    require(after.every(
      (event) => event.type !== 'error' && event.context === 2,
    ), 'a cancelled context went on');
    require(spoken.of('flushed').every(({ context }) => context === 2), 'a cancelled context is not flushed');
  }),
  voiceCheck('cancels what is being spoken at once', async (spoken) => {
    spoken.ask((session) => session.speak(1, 'A text that is long enough to be interrupted. '.repeat(20)));
    await spoken.until('audio', () => samplesOf(spoken) > 0);
    spoken.ask((session) => session.cancel(1));
    await spoken.until('cancelled', () => spoken.of('cancelled').length === 1);
    spoken.ask((session) => {
      session.speak(2, 'Next.');
      session.flush(2);
    });
    await spoken.until('flushed', () => spoken.of('flushed').length === 1);
    const from = spoken.events.findIndex(({ type }) => type === 'cancelled');
    const after = spoken.events.slice(from + 1);
    require(after.every(
      (event) => event.type !== 'error' && event.context === 2,
    ), 'a cancelled context went on');
  }),
  voiceCheck('goes on after a pause, and loses nothing', async (spoken) => {
    const text = 'What is read slowly is not lost. '.repeat(10);
    const speak = async (context: number, pauses: boolean): Promise<number> => {
      const before = samplesOf(spoken);
      spoken.ask((session) => {
        session.speak(context, text);
        session.flush(context);
        if (pauses) session.pause();
      });
      if (pauses) await new Promise<void>((resolve) => void systemClock.after(100, resolve));
      require(!pauses || spoken.of('flushed').length === context - 1, 'all was read during a pause');
      if (pauses) spoken.ask((session) => session.resume());
      await spoken.until('flushed', () => spoken.of('flushed').length === context);
      return samplesOf(spoken) - before;
    };
    const whole = await speak(1, false);
    require((await speak(2, true)) === whole, 'a pause changed how much audio came');
  }),
  voiceCheck('says nothing after it was closed', async (spoken) => {
    spoken.ask((session) => {
      session.speak(1, 'Nobody hears this.');
      session.flush(1);
    });
    await spoken.until('audio', () => samplesOf(spoken) > 0);
    const before = spoken.events.length;
    spoken.ask((session) => session.close());
    await new Promise<void>((resolve) => void systemClock.after(100, resolve));
    require(spoken.events.length === before, 'something was told after close()');
  }),
];
