/** The STT stage over servers with the realtime transcription interface, `stt_realtime_compat`. */
import type { SttRealtimeCompatOptions } from './declaration.ts';
import { bearerHeaders } from '../../keys.ts';
import type { SttAccess, SttStage } from '../../stage.ts';
import { newRealtimeWire, realtimeUrl } from './protocol.ts';
import { dialSocket } from '../socket.ts';
import { newStreamStage } from '../stream-stage.ts';
import type { SttVendor } from '../vendor.ts';

const KEEP_ALIVE_MS = 10_000;

/** @throws Error when the key may not be sent to the address or cannot be a header value. */
export function newSttRealtimeCompat(options: SttRealtimeCompatOptions & SttAccess): SttStage {
  const url = realtimeUrl(options);
  const headers = bearerHeaders(url, options.apiKey);
  const vendor: SttVendor = {
    sampleRate: options.sampleRate,
    frameMs: 60,
    keepAliveMs: KEEP_ALIVE_MS,
    finalizeTimeoutMs: options.finalizeTimeoutMs,
    dial: (context, on) => dialSocket(url, headers, { context, on }),
    newWire: () => newRealtimeWire(options),
  };
  return newStreamStage('stt_realtime_compat', vendor);
}
