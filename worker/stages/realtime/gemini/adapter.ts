/**
 * Google's models that hear and speak, by the Gemini API or Vertex AI.
 *
 * Invariant: the key travels in a header and never in the address, which ends up in logs. It must not retry.
 */
import { randomUUID } from 'node:crypto';
import { urlUnder } from '../../../../shared/net/address.ts';
import { bearerHeaders, keyHeaders } from '../../keys.ts';
import type { RealtimeAccess, RealtimeModel } from '../contract.ts';
import type { GeminiLiveOptions } from './declaration.ts';
import { GeminiSession } from './session.ts';
import { GeminiWire } from './wire.ts';

/** @throws Error when the key may not be sent to the address or cannot be a header value. */
export function newGeminiLive(settings: GeminiLiveOptions & RealtimeAccess): RealtimeModel {
  const { baseUrl, path, vertex, apiKey } = settings;
  const url = urlUnder(baseUrl, path);
  const headers =
    vertex === undefined ? keyHeaders(url, apiKey, { name: 'x-goog-api-key' }) : bearerHeaders(url, apiKey);
  return {
    provider: 'gemini_live',
    open: (context, seed, sink) => {
      const wire = new GeminiWire({ settings, seed, newCallId: () => `call_${randomUUID()}` });
      // Words of a server that has nothing of the caller yet may be shown.
      return new GeminiSession({ url, headers, wire, isSeeded: seed.history.length > 0 }, { context, sink });
    },
    close: () => Promise.resolve(),
  };
}
