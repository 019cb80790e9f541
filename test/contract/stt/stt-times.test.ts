/** Vendors that tell times: a final says how much of its utterance's audio it covers, whatever came before in the connection. */
import { afterEach, describe, expect, it } from 'vitest';
import { newSttDeepgram } from '../../../worker/stages/stt/deepgram/adapter.ts';
import { newSttAssemblyAi } from '../../../worker/stages/stt/assemblyai/adapter.ts';
import { newSttGladia } from '../../../worker/stages/stt/gladia/adapter.ts';
import type { SttEvent, SttStage } from '../../../worker/stages/stage.ts';
import { FakeAssemblyAi } from '../../support/fakes/fake-assemblyai.ts';
import { FakeDeepgram } from '../../support/fakes/fake-deepgram.ts';
import { FakeGladia } from '../../support/fakes/fake-gladia.ts';
import type { FakeRecogniser } from '../../support/fakes/fake-recogniser.ts';
import { Events, newStageContext } from '../../support/core/stage-context.ts';

const access = { apiKey: 'a-secret-key', language: 'en' };
const vendors: [string, FakeRecogniser, (fake: FakeRecogniser) => SttStage][] = [
  [
    'stt_cloud_a',
    new FakeDeepgram(),
    ({ baseUrl }) =>
      newSttDeepgram({ ...access, baseUrl, model: 'nova-3', endpointingMs: 300, smartFormat: true }),
  ],
  [
    'stt_cloud_b',
    new FakeAssemblyAi(),
    ({ baseUrl }) => newSttAssemblyAi({ ...access, baseUrl, speechModel: 'm', formatTurns: false }),
  ],
  [
    'stt_cloud_c',
    new FakeGladia(),
    ({ host }) =>
      newSttGladia({
        ...access,
        baseUrl: `http://${host}`,
        model: 'solaria-1',
        codeSwitching: false,
        endpointingMs: 300,
      }),
  ],
];

describe.each(vendors)('the times of %s', (_name, server, newStage) => {
  let close: () => Promise<void>;
  afterEach(() => close());

  it('count from the start of the utterance', async () => {
    await server.start();
    const stage = newStage(server);
    const events = new Events<SttEvent>();
    const session = stage.open(newStageContext(), events.sink);
    close = async () => {
      session.close();
      await stage.close();
      await server.close();
    };
    const speak = (ms: number): void => {
      for (let at = 0; at < ms; at += 20) session.audio(new Int16Array(320).fill(at + 1));
    };
    const finals = (): SttEvent[] => events.of('transcript').filter(({ isFinal }) => isFinal);
    server.utterances.push('first', 'second one', 'third');
    for (const nth of [1, 2]) {
      speak(700);
      session.finalize();
      await events.seen('finalized', nth);
    }
    const before = server.last.audioMs;
    speak(600);
    await server.until(() => server.last.audioMs > before + 500);
    server.endpoint();
    await events.until(() => finals().length === 3);
    const heardMs = events.of('transcript').findLast(({ isFinal }) => isFinal)?.heardMs;
    // Up to the frame that was heard last.
    expect(heardMs).toBeGreaterThan(500);
    expect(heardMs).toBeLessThanOrEqual(600);
    expect(finals().every((event) => !('endMs' in event))).toBe(true);
  });
});
