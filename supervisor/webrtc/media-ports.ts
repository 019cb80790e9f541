/** The UDP ports of the workers, looked at before there are any workers: a port of which the firewall knows nothing takes no call. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { Millis } from '../../shared/base/units.ts';
import type { ServerSettings } from '../../shared/config/server/server.ts';
import { webrtcVariables } from '../../shared/webrtc/variables.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { CannotListen } from '../listeners/ports.ts';

/** Workers whose supervisor was killed keep their ports for 3 s, and an operator starts it again sooner. */
const leftWithinMs: Millis = 5_000;
const lookEveryMs: Millis = 100;

/** Rejects where one of the ports does not become free. A supervisor that takes over does not ask: the one before it has them. */
export async function tryMediaPorts(
  { webrtc, spareWorker }: Pick<ServerSettings, 'webrtc' | 'spareWorker'>,
  workers: number,
  clock: Clock,
): Promise<void> {
  if (webrtc === undefined || webrtc.udpAddr.port === 0) return;
  const { host, port } = webrtc.udpAddr;
  const ports = spareWorker ? workers + 1 : workers;
  if (port + ports - 1 > 65_535) {
    const lacking = new Error(
      `there are not ${ports} ports from ${port} on, one for each worker and the spare`,
    );
    throw new CannotListen(webrtcVariables.webrtcUdpAddr.name, lacking);
  }
  const until = clock.now() + leftWithinMs;
  for (let index = 0; index < ports; index += 1) {
    let problem = await whyTaken(host, port + index);
    while (problem !== undefined && clock.now() < until) {
      await new Promise<void>((resolve) => void clock.after(lookEveryMs, resolve));
      problem = await whyTaken(host, port + index);
    }
    if (problem !== undefined) throw new CannotListen(webrtcVariables.webrtcUdpAddr.name, problem);
  }
}

async function whyTaken(address: string, port: number): Promise<unknown> {
  const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
  try {
    socket.bind({ address, port, exclusive: true });
    await once(socket, 'listening');
    return undefined;
  } catch (error) {
    return error;
  } finally {
    socket.close();
  }
}
