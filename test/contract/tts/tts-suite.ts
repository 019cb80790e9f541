/** What every voice must do (docs/architecture/adding-a-provider.md), whatever its vendor and whether it holds a socket or asks per text. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock, type Clock } from '../../../shared/runtime/clock.ts';
import type { TtsEvent, TtsSession, TtsStage } from '../../../worker/stages/stage.ts';
import { Events, newStageContext } from '../../support/core/stage-context.ts';
import { placesWithin } from '../../support/sampled.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';

/** What the suite needs of a server. */
export interface VoiceServer {
  readonly address: string;
  /** What sessions hold there: a connection each, or a request each. */
  readonly connections: readonly { readonly closed: number | undefined }[];
  readonly last: {
    readonly closed: number | undefined;
    readonly socket: { send(text: string): void; terminate(): void };
    readonly raw: { destroy(): void };
  };
  readonly messages: readonly object[];
  readonly attempts: number;
  refuseWith: { status: number; headers?: string } | undefined;
  mute: boolean;
  deaf: boolean;
  cutAfterBytes: number | undefined;
  sentBytes: number;
  samplesPerChar: number;
  start(): Promise<void>;
  close(): Promise<void>;
  until(holds: () => boolean): Promise<void>;
}

export interface VoiceUnderTest {
  readonly newFake: () => VoiceServer;
  readonly newStage: (address: string) => TtsStage;
  /** It says when words start. */
  readonly hasWords: boolean;
  /** It says that a piece was spoken right after the piece's audio, not when its context ends; default as `hasWords`. */
  readonly endsPieces?: boolean;
  /** False where the first text of a session connects; default true. */
  readonly connectsAtOpen?: boolean;
  /** Connections that one session uses in turn; default 1. */
  readonly connections?: number;
  /** False where the server is not told that a context ends; default true. */
  readonly tellsFlush?: boolean;
  /** False where one message may carry a whole piece and the next, which a pause cannot stop; default true. */
  readonly stopsInPiece?: boolean;
  /**
   * Characters that reach the server of the suite's first piece and of both, where blanks are added or left out;
   * default 13 and 25.
   */
  readonly sentChars?: readonly [number, number];
}

