/** The sound of telephones, G.711, on its way between a caller's line and servers of `openai_realtime`: nothing changes it. */
import { afterEach, describe, expect, it } from 'vitest';
import { laws, type Law } from '../../../shared/audio/law.ts';
import { writeInt16 } from '../../../shared/audio/pcm.ts';
import { InboundAudio } from '../../../worker/media/in/inbound.ts';
import { OutboundAudio } from '../../../worker/media/out/outbound.ts';
import { VadClient } from '../../../worker/media/vad/vad-client.ts';
import { dialects } from '../../../worker/stages/realtime/openai/declaration.ts';
import { TurnAudio } from '../../../worker/stages/realtime/turn-audio.ts';
import { newMailboxes } from '../../support/audio/mailboxes.ts';
import { newStageContext } from '../../support/core/stage-context.ts';
import { FakeOpenAiRealtime, FlatRealtime } from '../../support/fakes/fake-openai-realtime.ts';
import { openReady, speak, takeTurn, type Opened } from './openai-driver.ts';

let server: FakeOpenAiRealtime;
const start = async (one: FakeOpenAiRealtime): Promise<void> => {
  server = one;
  await server.start();
};
afterEach(() => server.close());

/** The dialect that follows the line, in a call of a line with this law. */
const onLine = (law: Law, name: 'openai' | 'azure_preview' = 'openai', sampleRate = 8_000) =>
  openReady(server, {
    dialect: dialects[name],
    followsLine: true,
    sampleRate,
    context: { ...newStageContext(), law },
  });

const formats = (input: unknown, output: unknown) => ({
  audio: { input: { format: input }, output: { format: output } },
});
const configured = (): unknown => server.last.of('session.update')[0]!.session;
const names = { mulaw: 'audio/pcmu', alaw: 'audio/pcma' } as const;

/** Mu-law has two zeros, of which one comes back. */
const zeros = (bytes: Uint8Array): number[] => [...bytes].map((byte) => (byte === 0x7f ? 0xff : byte));

const linear = (law: Law, bytes: Uint8Array): Int16Array => {
  const pcm = new Int16Array(bytes.length);
  laws[law].decode(bytes, pcm);
  return pcm;
};

const appended = (): Buffer =>
  Buffer.concat(server.last.of('input_audio_buffer.append').map(({ audio }) => Buffer.from(audio, 'base64')));

/** The sound of a line of this law, as its transport hands it over: the carriers' bytes, or the samples of decoded RTP. */
function hearLine(law: Law, bytes: Uint8Array, { session }: Opened): void {
  const boxes = newMailboxes({ workers: 1, slotsPerWorker: 1, ringFrames: 1024, threads: 1 });
  const vad = new VadClient({ boxes, slot: 0, machineMs: () => 0, judged: () => undefined });
  const turn = new TurnAudio();
  const inbound = new InboundAudio({
    ...{ sampleRate: 8_000, encoding: law === 'mulaw' ? 'mulaw' : 'pcm16', vad, isTelephone: true },
    toStt: (pcm, ofLine) => {
      turn.add(pcm, ofLine);
      turn.flow(session);
    },
  });
  for (let at = 0; at < bytes.length; at += 160) {
    const frame = bytes.subarray(at, at + 160);
    const decoded = new Uint8Array(frame.length * 2);
    writeInt16(linear(law, frame), decoded);
    // The voice is noticed after more than the moment before it that is kept, so that it stands in two parts.
    if (at === 160 * 40) inbound.listen();
    inbound.push(law === 'mulaw' ? frame : decoded, at / 8);
  }
  turn.commit(session, 1);
}

/** Every code, in an order that no filter would leave. */
const codes = Uint8Array.from({ length: 160 * 70 }, (_, at) => (at * 91 + (at >> 8)) % 256);

