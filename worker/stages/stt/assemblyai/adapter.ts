/** The STT stage over the hosted recogniser `stt_cloud_b`. */
import type { SttAssemblyAiOptions } from './declaration.ts';
import { ENGINE_RATE } from '../../../../shared/base/units.ts';
import { keyHeaders } from '../../keys.ts';
import type { SttAccess, SttStage } from '../../stage.ts';
import { AssemblyAiWire, assemblyAiUrl, repeatsFormatted } from './protocol.ts';
import { dialSocket } from '../socket.ts';
import { newStreamStage } from '../stream-stage.ts';
import type { SttVendor } from '../vendor.ts';

const KEEP_ALIVE_MS = 10_000;
/** Whether the server answers an end of turn without words is not promised. */
const FINALIZE_TIMEOUT_MS = 1_500;
/**
 * The server ends sessions that send faster than speech, but only when they are minutes ahead. All that is kept for a session that takes
 * over may go at once: at the pace of speech the end of a long sentence would never be reached in time.
 */
const BURST_MS = 30_000;

/** @throws Error when the key may not be sent to the address or cannot be a header value. */
export function newSttAssemblyAi(options: SttAssemblyAiOptions & SttAccess): SttStage {
  const url = assemblyAiUrl(options, options.language);
  const headers = keyHeaders(url, options.apiKey, { name: 'authorization' });
  const waitsForFormat = repeatsFormatted(options);
  const vendor: SttVendor = {
    sampleRate: ENGINE_RATE,
    // Messages of less than 50 ms are refused.
    frameMs: 60,
    onlyWholeFrames: true,
    keepAliveMs: KEEP_ALIVE_MS,
    finalizeTimeoutMs: FINALIZE_TIMEOUT_MS,
    burstMs: BURST_MS,
    dial: (context, on) => dialSocket(url, headers, { context, on }),
    newWire: () => new AssemblyAiWire(waitsForFormat, options),
  };
  return newStreamStage('stt_cloud_b', vendor);
}
