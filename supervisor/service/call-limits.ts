/** The limits of a WebSocket call (spec 01, Limits) as the server's settings give them. */
import type { ServerSettings } from '../../shared/config/server/server.ts';
import { wsCallLimits, type WsCallLimits } from '../../shared/protocol/call.ts';

/** @throws Error when the settings contradict each other. */
export function callLimits({ ws }: ServerSettings): WsCallLimits {
  const limits = wsCallLimits({
    startTimeoutMs: ws.startTimeoutMs,
    pingIntervalMs: ws.pingIntervalMs,
    pingTimeoutMs: ws.pingTimeoutMs,
    maxAudioBytes: ws.maxAudioBytes,
    maxControlBytes: ws.maxControlBytes,
    writeTimeoutMs: ws.writeTimeoutMs,
    sendTimeoutMs: ws.sendTimeoutMs,
    closeGraceMs: ws.closeGraceMs,
  });
  if (!limits.ok) throw new Error(limits.error);
  return limits.value;
}
