import { newTtsCloudA } from '../../../worker/stages/tts/cloud-a/adapter.ts';
import { newTtsCloudB } from '../../../worker/stages/tts/cloud-b/adapter.ts';
import { newTtsCloudC } from '../../../worker/stages/tts/cloud-c/adapter.ts';
import { FakeAura } from '../../support/fakes/fake-aura.ts';
import { FakeCartesia } from '../../support/fakes/fake-cartesia.ts';
import { FakeElevenLabs } from '../../support/fakes/fake-elevenlabs.ts';
import { describeVoice } from './tts-suite.ts';

const access = { apiKey: 'key-1', language: 'en-US', voice: 'voice-1', sampleRate: 24_000 };

describeVoice('tts_cloud_a', {
  newFake: () => new FakeCartesia(),
  newStage: (address) =>
    newTtsCloudA({ ...access, model: 'sonic-3.5', maxBufferDelayMs: 0, url: `${address}/tts/websocket` }),
  hasWords: true,
});
describeVoice('tts_cloud_b', {
  newFake: () => new FakeElevenLabs(),
  newStage: (address) => newTtsCloudB({ ...access, model: 'eleven_flash_v2_5', url: address }),
  hasWords: true,
  stopsInPiece: false,
  // Its server wants each text to end in a blank.
  sentChars: [13, 26],
});
describeVoice('tts_cloud_c', {
  newFake: () => new FakeAura(),
  newStage: (address) => newTtsCloudC({ ...access, url: `${address}/v1/speak` }),
  hasWords: false,
});
