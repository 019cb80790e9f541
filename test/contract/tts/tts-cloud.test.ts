import { newTtsCartesia } from '../../../worker/stages/tts/cartesia/adapter.ts';
import { newTtsElevenLabs } from '../../../worker/stages/tts/elevenlabs/adapter.ts';
import { newTtsDeepgramAura } from '../../../worker/stages/tts/deepgram/adapter.ts';
import { FakeAura } from '../../support/fakes/fake-aura.ts';
import { FakeCartesia } from '../../support/fakes/fake-cartesia.ts';
import { FakeElevenLabs } from '../../support/fakes/fake-elevenlabs.ts';
import { describeVoice } from './tts-suite.ts';

const access = { apiKey: 'key-1', language: 'en-US', voice: 'voice-1', sampleRate: 24_000 };

describeVoice('tts_cloud_a', {
  newFake: () => new FakeCartesia(),
  newStage: (address) =>
    newTtsCartesia({ ...access, model: 'sonic-3.5', maxBufferDelayMs: 0, url: `${address}/tts/websocket` }),
  hasWords: true,
});
describeVoice('tts_cloud_b', {
  newFake: () => new FakeElevenLabs(),
  newStage: (address) => newTtsElevenLabs({ ...access, model: 'eleven_flash_v2_5', url: address }),
  hasWords: true,
  stopsInPiece: false,
  // Its server wants each text to end in a blank.
  sentChars: [13, 26],
});
describeVoice('tts_cloud_c', {
  newFake: () => new FakeAura(),
  newStage: (address) => newTtsDeepgramAura({ ...access, url: `${address}/v1/speak` }),
  hasWords: false,
});
