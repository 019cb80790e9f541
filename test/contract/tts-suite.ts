/** What every voice over a WebSocket must do (spec 03, TTS contract), whatever its vendor. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { TtsEvent, TtsSession, TtsStage } from '../../worker/stages/stage.ts';
import type { FakeVoice } from '../support/fake-voice.ts';
import { Events, newStageContext } from '../support/stage-context.ts';
import { newVirtualClock } from '../support/virtual-clock.ts';

export interface VoiceUnderTest {
  readonly newFake: () => FakeVoice;
  readonly newStage: (address: string) => TtsStage;
  readonly hasWords: boolean;
}

export function describeVoice(name: string, voice: VoiceUnderTest): void {
  describe(`${name} keeps the contract of a voice`, () => {
    let server: FakeVoice;
    let stage: TtsStage;
    let session: TtsSession;
    let events: Events<TtsEvent>;
    const open = (clock?: Clock): void => {
      stage = voice.newStage(server.address);
      events = new Events();
      session = stage.open(newStageContext(clock), events.sink);
    };
    const speakTwo = (context: number): void => {
      session.speak(context, 'Hello there. ');
      session.speak(context, 'How are you?');
      session.flush(context);
    };
    const ended = (): Promise<void> =>
      events.until(() => events.all.some((event) => event.type === 'flushed' || event.type === 'error'));
    const samples = (): number[] => events.of('audio').flatMap((event) => [...event.pcm]);
    /** What lies in the sockets of this machine is read meanwhile. */
    const turns = async (): Promise<void> => {
      for (let i = 0; i < 50; i += 1) await new Promise((resolve) => setImmediate(resolve));
    };
    const errors = (): unknown[] => events.of('error').map((event) => event.error);

    beforeEach(async () => {
      server = voice.newFake();
      await server.start();
    });
    afterEach(async () => {
      session.close();
      await server.close();
    });

    it('speaks two pieces, says how far it got, and answers the flush last', async () => {
      open();
      speakTwo(7);
      expect(events.all).toEqual([]);
      await ended();
      expect(events.all.at(-1)).toEqual({ type: 'flushed', context: 7 });
      expect(events.of('spoken').map((event) => event.chars)).toEqual([13, 25]);
      expect(samples().length).toBeGreaterThanOrEqual(25 * server.samplesPerChar);
      expect(samples().every((sample) => sample > 0)).toBe(true);
      if (!voice.hasWords) return;
      expect(events.of('word').map((event) => [event.chars, Math.round(event.startMs)])).toEqual([
        [0, 0],
        [6, 60],
        [13, 130],
        [17, 170],
        [21, 210],
      ]);
      const until = events.all.findIndex((event) => event.type === 'spoken');
      const before = events.all
        .slice(0, until)
        .reduce((n, e) => n + (e.type === 'audio' ? e.pcm.length : 0), 0);
      expect(before).toBe(13 * server.samplesPerChar);
    });

    it('speaks contexts one after the other over one connection', async () => {
      open();
      for (const context of [1, 2, 3]) speakTwo(context);
      await events.seen('flushed', 3);
      expect(events.of('flushed').map((event) => event.context)).toEqual([1, 2, 3]);
      const order = events.of('audio').map((event) => event.context);
      expect(order).toEqual([...order].sort((a, b) => a - b));
      expect(server.attempts).toBe(1);
    });

    it('passes over blank text without the server', async () => {
      open();
      session.speak(1, '');
      session.speak(1, ' \n');
      session.flush(1);
      await ended();
      expect(events.all).toEqual([
        { type: 'spoken', context: 1, chars: 2 },
        { type: 'flushed', context: 1 },
      ]);
      expect(server.messages).toEqual([]);
    });

    it('is silent about a context that was cancelled, and speaks the next', async () => {
      open();
      session.speak(1, 'Before the connection.');
      session.cancel(1);
      session.speak(1, 'Late.');
      session.speak(2, 'On the wire. ');
      await server.until(() => server.messages.length > 0);
      session.cancel(2);
      speakTwo(3);
      await ended();
      const after = events.all.slice(events.all.findLastIndex((event) => event.type === 'cancelled') + 1);
      expect(after.every((event) => event.type !== 'error' && event.context === 3)).toBe(true);
      expect(events.of('cancelled').map((event) => event.context)).toEqual([1, 2]);
      expect(events.of('flushed')).toEqual([{ type: 'flushed', context: 3 }]);
    });

    it('reads nothing more while paused, and loses nothing', async () => {
      server.samplesPerChar = 60_000;
      open();
      speakTwo(1);
      await events.seen('audio');
      session.pause();
      await turns();
      expect(events.of('flushed')).toEqual([]);
      session.resume();
      await ended();
      const count = events.of('audio').reduce((sum, event) => sum + event.pcm.length, 0);
      expect(count).toBeGreaterThanOrEqual(25 * 60_000);
    });

    it('names a refusal and what it was asked to wait', async () => {
      server.refuseWith = { status: 429, headers: 'Retry-After: 7\r\n' };
      open();
      await ended();
      expect(errors()).toEqual([{ kind: 'rejected', status: 429, retryAfterMs: 7000 }]);
    });

    it.each(['not json', '[1]', 'null'])('calls the message %j a broken protocol', async (text) => {
      server.deaf = true;
      open();
      session.speak(1, 'Hello.');
      await server.until(() => server.messages.length > 0);
      server.last.socket.send(text);
      await ended();
      expect(errors()).toMatchObject([{ kind: 'protocol' }]);
    });

    it('replaces a connection that is lost between contexts, without a word', async () => {
      open();
      speakTwo(1);
      await ended();
      server.last.socket.terminate();
      await server.until(() => server.last.closed !== undefined);
      await turns();
      speakTwo(2);
      await events.until(() => events.of('flushed').length === 2 || events.of('error').length > 0);
      expect(errors()).toEqual([]);
      expect(server.attempts).toBe(2);
    });

    it('ends with one error, after an exact prefix, wherever the connection is cut', async () => {
      server.samplesPerChar = 4;
      open();
      speakTwo(1);
      await ended();
      const whole = samples();
      const total = server.sentBytes;
      session.close();
      for (let cut = 0; cut < total; cut += 1) {
        server.sentBytes = 0;
        server.cutAfterBytes = cut;
        open();
        speakTwo(1);
        if (cut === 0) {
          await server.until(() => server.messages.length > 0);
          server.last.raw.destroy();
        }
        await ended();
        const wasWhole = events.of('flushed').length === 1;
        if (!wasWhole) expect(errors()).toEqual([{ kind: 'disconnected' }]);
        expect(whole.slice(0, samples().length)).toEqual(samples());
        expect(events.all.at(-1)!.type).toBe(wasWhole ? 'flushed' : 'error');
        session.close();
      }
    });

    it('gives up on a connection after 3 s, and on a voice that says nothing after 15 s', async () => {
      for (const [fault, limitMs, what] of [
        ['mute', 3_000, 'connect'],
        ['deaf', 15_000, 'first audio'],
      ] as const) {
        const clock = newVirtualClock();
        server.mute = fault === 'mute';
        server.deaf = fault === 'deaf';
        const before = server.messages.length;
        open(clock);
        session.speak(1, 'Hello.');
        session.flush(1);
        await server.until(() =>
          fault === 'mute' ? server.attempts > 0 : server.messages.length > before + 1,
        );
        clock.advance(limitMs - 1);
        expect(errors()).toEqual([]);
        // A live connection answers the question whether it lives; this clock leaves it no time to.
        clock.advance(1);
        expect(errors()).toEqual([{ kind: 'timeout', what }]);
        session.close();
      }
    });

    it('says nothing after it was closed, in whatever phase', async () => {
      open();
      session.close();
      expect(events.all).toEqual([]);
      open();
      speakTwo(1);
      session.close();
      open();
      speakTwo(1);
      await events.seen('audio');
      const before = events.all.length;
      session.close();
      await server.until(() => server.connections.every((connection) => connection.closed !== undefined));
      expect(events.all.length).toBe(before);
    });
  });
}
