/** The STT stage over the hosted recogniser `stt_cloud_a`. */
import type { SttDeepgramOptions } from './declaration.ts';
import { ENGINE_RATE } from '../../../../shared/base/units.ts';
import { keyHeaders } from '../../keys.ts';
import type { SttAccess, SttStage } from '../../stage.ts';
import { DeepgramWire, deepgramUrl } from './protocol.ts';
import { dialSocket } from '../socket.ts';
import { newStreamStage } from '../stream-stage.ts';
import type { SttVendor } from '../vendor.ts';

/** The server leaves after 10 s without audio or text. */
const KEEP_ALIVE_MS = 4_000;
/** The server does not promise to confirm a finalize for which it has little audio. */
const FINALIZE_TIMEOUT_MS = 1_500;

/** @throws Error when the key may not be sent to the address or cannot be a header value. */
export function newSttDeepgram(options: SttDeepgramOptions & SttAccess): SttStage {
  const url = deepgramUrl(options, options.language);
  const headers = keyHeaders(url, options.apiKey, { name: 'authorization', scheme: 'Token ' });
  const vendor: SttVendor = {
    sampleRate: ENGINE_RATE,
    frameMs: 60,
    keepAliveMs: KEEP_ALIVE_MS,
    finalizeTimeoutMs: FINALIZE_TIMEOUT_MS,
    dial: (context, on) => dialSocket(url, headers, { context, on }),
    newWire: () => new DeepgramWire(options),
  };
  return newStreamStage('stt_cloud_a', vendor);
}
