/** Words of somebody else than the caller, where the recogniser tells who says each. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newSttAssemblyAi } from '../../../worker/stages/stt/assemblyai/adapter.ts';
import { newSttDeepgram } from '../../../worker/stages/stt/deepgram/adapter.ts';
import type { SttEvent, SttSession, SttStage } from '../../../worker/stages/stage.ts';
import { Events, newStageContext } from '../../support/core/stage-context.ts';
import { FakeAssemblyAi } from '../../support/fakes/fake-assemblyai.ts';
import { FakeDeepgram } from '../../support/fakes/fake-deepgram.ts';

interface Way {
  readonly name: string;
  readonly newServer: () => FakeDeepgram | FakeAssemblyAi;
  readonly newStage: (baseUrl: string, diarize: boolean) => SttStage;
  readonly asked: readonly [string, string];
}

const access = { apiKey: 'a-secret-key', language: 'en' };
const ways: readonly Way[] = [
  {
    name: 'stt_cloud_a',
    newServer: () => new FakeDeepgram(),
    newStage: (baseUrl, diarize) =>
      newSttDeepgram({ ...access, baseUrl, diarize, model: 'nova-3', endpointingMs: 300, smartFormat: true }),
    asked: ['diarize', 'true'],
  },
  {
    name: 'stt_cloud_b',
    newServer: () => new FakeAssemblyAi(),
    newStage: (baseUrl, diarize) =>
      newSttAssemblyAi({ ...access, baseUrl, diarize, speechModel: 'u3-rt-pro', formatTurns: false }),
    asked: ['speaker_labels', 'true'],
  },
];

/** The caller says enough to be known. */
const caller = ['hello@0 this@0 is@0 Anna@0', 'I@0 want@0 a@0 table@0', 'for@0 two@0 people@0 please@0'];

describe.each(ways)('the speakers of $name', ({ newServer, newStage, asked }) => {
  let server: FakeDeepgram | FakeAssemblyAi;
  let stage: SttStage | undefined;
  let session: SttSession;
  let events: Events<SttEvent>;

  beforeEach(async () => {
    server = newServer();
    await server.start();
  });
  afterEach(async () => {
    session.close();
    await stage?.close();
    await server.close();
  });

  const open = async (diarize: boolean): Promise<void> => {
    stage = newStage(server.baseUrl, diarize);
    events = new Events();
    session = stage.open(newStageContext(), events.sink);
    await server.until(() => server.connections.length === 1);
  };
  /** One utterance after the other; what the finals of the last one say. */
  const hear = async (...utterances: string[]): Promise<SttEvent[]> => {
    let before = events.all.length;
    for (const utterance of utterances) {
      before = events.all.length;
      server.utterances.push(utterance);
      for (let at = 0; at < utterance.split(' ').length * 15 + 1; at += 1) session.audio(new Int16Array(320));
      session.finalize();
      await events.seen('finalized', events.of('finalized').length + 1);
    }
    return events.all.slice(before);
  };
  const finals = (some: readonly SttEvent[]): string[] =>
    some.flatMap((event) => (event.type === 'transcript' && event.isFinal ? [event.text] : []));

  it('are asked for where the file wants it, and else not', async () => {
    await open(true);
    expect(server.last.url.searchParams.get(asked[0])).toBe(asked[1]);
    session.close();
    await stage?.close();
    stage = newStage(server.baseUrl, false);
    session = stage.open(newStageContext(), events.sink);
    await server.until(() => server.connections.length === 2);
    expect(server.last.url.searchParams.has(asked[0])).toBe(false);
  });

  it('all count before the caller is known', async () => {
    await open(true);
    expect(finals(await hear('good@1 evening@1 and@1 welcome@1 everybody@1'))).toEqual([
      'good evening and welcome everybody',
    ]);
  });

  it('are left out where they are not the caller, and that is told', async () => {
    await open(true);
    const heard = await hear(...caller, 'and@1 now@1 the@1 weather@1 for@1 tomorrow@1');
    expect(finals(heard)).toEqual(['']);
    expect(heard.filter((event) => event.type === 'transcript' && event.isOthers === true)).not.toEqual([]);
    expect(heard.filter(({ type }) => type === 'finalized')).toHaveLength(1);
    expect(finals(await hear('is@0 it@0 booked@0'))).toEqual(['is it booked']);
  });

  it('are parted within what was said', async () => {
    await open(true);
    await hear(...caller, 'and@1 now@1 the@1 news@1');
    const before = events.all.length;
    server.utterances.push('at@0 eight@0 good@1 evening@1 everybody@1 please@0 thanks@0');
    for (let at = 0; at < 7 * 15 + 1; at += 1) session.audio(new Int16Array(320));
    const isSaid = (event: SttEvent): boolean => event.type === 'transcript' && /please/.test(event.text);
    await events.until(() => events.all.slice(before).some(isSaid));
    session.finalize();
    await events.seen('finalized', events.of('finalized').length + 1);
    const heard = events.all.slice(before);
    expect(finals(heard)).toEqual(['at eight please thanks']);
    const partials = heard.flatMap((event) => (event.type === 'transcript' && !event.isFinal ? [event] : []));
    expect(partials.some(({ text, isOthers }) => text === 'at eight' && isOthers === true)).toBe(true);
    expect(partials.every(({ text }) => !/good|evening|everybody/.test(text))).toBe(true);
  });

  it('count all of them where nobody asked', async () => {
    await open(false);
    expect(finals(await hear(...caller, 'and@1 now@1 the@1 weather@1'))).toEqual(['and now the weather']);
  });
});
