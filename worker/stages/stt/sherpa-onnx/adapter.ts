/** The STT stage over a streaming recogniser on this machine or network. */
import type { SttLocalWsOptions } from './declaration.ts';
import { urlUnder } from '../../../../shared/net/address.ts';
import { bearerHeaders } from '../../keys.ts';
import type { ProviderAccess, SttStage } from '../../stage.ts';
import { LocalWsWire } from './protocol.ts';
import { dialSocket } from '../socket.ts';
import { newStreamStage } from '../stream-stage.ts';
import type { SttVendor } from '../vendor.ts';

/** @throws Error when the key may not be sent to the address or cannot be a header value. */
export function newSttLocalWs(options: SttLocalWsOptions & ProviderAccess): SttStage {
  const url = urlUnder(options.baseUrl, options.path);
  const headers = bearerHeaders(url, options.apiKey);
  const vendor: SttVendor = {
    sampleRate: options.sampleRate,
    frameMs: 100,
    // Such a server leaves nobody, and would take any text but the end marker for samples.
    keepAliveMs: Number.POSITIVE_INFINITY,
    finalizeTimeoutMs: options.finalizeTimeoutMs,
    dial: (context, on) => dialSocket(url, headers, { context, on }),
    newWire: () => new LocalWsWire(options),
  };
  return newStreamStage('stt_local_ws', vendor);
}
