/** The limits of a WebSocket call as the server's settings give them. */
import type { ServerSettings } from '../../shared/config/server/server.ts';
import type { WsCallLimits } from '../../shared/protocol/call.ts';

export const callLimits = ({ ws }: ServerSettings): WsCallLimits => ({
  startTimeoutMs: ws.startTimeoutMs,
  pingIntervalMs: ws.pingIntervalMs,
  pingTimeoutMs: ws.pingTimeoutMs,
  maxAudioBytes: ws.maxAudioBytes,
  maxControlBytes: ws.maxControlBytes,
  writeTimeoutMs: ws.writeTimeoutMs,
  sendTimeoutMs: ws.sendTimeoutMs,
  closeGraceMs: ws.closeGraceMs,
});
