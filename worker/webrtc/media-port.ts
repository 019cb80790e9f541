/**
 * The one UDP port of a worker, on which all its WebRTC calls take media. Two processes that share a port lose packets to each other
 * without an error, so a port is asked for exclusively before the library gets it.
 *
 * Invariant: workers of one supervisor never try the same port, because each tries those that have its remainder; a port that a worker
 * of the supervisor before this one still holds is passed over.
 */
import { createSocket } from 'node:dgram';
import type { WebrtcSetup } from '../../shared/protocol/ipc.ts';

/** The ports of the workers, of those of the supervisor before this one, and two more such rows. */
const rows = 4;

/** A free port for worker `index`. Rejects when there is none. */
export async function mediaPort({ udp, workerRows }: WebrtcSetup, index: number): Promise<number> {
  if (udp.port === 0) {
    const port = await freePort(udp.host, 0);
    if (port !== undefined) return port;
  }
  for (let row = 0; row < rows && udp.port > 0; row += 1) {
    const port = udp.port + row * workerRows + index;
    if (port <= 65_535 && (await freePort(udp.host, port)) !== undefined) return port;
  }
  throw new Error('SVC_WEBRTC_UDP_ADDR: no port is free there for this worker');
}

/** The port if nobody else has it; any one where it is 0. */
function freePort(host: string, port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
    socket.once('error', () => {
      socket.close();
      resolve(undefined);
    });
    socket.bind({ address: host, port, exclusive: true }, () => {
      const bound = socket.address().port;
      socket.close(() => resolve(bound));
    });
  });
}
