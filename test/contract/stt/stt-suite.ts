/** What every streaming recogniser's stage must do, over whichever fake stands for its server (docs/architecture/adding-a-provider.md). */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock, type Clock } from '../../../shared/runtime/clock.ts';
import type { SttEvent, SttSession, SttStage } from '../../../worker/stages/stage.ts';
import type { ByteCut } from '../../support/audio/byte-cut.ts';
import { Events, newStageContext } from '../../support/core/stage-context.ts';
import { placesWithin } from '../../support/sampled.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';

/** What the suite needs of a server. */
export interface SuiteServer {
  readonly connections: readonly { readonly closed: number | undefined }[];
  readonly last: {
    readonly socket: SuiteSocket;
    readonly closed: number | undefined;
    readonly pieces?: readonly number[];
  };
  readonly utterances: string[];
  readonly attempts: number;
  readonly cut: ByteCut;
  refuseWith: number | undefined;
  retryAfter?: string | undefined;
  mute: boolean;
  start(): Promise<void>;
  close(): Promise<void>;
  until(holds: () => boolean): Promise<void>;
  endpoint(): void;
}

interface SuiteSocket {
  send(data: string | Buffer): void;
  close(code: number): void;
  terminate(): void;
  pause(): void;
}

export interface SuiteOptions<S extends SuiteServer> {
  newServer(): S;
  newStage(server: S): SttStage;
  ignoreFinalize(server: S, ignores: boolean): void;
  /** The server need not answer a finalize when it has ended the utterance by itself. */
  readonly mayLeaveFinalize?: true;
  readonly finalizeTimeoutMs: number;
  /** False where results come only when they are asked for. */
  readonly hasPartials?: boolean;
  /** False where the server never ends an utterance by itself. */
  readonly hasEndpoint?: boolean;
}

interface Run {
  readonly events: Events<SttEvent>;
  readonly session: SttSession;
}

