/** Makes a worker ready for WebRTC calls, where the settings ask for them: its clocks, its chance, and what is counted. */
import { randomUUID } from 'node:crypto';
import type { WorkerSetup } from '../../shared/protocol/ipc.ts';
import { systemClock, systemWallClock } from '../../shared/runtime/clock.ts';
import { errorFields, type Log } from '../../shared/runtime/log.ts';
import type { WebrtcMetrics } from '../../shared/runtime/metrics.ts';
import { isOpusRate } from '../media/opus/opus.ts';
import { PeerCalls, type PeerCallsOptions } from './peer-calls.ts';

/** Where TTS has a rate that Opus does not know. */
const usualRate = 24_000;

/** `speechRate`: of TTS, in Hz. Rejects where the library is not installed or no port is free. */
export async function openPeerCalls(
  { webrtc, worker }: WorkerSetup,
  speechRate: number,
  options: Pick<PeerCallsOptions, 'place' | 'send'> & { readonly log: Log; readonly metrics: WebrtcMetrics },
): Promise<PeerCalls | undefined> {
  if (webrtc === undefined) return undefined;
  const { place, send, log, metrics } = options;
  return PeerCalls.open({
    setup: webrtc,
    worker,
    place,
    send,
    newCallId: randomUUID,
    sampleRate: isOpusRate(speechRate) ? speechRate : usualRate,
    now: () => systemClock.now(),
    later: (run, afterMs) => void systemClock.after(afterMs, run),
    after: (delayMs, run) => systemClock.after(delayMs, run),
    relays: {
      failed: (reason) => log.warn({ reason }, 'a call has no relay'),
      noted: (what) => {
        if (webrtc.relay?.isLogged === true) log.info({ what }, 'relay');
      },
    },
    unixMs: () => systemWallClock.now(),
    failed: (error, sentence) => log.error(errorFields(error), sentence),
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
}
