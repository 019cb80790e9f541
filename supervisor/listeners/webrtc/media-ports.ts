/** The UDP ports of the workers, looked at before there are any workers: a port of which the firewall knows nothing takes no call. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { ServerSettings } from '../../../shared/config/server/server.ts';
import { webrtcVariables } from '../../../shared/config/server/webrtc-variables.ts';
import { CannotListen } from '../ports.ts';

/** Rejects where one of the ports is not free. A supervisor that takes over does not ask: the one before it has them. */
export async function tryMediaPorts(
  { webrtc, spareWorker }: Pick<ServerSettings, 'webrtc' | 'spareWorker'>,
  workers: number,
): Promise<void> {
  if (webrtc === undefined || webrtc.udpAddr.port === 0) return;
  const { host, port } = webrtc.udpAddr;
  const seats = spareWorker ? workers + 1 : workers;
  if (port + seats - 1 > 65_535) {
    const lacking = new Error(
      `there are not ${seats} ports from ${port} on, one for each worker and the spare`,
    );
    throw new CannotListen(webrtcVariables.webrtcUdpAddr.name, lacking);
  }
  for (let seat = 0; seat < seats; seat += 1) {
    const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
    try {
      socket.bind({ address: host, port: port + seat, exclusive: true });
      await once(socket, 'listening');
    } catch (error) {
      throw new CannotListen(webrtcVariables.webrtcUdpAddr.name, error);
    } finally {
      socket.close();
    }
  }
}
