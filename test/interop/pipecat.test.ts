/**
 * Pipecat's own browser clients against the demo as a newcomer starts it: greeting, question, interruption, typed text. What the agent
 * said is written down from the sound that the client was given to play.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeWav } from '../../shared/audio/wav.ts';
import { type AnswerEar, loadAnswerEar } from '../support/audio/answer-ear.ts';
import { chromiumMissing, openChromium, type ChromiumPage } from '../support/chromium.ts';
import { clientsMissing } from '../support/webrtc/clients/installed.ts';
import { PipecatPage, type PipecatEvent, type PipecatPackages } from '../support/rtvi/pipecat-page.ts';
import { spoken, startDemo, type RunningDemo } from '../support/process/running-demo.ts';
import { ends } from '../support/sampled.ts';

interface Generation extends PipecatPackages {
  readonly name: string;
  /** What `bot-ready` says to it. */
  readonly version: string;
}

/** The one that the project installs. */
const newest: Generation = {
  name: 'client-js 1.13.1 with websocket-transport 1.7.1',
  client: '@pipecat-ai/client-js',
  transport: '@pipecat-ai/websocket-transport',
  version: '2.1.0',
};

/**
 * One of each older version of the protocol; of its own major version the service names the newest. A build calls with the oldest and the
 * newest of them.
 */
const older: readonly Generation[] = [
  ['1.0.0', '1.0.0'],
  ['1.8.0', '1.2.0'],
  ['1.9.0', '1.3.0'],
  ['1.10.0', '1.4.0'],
  ['1.12.0', '2.1.0'],
].map(([client = '', version = '']) => ({
  ...{ name: `client-js ${client}`, version },
  ...{ client: `pipecat-client-${client}`, transport: `pipecat-transport-${client}` },
}));

describe.skipIf(chromiumMissing !== undefined)(`Pipecat's clients ${chromiumMissing ?? ''}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'pipecat-'));
  let demo: RunningDemo;
  let ear: AnswerEar;
  let chromium: ChromiumPage;
  const bots: PipecatPage[] = [];

  beforeAll(async () => {
    const wav = join(folder, 'silence.wav');
    writeFileSync(wav, writeWav(new Int16Array(16_000), 16_000));
    [demo, ear, chromium] = await Promise.all([
      startDemo({ SVC_RTVI_ORIGINS: '*' }),
      loadAnswerEar(),
      openChromium(wav),
    ]);
  });

  afterAll(async () => {
    await Promise.all(bots.map((bot) => bot.close()));
    await chromium.close();
    await demo.stop();
    rmSync(folder, { recursive: true });
  });

  const open = async (generation: Generation): Promise<PipecatPage> => {
    const bot = await PipecatPage.open(await chromium.browser.newPage(), generation);
    bots.push(bot);
    return bot;
  };

  const say = async (bot: PipecatPage, text: string): Promise<void> =>
    bot.say(await spoken(demo, text, { rate: 16_000 }));

  const heard = async (bot: PipecatPage, from: number, to?: number): Promise<string> => {
    const { pcm, rate } = await bot.played(from, to);
    return ear.transcribe(pcm, rate);
  };

  /** What the client was told of tools so far. */
  const toolsOf = async (bot: PipecatPage): Promise<readonly PipecatEvent[]> =>
    (await bot.events()).filter(({ name }) => name.startsWith('LLMFunctionCall'));

  it(`${newest.name}: greeting, question, interruption`, async () => {
    const bot = await open(newest);
    expect(await bot.connect(demo.rtvi)).toMatchObject({ version: newest.version });
    let at = await bot.until('BotStoppedSpeaking');

    const weatherFrom = await bot.playedChunks();
    await say(bot, "What's the weather in Paris?");
    at = await bot.until('UserTranscript', { from: at, fits: '(data) => data.final' });
    at = await bot.until('BotStoppedSpeaking', { from: at });
    const weatherTo = await bot.playedChunks();

    await say(bot, "What's the weather in London?");
    at = await bot.until('BotStartedSpeaking', { from: at });
    const cutFrom = await bot.playedChunks();
    await say(bot, "What's the weather in Madrid?");
    at = await bot.until('BotStartedSpeaking', { from: at });
    const answerFrom = (await bot.events())[at - 1]?.played ?? 0;
    at = await bot.until('BotStoppedSpeaking', { from: at });
    const answerTo = await bot.playedChunks();

    // The LLM of the demo ends a call by a tool, whose name is not told.
    await say(bot, 'Goodbye.');
    at = await bot.until('LLMFunctionCallStopped', { from: at, fits: '(data) => !data.cancelled' });
    expect((await toolsOf(bot)).map(({ name }) => name)).toEqual([
      'LLMFunctionCallStarted',
      'LLMFunctionCallInProgress',
      'LLMFunctionCallStopped',
    ]);
    expect(JSON.stringify(await toolsOf(bot))).not.toContain('end_call');

    // Looking at sounds takes so long that the agent would ask whether anybody is there.
    expect(await heard(bot, 0, weatherFrom)).toBe(
      'hello you can ask me about the time the weather a table or an order',
    );
    expect(await heard(bot, weatherFrom, weatherTo)).toBe(
      'in paris it is eighteen degrees with clear sky that is demo data not a real forecast',
    );
    // The client plays whatever it was sent, so the answer that was cut has to end where it was.
    expect(await heard(bot, cutFrom, answerFrom)).not.toMatch(/forecast/);
    expect(await heard(bot, answerFrom, answerTo)).toMatch(
      /^in madrid it is twenty four degrees with sunshine/,
    );
  });

  // A page each, so that these calls are made at once.
  describe.skipIf(clientsMissing !== undefined)(
    `of older versions ${clientsMissing ?? ''}`,
    { concurrent: true },
    () => {
      it.each(ends(older))('$name: question and answer', async (generation) => {
        const bot = await open(generation);
        expect(await bot.connect(demo.rtvi)).toMatchObject({ version: generation.version });
        let at = await bot.until('BotStoppedSpeaking');
        const from = await bot.playedChunks();
        await say(bot, "What's the weather in Paris?");
        at = await bot.until('UserTranscript', { from: at, fits: '(data) => data.final' });
        await bot.until('BotStoppedSpeaking', { from: at });
        expect(await heard(bot, from)).toMatch(/^in paris it is eighteen degrees with clear sky/);
        const names = new Set((await bot.events()).map(({ name }) => name));
        expect(names).toContain('BotLlmText');
        expect(names).not.toContain('Error');
      });
    },
  );
});
