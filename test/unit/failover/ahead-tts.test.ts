/** What may have to be said next is made ahead: adopted by the context that begins with it, and heard by nobody otherwise. */
import { describe, expect, it } from 'vitest';
import { newPrng } from '../../../shared/base/prng.ts';
import { AheadTts } from '../../../worker/stages/ahead-tts.ts';
import type { StageContext, TtsEvent, TtsSession } from '../../../worker/stages/stage.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';

/** A voice that says a character for each sample, when it is told to. */
class Voice implements TtsSession {
  readonly sampleRate = 16_000;
  readonly asked: string[] = [];
  /** It says later that something is cancelled. */
  isSlow = false;
  readonly texts = new Map<number, string>();
  readonly #said = new Map<number, number>();
  readonly #flushed = new Set<number>();
  readonly #sink: (event: TtsEvent) => void;

  constructor(sink: (event: TtsEvent) => void) {
    this.#sink = sink;
  }

  speak(context: number, text: string): void {
    this.asked.push(`${context} ${text}`);
    this.texts.set(context, (this.texts.get(context) ?? '') + text);
  }

  flush(context: number): void {
    this.#flushed.add(context);
  }

  cancel(context: number): void {
    this.asked.push(`cancel ${context}`);
    if (!this.texts.delete(context)) return;
    this.#said.delete(context);
    if (!this.isSlow) this.#sink({ type: 'cancelled', context });
  }

  pause(): void {}
  resume(): void {}
  close(): void {}

  /** Says up to so many characters of the oldest context. */
  say(most: number): void {
    const [first] = this.texts;
    if (first === undefined) return;
    const [context, text] = first;
    const from = this.#said.get(context) ?? 0;
    const to = Math.min(text.length, from + most);
    this.#said.set(context, to);
    const pcm = Int16Array.from(text.slice(from, to), (char) => char.charCodeAt(0));
    if (pcm.length > 0) this.#sink({ type: 'audio', context, pcm });
    if (pcm.length > 0) this.#sink({ type: 'spoken', context, chars: to });
    if (to < text.length || !this.#flushed.has(context)) return;
    this.texts.delete(context);
    this.#sink({ type: 'flushed', context });
  }
}

function newSetup() {
  const clock = newVirtualClock();
  const context: StageContext = { clock, bind: (callback) => callback };
  const events: TtsEvent[] = [];
  const inner: { voice?: Voice } = {};
  const session = new AheadTts(
    context,
    (sink) => (inner.voice = new Voice(sink)),
    (event) => events.push(event),
  );
  const { voice } = inner;
  if (voice === undefined) throw new Error('no voice was opened');
  const heard = (id: number): string =>
    events
      .flatMap((event) => (event.type === 'audio' && event.context === id ? [...event.pcm] : []))
      .map((code) => String.fromCharCode(code))
      .join('');
  return { clock, session, voice, events, heard };
}

describe('what is prepared', () => {
  it('is heard of the context that begins with it, which goes on in the same place', () => {
    const { clock, session, voice, events, heard } = newSetup();
    session.prepare('It is ten. ');
    voice.say(4);
    expect(events).toEqual([]);
    session.speak(1, 'It is ten. ');
    expect(events).toEqual([]);
    clock.advance(0);
    expect(heard(1)).toBe('It i');
    session.speak(1, 'Goodbye.');
    session.flush(1);
    for (let i = 0; i < 5; i += 1) voice.say(8);
    expect(heard(1)).toBe('It is ten. Goodbye.');
    expect(events.filter(({ type }) => type === 'flushed')).toEqual([{ type: 'flushed', context: 1 }]);
    expect(events.findLast(({ type }) => type === 'spoken')).toMatchObject({ context: 1, chars: 19 });
    expect(voice.asked).toEqual(['-1 It is ten. ', '-1 Goodbye.']);
  });

  it('is told in order where more is said before it is told', () => {
    const { clock, session, voice, heard } = newSetup();
    session.prepare('It is ten. ');
    voice.say(4);
    session.speak(1, 'It is ten. ');
    voice.say(7);
    clock.advance(0);
    expect(heard(1)).toBe('It is ten. ');
  });

  it.each([
    ['other words', (session: AheadTts) => session.speak(1, 'It is nine. ')],
    ['the announcement', (session: AheadTts) => session.speak(1, 'It is ten. ', { recorded: true })],
    ['another guess', (session: AheadTts) => session.prepare('It is nine. ')],
    ['nothing', (session: AheadTts) => session.forget()],
  ])('is cancelled and heard by nobody before %s', (_, act) => {
    const { clock, session, voice, events } = newSetup();
    session.prepare('It is ten. ');
    voice.say(4);
    act(session);
    clock.advance(10);
    expect(voice.asked).toContain('cancel -1');
    expect(events).toEqual([]);
  });

  it('is not adopted in the middle of a context, nor when it has waited for long', () => {
    const { clock, session, voice } = newSetup();
    session.speak(1, 'Well. ');
    session.prepare('It is ten. ');
    session.speak(1, 'It is ten. ');
    session.prepare('It is ten. ');
    clock.advance(5_000);
    session.speak(2, 'It is ten. ');
    expect(voice.asked.filter((asked) => /^[12] /.test(asked))).toEqual([
      '1 Well. ',
      '1 It is ten. ',
      '2 It is ten. ',
    ]);
  });

  it('is cut with its context before it is told', () => {
    const { clock, session, voice, events, heard } = newSetup();
    session.prepare('It is ten. ');
    voice.say(4);
    session.speak(1, 'It is ten. ');
    session.cancel(1);
    clock.advance(0);
    expect([heard(1), events]).toEqual(['', [{ type: 'cancelled', context: 1 }]]);
  });

  it('is not told any more once it is cut, whenever the voice says so', () => {
    const { clock, session, voice, events } = newSetup();
    voice.isSlow = true;
    session.prepare('It is ten. ');
    voice.say(4);
    session.speak(1, 'It is ten. ');
    session.cancel(1);
    clock.advance(0);
    expect(events).toEqual([]);
  });

  it('changes nothing that is heard, whatever was guessed (2,000 seeds)', () => {
    const words = ['Yes. ', 'No. ', 'It is ten. '];
    for (let seed = 1; seed <= 2_000; seed += 1) {
      const prng = newPrng(seed);
      const { clock, session, voice, events, heard } = newSetup();
      const said: string[] = [];
      for (let context = 1; context <= 6; context += 1) {
        if (prng.below(3) > 0) session.prepare(words[prng.below(3)] ?? '');
        for (let i = prng.below(4); i > 0; i -= 1) voice.say(1 + prng.below(8));
        if (prng.below(5) === 0) session.forget();
        let text = '';
        for (let i = 1 + prng.below(3); i > 0; i -= 1) {
          const word = words[prng.below(3)] ?? '';
          text += word;
          session.speak(context, word);
          if (prng.below(2) === 0) clock.advance(1);
          if (prng.below(2) === 0) voice.say(1 + prng.below(20));
        }
        session.flush(context);
        said[context] = text;
        if (prng.below(4) > 0) continue;
        session.cancel(context);
        clock.advance(0);
        said[context] = heard(context);
      }
      for (let i = 0; i < 60; i += 1) voice.say(20);
      clock.advance(1);
      for (let i = 0; i < 60; i += 1) voice.say(20);
      for (const [context, text] of said.entries())
        if (text !== undefined) expect(heard(context), `seed ${seed}`).toBe(text);
      expect(events.every((event) => event.type === 'error' || event.context > 0)).toBe(true);
    }
  });
});