export function describeVoice(name: string, voice: VoiceUnderTest): void {
  const { connectsAtOpen = true, connections = 1, tellsFlush = true } = voice;
  const { hasWords, endsPieces = hasWords, stopsInPiece = true } = voice;
  const [firstChars, bothChars] = voice.sentChars ?? [13, 25];

  describe(`${name} keeps the contract of a voice`, () => {
    let server: VoiceServer;
    let stage: TtsStage;
    let session: TtsSession;
    let events: Events<TtsEvent>;
    const stages: TtsStage[] = [];
    const open = (clock?: Clock): void => {
      stage = voice.newStage(server.address);
      stages.push(stage);
      events = new Events();
      session = stage.open(newStageContext(clock), events.sink);
    };
    const shut = async (): Promise<void> => {
      session.close();
      await stage.close();
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
      for (const opened of stages.splice(0)) await opened.close();
      await server.close();
    });

    it('speaks two pieces, says how far it got, and answers the flush last', async () => {
      open();
      speakTwo(7);
      expect(events.all).toEqual([]);
      await ended();
      expect(events.all.at(-1)).toEqual({ type: 'flushed', context: 7 });
      expect(events.of('spoken').map((event) => event.chars)).toEqual([13, 25]);
      expect(samples().length).toBe(bothChars * server.samplesPerChar);
      expect(samples().every((sample) => sample > 0)).toBe(true);
    });

    it.runIf(hasWords)('says when each word starts', async () => {
      open();
      speakTwo(7);
      await ended();
      expect(events.of('word').map((event) => [event.chars, Math.round(event.startMs)])).toEqual([
        [0, 0],
        [6, 60],
        [13, 130],
        [17, 170],
        [21, 210],
      ]);
    });

    it.runIf(endsPieces)('says that a piece was spoken when its audio has come, and not before', async () => {
      open();
      speakTwo(7);
      await ended();
      const until = events.all.findIndex((event) => event.type === 'spoken');
      const before = events.all
        .slice(0, until)
        .reduce((n, e) => n + (e.type === 'audio' ? e.pcm.length : 0), 0);
      expect(before).toBe(firstChars * server.samplesPerChar);
    });

    it('speaks contexts one after the other over the same connections', async () => {
      open();
      for (const context of [1, 2, 3]) speakTwo(context);
      await events.seen('flushed', 3);
      expect(events.of('flushed').map((event) => event.context)).toEqual([1, 2, 3]);
      const order = events.of('audio').map((event) => event.context);
      expect(order).toEqual([...order].sort((a, b) => a - b));
      expect(server.attempts).toBeGreaterThan(0);
      expect(server.attempts).toBeLessThanOrEqual(connections);
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
      // What had been read already may still come.
      await turns();
      const before = events.all.length;
      await turns();
      expect(events.all.length).toBe(before);
      expect(events.of('flushed')).toEqual([]);
      if (stopsInPiece) expect(events.of('spoken')).toEqual([]);
      session.resume();
      await ended();
      const count = events.of('audio').reduce((sum, event) => sum + event.pcm.length, 0);
      expect(count).toBe(bothChars * 60_000);
    });

    it('names a refusal and what it was asked to wait', async () => {
      server.refuseWith = { status: 429, headers: 'Retry-After: 7\r\n' };
      open();
      if (!connectsAtOpen) session.speak(1, 'Hello there.');
      await ended();
      expect(errors()).toEqual([{ kind: 'rejected', status: 429, retryAfterMs: 7000 }]);
    });

    it.each(['not json', '[1]', 'null'])('calls the message %j a broken protocol', async (text) => {
      server.deaf = true;
      open();
      session.speak(1, 'Hello there.');
      await server.until(() => server.messages.length > 0);
      server.last.socket.send(text);
      await ended();
      expect(errors()).toMatchObject([{ kind: 'protocol' }]);
    });

    it('replaces a connection that is lost between contexts, without a word', async () => {
      open();
      speakTwo(1);
      await ended();
      const before = server.attempts;
      server.last.socket.terminate();
      await server.until(() => server.last.closed !== undefined);
      await turns();
      speakTwo(2);
      await events.until(() => events.of('flushed').length === 2 || events.of('error').length > 0);
      expect(errors()).toEqual([]);
      expect(server.attempts).toBeGreaterThan(before);
      expect(server.attempts).toBeLessThanOrEqual(before + connections);
    });

    it('ends with one error, after an exact prefix, wherever the connection is cut', async () => {
      server.samplesPerChar = 4;
      open();
      speakTwo(1);
      await ended();
      const whole = samples();
      const total = server.sentBytes;
      await shut();
      for (const cut of placesWithin(0, total)) {
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
        expect(samples()).toEqual(wasWhole ? whole : whole.slice(0, samples().length));
        expect(events.all.at(-1)!.type).toBe(wasWhole ? 'flushed' : 'error');
        await shut();
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
        session.speak(1, 'Hello there.');
        session.flush(1);
        await server.until(() =>
          fault === 'mute' ? server.attempts > 0 : server.messages.length > before + (tellsFlush ? 1 : 0),
        );
        clock.advance(limitMs - 1);
        expect(errors()).toEqual([]);
        // A live connection answers the question whether it lives; this clock leaves it no time to.
        clock.advance(1);
        expect(errors()).toEqual([{ kind: 'timeout', what }]);
        await shut();
      }
    });

    it('says nothing after it was closed, in whatever phase', async () => {
      open();
      session.close();
      expect(events.all).toEqual([]);
      open();
      speakTwo(1);
      session.close();
      expect(events.all).toEqual([]);
      open();
      speakTwo(1);
      await events.seen('audio');
      const before = events.all.length;
      session.close();
      await server.until(() => server.connections.every((connection) => connection.closed !== undefined));
      expect(events.all.length).toBe(before);
      server.deaf = true;
      const heard = server.messages.length;
      open(systemClock);
      speakTwo(1);
      await server.until(() => server.messages.length > heard);
      session.close();
      await server.until(() => server.connections.every((connection) => connection.closed !== undefined));
      expect(events.all).toEqual([]);
    });
  });
}
