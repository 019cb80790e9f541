/**
 * A call that nothing in is made up: a person's recording, Whisper, a small language model in llama.cpp's server, Flite's voice, and Whisper again,
 * which writes down what the caller heard. What the model answers is silly as a rule; that it is heard word for word is not.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseWav } from '../../shared/audio/wav.ts';
import { soundingWords, wordErrors } from '../../scripts/measure/ear/word-errors.ts';
import { Conversation } from '../support/core/conversation.ts';
import { TestService } from '../support/process/service.ts';
import { earMissing, earRate, startRealEar, type RealEar } from '../../scripts/measure/ear/real-ear.ts';
import { startRealVoice, type RealVoice } from '../support/audio/real-voice.ts';

const assets = process.env['SVC_TEST_ASSETS'];
const missing =
  earMissing ??
  (assets === undefined ? '(skipped: SVC_TEST_ASSETS names no folder of recordings)' : undefined);

const greeting = 'Hello, and welcome. How can I help you today?';
const filler = 'One moment.';
const question = { file: 'jambonz_support.wav', says: "I'd like to speak to customer support." };
/** Of the words of a voice that is synthetic, and of a sentence that nobody has chosen, so many may be misheard. */
const mostErrors = 0.25;

const agentText = (ear: RealEar, voice: RealVoice): string => `
[agent]
name = "real"
language = "en"
prompt = "You answer the telephone. Answer in one short sentence."
greeting = "${greeting}"
fillers = ["${filler}"]
tools = []
[stt]
provider = "stt_realtime_compat"
[stt.stt_realtime_compat]
dialect = "speaches"
base_url = "ws://${ear.stt}"
model = "whisper-tiny"
sample_rate = ${earRate}
finalize_timeout_ms = 10000
[llm]
provider = "chat_compatible"
[llm.chat_compatible]
base_url = "${ear.llm ?? ''}/v1"
model = "smollm2"
temperature = 0
max_tokens = 32
[tts]
provider = "speech_compatible"
[tts.speech_compatible]
base_url = "${voice.url}/v1"
preset = "generic"
model = "flite"
`;

/** What was understood of the caller last, in the words of STT. */
const understood = (call: Conversation): string | undefined =>
  call
    .of('told')
    .flatMap(({ message }) => (message.type === 'user.text' ? [message.text] : []))
    .at(-1);

/** What the agent said behind its greeting. */
function saidBehindGreeting(call: Conversation): string[] {
  return saidIn(call).slice(1).flat();
}

/** What the agent said, by epochs. */
function saidIn(call: Conversation): string[][] {
  const epochs = new Map<number, string[]>();
  for (const { message } of call.of('told'))
    if (message.type === 'bot.tts_text')
      epochs.set(message.epoch, [...(epochs.get(message.epoch) ?? []), message.text.trim()]);
  return [...epochs.values()];
}

describe.skipIf(missing !== undefined)(`a recogniser, a language model and a voice ${missing ?? ''}`, () => {
  let ear: RealEar;
  let voice: RealVoice;
  let service: TestService;

  beforeAll(async () => {
    [ear, voice] = await Promise.all([
      startRealEar(new URL('../../', import.meta.url), { llm: true }),
      startRealVoice(),
    ]);
    service = await TestService.start({ agentText: agentText(ear, voice) });
  }, 120_000);

  afterAll(async () => {
    await service?.stop();
    await Promise.all([voice?.stop(), ear?.stop()]);
  });

  it('hold a call: what a person says is understood, answered, and heard word for word', async () => {
    const ws = `ws://${service.address('websocket')}/`;
    const call = await Conversation.open({ ws, rate: earRate, follow: true });
    const greeted = await ear.transcribe(await call.answerSince(0));
    const { pcm } = parseWav(readFileSync(join(assets ?? '', 'audio/speech', question.file)));
    let askedAtMs = 0;
    // A caller whom a busy machine has not heard in time is asked to say it again, and does.
    for (let times = 1; times <= 3 && understood(call) === undefined; times += 1) {
      const answers = saidBehindGreeting(call).length;
      // The recording ends in silence, in which a quick answer begins.
      askedAtMs = call.client.nowMs();
      await call.client.say(pcm);
      await call.until(
        () =>
          saidBehindGreeting(call)
            .slice(answers)
            .some((text) => text !== filler),
        'an answer',
      );
    }
    await call.answerSince(call.client.nowMs());
    const answered = await ear.transcribe(call.heardSince(askedAtMs));
    await call.client.hangUp();
    expect(wordErrors(greeting, greeted)).toEqual({ errors: 0, of: soundingWords(greeting).length });
    expect(wordErrors(question.says, understood(call) ?? '').errors, JSON.stringify(call.of('told'))).toBe(0);
    // What the caller was told while the model thought belongs to it.
    const spoken = saidIn(call).at(-1)?.join(' ') ?? '';
    const { errors, of } = wordErrors(spoken, answered);
    expect(errors / of, `said: ${spoken}\nheard: ${answered}`).toBeLessThanOrEqual(mostErrors);
    expect(call.of('fault')).toEqual([]);
    expect(call.of('error')).toEqual([]);
  }, 240_000);
});
