/** What is counted of WebRTC media. */
import type { WebrtcMetrics } from '../../../shared/runtime/metrics.ts';
import type { PeerCallsOptions } from './peer-calls.ts';

export const peerMetrics = (metrics: WebrtcMetrics): Pick<PeerCallsOptions, 'reported' | 'measured'> => ({
  reported: ({ lost, roundTripMs }) => {
    metrics.clientLoss.observe(lost);
    if (roundTripMs !== undefined) metrics.roundTrip.observe(roundTripMs / 1000);
  },
  measured: ({ received, late, duplicate, concealed }) => {
    metrics.packets.inc({ what: 'received' }, received);
    metrics.packets.inc({ what: 'late' }, late);
    metrics.packets.inc({ what: 'duplicate' }, duplicate);
    metrics.packets.inc({ what: 'concealed' }, concealed);
  },
});
