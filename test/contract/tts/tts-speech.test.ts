/** The contract of voices over `speech_compatible`, for every preset as a definition resolves it. */
import type { SpeechCompatibleOptions } from '../../../worker/stages/tts/speech-compatible/declaration.ts';
import { newSpeechCompatible } from '../../../worker/stages/tts/speech-compatible/adapter.ts';
import { FakeSpeechVoice } from '../../support/fakes/fake-speech-voice.ts';
import { changed, load } from '../../unit/config/agent-text.ts';
import { describeVoice } from './tts-suite.ts';

/** The options of a definition that names the preset and a pace. */
function optionsOf(preset: string, address: string): SpeechCompatibleOptions {
  const table = `preset = "${preset}"\nspeed = 1.25${preset === 'generic' ? '\nmodel = "own"' : ''}`;
  const text = changed(['"http://127.0.0.1:8880/v1"', `"${address}"`], ['preset = "local_b"', table]);
  const tts = load(text).definition?.tts;
  if (tts?.provider !== 'speech_compatible') throw new Error(`the definition of ${preset} is not good`);
  return tts.options;
}

/** What the servers take beside the text, and the warm-up that they see. */
const servers = [
  ['generic', { model: 'own', response_format: 'pcm', speed: 1.25 }, undefined],
  [
    'local_a',
    {
      model: 'speaches-ai/Kokoro-82M-v1.0-ONNX',
      response_format: 'pcm',
      speed: 1.25,
      sample_rate: 24_000,
    },
    'Hello.',
  ],
  ['local_b', { model: 'kokoro', response_format: 'pcm', speed: 1.25, stream: true }, undefined],
  ['local_c', { model: 'chatterbox', response_format: 'wav' }, undefined],
  ['local_d', { model: 'tts-1', response_format: 'wav', speed: 1.25 }, undefined],
] as const;

for (const [preset, fields, warmText] of servers) {
  describeVoice(`speech_compatible with ${preset}`, {
    newFake: () =>
      new FakeSpeechVoice({
        fields: { voice: 'af_heart', ...fields },
        ...(warmText !== undefined && { warmText }),
      }),
    newStage: (address) => newSpeechCompatible({ ...optionsOf(preset, address), voice: 'af_heart' }),
    hasWords: false,
    endsPieces: true,
    connectsAtOpen: false,
    // The next request goes out while the connection of the last one is just becoming free.
    connections: 2,
    tellsFlush: false,
    sentChars: [12, 24],
  });
}