describe.each(['mulaw', 'alaw'] as const)('a telephone call, %s', (law) => {
  it('reaches the model as the bytes of its line', async () => {
    await start(new FakeOpenAiRealtime());
    const opened = await onLine(law);
    expect(configured()).toMatchObject(formats({ type: names[law] }, { type: names[law] }));
    hearLine(law, codes, opened);
    opened.session.respond(1);
    await opened.events.seen('done');
    // From 0.6 s before the voice was noticed.
    expect(zeros(appended())).toEqual(zeros(codes.subarray(160 * 10)));
  });

  it('hears the bytes that the server sent', async () => {
    await start(new FakeOpenAiRealtime());
    const { session, events } = await onLine(law);
    takeTurn(session, 1);
    session.respond(1);
    await events.seen('done');
    const sent = server.last.said.flatMap((event) =>
      event.type === 'response.output_audio.delta' ? [Buffer.from(event.delta, 'base64')] : [],
    );
    const isBytes = law === 'mulaw';
    const out = new OutboundAudio({
      ...{ fromRate: session.outputRate, toRate: 8_000, encoding: isBytes ? law : 'pcm16' },
    });
    out.open(1);
    for (const { pcm } of events.of('audio')) out.write(1, pcm);
    const heard: Buffer[] = [];
    while (out.ready) heard.push(out.takeFrame());
    const bytes = Buffer.concat(heard);
    expect(bytes.length).toBeGreaterThan(1_000);
    const line = isBytes ? bytes : new Uint8Array(bytes.length / 2);
    if (!isBytes) laws[law].encode(new Int16Array(bytes.buffer, bytes.byteOffset, line.length), line);
    expect(zeros(line)).toEqual(zeros(Buffer.concat(sent)));
  });

  it('has another name in the older shape', async () => {
    await start(new FlatRealtime());
    const { session, events } = await onLine(law, 'azure_preview');
    const name = { mulaw: 'g711_ulaw', alaw: 'g711_alaw' }[law];
    expect(configured()).toMatchObject({ input_audio_format: name, output_audio_format: name });
    takeTurn(session, 1, 60);
    session.respond(1);
    await events.seen('done');
    // A turn that is shorter than servers take is filled up.
    expect(server.last.turnsMs).toEqual([100]);
    expect(events.of('audio').map(({ pcm }) => pcm.length)).toEqual([1_600, 1_600]);
  });
});

describe('the sound of a call', () => {
  it('is that of its line to the model alone where calls take voices at another rate', async () => {
    await start(new FakeOpenAiRealtime());
    await onLine('alaw', 'openai', 24_000);
    expect(configured()).toMatchObject(formats({ type: 'audio/pcma' }, { type: 'audio/pcm', rate: 24_000 }));
  });

  it('is PCM where the caller is on no telephone line', async () => {
    await start(new FakeOpenAiRealtime());
    await openReady(server, { dialect: dialects.openai, followsLine: true, sampleRate: 8_000 });
    const pcm = { type: 'audio/pcm', rate: 24_000 };
    expect(configured()).toMatchObject(formats(pcm, pcm));
  });

  const rates = { inputRate: 8_000, outputRate: 8_000 } as const;
  const g711 = { ...rates, inputLaw: 'mulaw', outputLaw: 'mulaw' } as const;

  it('is G.711 for every call where the file says so', async () => {
    await start(new FakeOpenAiRealtime());
    const { session, events } = await openReady(server, { dialect: { ...dialects.openai, ...g711 } });
    expect(configured()).toMatchObject(formats({ type: 'audio/pcmu' }, { type: 'audio/pcmu' }));
    takeTurn(session, 1, 460);
    session.respond(1);
    await events.seen('done');
    expect(server.last.turnsMs[0]).toBeCloseTo(460, -1);
    const pcm = linear('mulaw', appended().subarray(800, 1_600));
    // The sound of `takeTurn` is 1000 throughout, and mu-law keeps that to within 32.
    expect(pcm.every((sample) => Math.abs(sample - 1_000) <= 32)).toBe(true);
  });

  it('is converted where the line is not known, as of a turn that another worker heard', async () => {
    await start(new FakeOpenAiRealtime());
    const { session, events } = await onLine('alaw');
    session.beginTurn();
    speak(session, 300);
    for (let frame = 0; frame < 10; frame += 1)
      session.audio(new Int16Array(320), new Int16Array(160).fill(5_504));
    session.endTurn(1);
    session.respond(1);
    await events.seen('done');
    const pcm = linear('alaw', appended());
    expect(Math.abs(pcm[1_200]! - 1_000)).toBeLessThanOrEqual(32);
    // The end of the one, then the other and nothing more.
    expect(new Set(pcm.subarray(-1_600))).toEqual(new Set([5_504]));
    expect(pcm.length).toBeLessThan(2_400 + 100 + 1_600);
  });

  it('is cut at the milliseconds that it has', async () => {
    await start(new FakeOpenAiRealtime());
    const { session, events } = await openReady(server, { dialect: { ...dialects.openai, ...g711 } });
    takeTurn(session, 1);
    session.respond(1);
    await events.seen('done');
    const { item } = events.of('audio')[0]!;
    session.truncate(item, 5_000);
    session.truncate(item, 150);
    await server.until(() => server.last.of('conversation.item.truncate').length === 2);
    const cuts = server.last.of('conversation.item.truncate').map(({ audio_end_ms }) => audio_end_ms);
    expect(cuts).toEqual([400, 150]);
  });
});