export function sttSuite<S extends SuiteServer>(name: string, options: SuiteOptions<S>): void {
  const { hasPartials = true, hasEndpoint = true } = options;

  describe(`the contract of a recogniser: ${name}`, () => {
    let server: S;
    let stage: SttStage;
    let events: Events<SttEvent>;
    let session: SttSession;

    const start = (clock?: Clock): Run => {
      const started = new Events<SttEvent>();
      return { events: started, session: stage.open(newStageContext(clock), started.sink) };
    };
    const open = (clock?: Clock): void => {
      ({ events, session } = start(clock));
    };
    const opened = async (clock?: Clock): Promise<void> => {
      open(clock);
      await server.until(() => server.connections.length === 1);
    };
    const speakIn = (spoken: SttSession, seconds: number): void => {
      for (let i = 0; i < seconds * 50; i += 1) spoken.audio(new Int16Array(320).fill(i + 1));
    };
    const speak = (seconds: number): void => speakIn(session, seconds);
    const finals = (of = events): string[] =>
      of
        .of('transcript')
        .filter((t) => t.isFinal && t.text !== '')
        .map((t) => t.text);

    beforeEach(async () => {
      server = options.newServer();
      await server.start();
      stage = options.newStage(server);
    });
    afterEach(async () => {
      session.close();
      await stage.close();
      await server.close();
    });

    it('gives partials, then the final text, then `finalized`', async () => {
      server.utterances.push('book a table for two');
      await opened();
      speak(1);
      if (hasPartials) await events.seen('transcript', 2);
      session.finalize();
      await events.seen('finalized');
      const partials = events.of('transcript').filter((t) => !t.isFinal);
      if (hasPartials) expect(partials.map((t) => t.text)).toContain('book a');
      expect(partials.every((t) => !t.speechFinal && !t.fromFinalize)).toBe(true);
      expect(events.all.slice(-2)).toMatchObject([
        {
          type: 'transcript',
          text: 'book a table for two',
          isFinal: true,
          speechFinal: true,
          fromFinalize: true,
        },
        { type: 'finalized' },
      ]);
      expect(events.of('error')).toEqual([]);
    });

    it('answers a finalize without audio at once, but not inside it', async () => {
      await opened();
      session.finalize();
      session.finalize();
      expect(events.all).toEqual([]);
      await events.seen('finalized', 2);
      expect(events.all).toEqual([{ type: 'finalized' }, { type: 'finalized' }]);
    });

    it('keeps utterances apart that follow each other without a pause', async () => {
      server.utterances.push('one', 'two', 'three');
      await opened();
      for (let i = 0; i < 3; i += 1) {
        speak(0.5);
        session.finalize();
      }
      session.finalize();
      await events.seen('finalized', 4);
      expect(finals()).toEqual(['one', 'two', 'three']);
      expect(events.all.slice(-2)).toEqual([{ type: 'finalized' }, { type: 'finalized' }]);
      expect(events.of('error')).toEqual([]);
    });

    it('keeps audio that comes during a finalize for the next utterance', async () => {
      server.utterances.push('first', 'second');
      await opened();
      speak(0.5);
      session.finalize();
      speak(0.5);
      await events.seen('finalized');
      expect(finals()).toEqual(['first']);
      session.finalize();
      await events.seen('finalized', 2);
      expect(finals()).toEqual(['first', 'second']);
    });

    it.runIf(hasEndpoint)("passes on the server's own end of an utterance", async () => {
      server.utterances.push('yes please', 'and more');
      await opened();
      speak(0.7);
      if (hasPartials) await events.seen('transcript', 2);
      server.endpoint();
      await events.until(() => finals().length === 1);
      const end = { type: 'transcript', text: 'yes please', isFinal: true, speechFinal: true };
      expect(events.all.at(-1)).toMatchObject({ ...end, fromFinalize: false });
      speak(0.7);
      session.finalize();
      await events.seen('finalized');
      expect(finals()).toEqual(['yes please', 'and more']);
    });

    it('says when its input is full, and keeps the newest', () => {
      open();
      const accepted = Array.from({ length: 100 }, () => session.audio(new Int16Array(1600).fill(7)));
      expect(accepted.slice(0, 30).every(Boolean)).toBe(true);
      expect(accepted.at(-1)).toBe(false);
    });

    it.each([400, 401, 403, 429, 500, 503])('names the status %i of a refusal', async (status) => {
      server.refuseWith = status;
      open();
      speak(0.2);
      session.finalize();
      await events.seen('error');
      expect(events.all).toEqual([{ type: 'error', error: { kind: 'rejected', status } }]);
      expect(session.audio(new Int16Array(320))).toBe(false);
    });

    it('passes on how long the server asks to wait', async () => {
      if (!('retryAfter' in server)) return;
      server.refuseWith = 429;
      server.retryAfter = '7';
      open();
      await events.seen('error');
      const error = { kind: 'rejected', status: 429, retryAfterMs: 7000 };
      expect(events.all).toEqual([{ type: 'error', error }]);
    });

    it('gives up a connection that is not there after three seconds', async () => {
      server.mute = true;
      const clock = newVirtualClock();
      open(clock);
      await server.until(() => server.attempts === 1);
      clock.advance(2999);
      expect(events.all).toEqual([]);
      clock.advance(1);
      expect(events.all).toEqual([{ type: 'error', error: { kind: 'timeout', what: 'connect' } }]);
    });

    it('does not call speech heard that no server took', async () => {
      server.mute = true;
      const clock = newVirtualClock();
      open(clock);
      await server.until(() => server.attempts === 1);
      speak(0.5);
      session.finalize();
      clock.advance(Math.min(options.finalizeTimeoutMs, 3000));
      expect(events.all.map((event) => event.type)).toEqual(['error']);
    });

    it('is disconnected when nobody listens', async () => {
      await server.close();
      open();
      await events.seen('error');
      expect(events.all).toEqual([{ type: 'error', error: { kind: 'disconnected' } }]);
      await server.start();
    });

    it('is disconnected when the connection is lost during an utterance', async () => {
      server.utterances.push('one two three');
      await opened();
      speak(0.7);
      if (hasPartials) await events.seen('transcript');
      else await server.until(() => server.last.pieces?.length !== 0);
      server.last.socket.terminate();
      await events.seen('error');
      expect(events.all.at(-1)).toEqual({ type: 'error', error: { kind: 'disconnected' } });
      const count = events.all.length;
      session.finalize();
      session.close();
      expect(events.all.length).toBe(count);
    });

    it('reconnects silently when the connection is lost between utterances', async () => {
      server.utterances.push('first', 'second');
      await opened();
      speak(0.5);
      session.finalize();
      await events.seen('finalized');
      server.last.socket.close(1001);
      await server.until(() => server.last.closed !== undefined);
      speak(0.5);
      session.finalize();
      await events.seen('finalized', 2);
      expect(finals()).toEqual(['first', 'second']);
      expect(events.of('error')).toEqual([]);
    });

    it.runIf(hasPartials)(
      'ends the utterance with what it has when a living server does not answer, and goes on elsewhere',
      async () => {
        server.utterances.push('half a sentence is lost', 'again');
        options.ignoreFinalize(server, true);
        await opened(systemClock);
        speak(0.7);
        await events.seen('transcript', 2);
        session.finalize();
        await events.seen('finalized');
        expect(events.all.slice(-2)).toMatchObject([{ isFinal: true }, { type: 'finalized' }]);
        expect(finals()[0]).toMatch(/^half a( sentence)?$/);
        options.ignoreFinalize(server, false);
        speak(0.5);
        session.finalize();
        await events.seen('finalized', 2);
        expect(finals().slice(1)).toEqual(['again']);
        expect(server.connections.length).toBe(2);
      },
    );

    it.runIf(options.mayLeaveFinalize === true)(
      'does not wait for more where the server ended the utterance by itself, and keeps the connection',
      async () => {
        server.utterances.push('all of it', 'again');
        options.ignoreFinalize(server, true);
        await opened(systemClock);
        speak(0.9);
        await events.seen('transcript', 3);
        server.endpoint();
        await events.seen('transcript', 4);
        session.finalize();
        await events.seen('finalized');
        expect(events.of('finalized')).toEqual([{ type: 'finalized' }]);
        options.ignoreFinalize(server, false);
        speak(0.5);
        session.finalize();
        await events.seen('finalized', 2);
        expect(finals()).toEqual(['all of it', 'again']);
        expect(server.connections.length).toBe(1);
      },
    );

    it.each([
      ['a text that is no JSON', 'what?'],
      ['a JSON text that is no object', '[]'],
      ['a binary message', Buffer.from([1, 2])],
      ['more than a mebibyte', `"${'x'.repeat(1_048_577)}"`],
    ])('calls %s a breach of the protocol', async (_name, message) => {
      await opened();
      speak(0.3);
      server.last.socket.send(message);
      await events.seen('error');
      expect(events.of('error').map(({ error }) => error.kind)).toEqual(['protocol']);
      expect(events.all.at(-1)?.type).toBe('error');
    });

    it('calls text that is no UTF-8 a breach of the protocol', async () => {
      await opened();
      speak(0.3);
      const raw = server.last.socket as unknown as { _socket: { write(bytes: Buffer): void } };
      raw._socket.write(Buffer.from([0x81, 2, 0xc3, 0x28]));
      await events.seen('error');
      expect(events.of('error').map(({ error }) => error.kind)).toEqual(['protocol']);
    });

    it('notices a connection that only looks open', async () => {
      server.utterances.push('one two three');
      const clock = newVirtualClock();
      await opened(clock);
      speak(0.7);
      if (hasPartials) await events.seen('transcript', 2);
      else await server.until(() => server.last.pieces?.length !== 0);
      server.last.socket.pause();
      clock.advance(2000);
      expect(events.of('error')).toEqual([]);
      clock.advance(2000);
      const error = { kind: 'timeout', what: 'progress' };
      expect(events.of('error')).toEqual([{ type: 'error', error }]);
    });

    it('calls a finalize that a dead connection swallowed a timeout', async () => {
      const clock = newVirtualClock();
      await opened(clock);
      server.last.socket.pause();
      await server.until(() => server.connections.length === 1);
      speak(0.7);
      session.finalize();
      for (let ms = 0; ms < options.finalizeTimeoutMs + 3000; ms += 100) clock.advance(100);
      expect(events.all.map((event) => event.type)).toEqual(['error']);
      expect(events.of('error')[0]?.error.kind).toBe('timeout');
    });

    it('says nothing after it was closed, at whatever moment', async () => {
      server.utterances.push('never heard', 'never heard', 'never heard');
      open();
      session.close();
      await opened();
      speak(0.5);
      session.finalize();
      session.close();
      const before = events.all.length;
      await server.until(() => server.connections.every((c) => c.closed !== undefined));
      expect(events.all.length).toBe(before);
      expect(session.audio(new Int16Array(320))).toBe(false);
    });

    it('leaves no timer behind', async () => {
      server.utterances.push('hello');
      const clock = newVirtualClock();
      await opened(clock);
      speak(0.5);
      session.finalize();
      for (let i = 0; i < 50 && events.of('finalized').length === 0; i += 1) {
        clock.advance(1);
        await new Promise((resolve) => setImmediate(resolve));
      }
      session.close();
      await server.until(() => server.connections.every((c) => c.closed !== undefined));
      clock.advance(3_000);
      expect(clock.pending).toBe(0);
    });

    it('either hears an utterance whole or fails once, wherever the connection is cut', async () => {
      const hear = async (): Promise<Run> => {
        server.utterances.push('two words');
        const run = start();
        speakIn(run.session, 0.7);
        run.session.finalize();
        await run.events.until(() => run.events.all.some((event) => event.type !== 'transcript'));
        run.session.close();
        return run;
      };
      ({ events, session } = await hear());
      expect(events.all.at(-1)).toEqual({ type: 'finalized' });
      const { sent } = server.cut;
      const whole = finals();
      expect(sent).toBeGreaterThan(200);
      for (const at of placesWithin(0, sent)) {
        server.utterances.length = 0;
        server.cut.left = at;
        const run = await hear();
        server.cut.left = undefined;
        const ends = run.events.all.filter((event) => event.type !== 'transcript');
        expect(ends).toHaveLength(1);
        const texts = finals(run.events);
        if (ends[0]?.type === 'finalized') expect(texts).toEqual(whole);
        else expect(ends[0]).toMatchObject({ type: 'error' });
        expect(texts.length).toBeLessThanOrEqual(1);
      }
    });
  });
}
