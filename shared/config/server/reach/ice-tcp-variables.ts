/** The server variables of ICE over TCP (docs/webrtc.md, Reachability). Part of the list in `server.ts`, by way of those of WebRTC. */
import { present } from '../../../base/present.ts';
import { fail, ok } from '../../../base/result.ts';
import type { Millis } from '../../../base/units.ts';
import { parseHostPort, type HostPort } from '../../../net/address.ts';
import type { Reader } from '../environment.ts';
import { countVariable, durationVariable, readVariable } from '../variables.ts';

export interface IceTcpSettings {
  readonly addr: HostPort;
  /** In candidates; absent: the port that is bound. */
  readonly candidatePort?: number;
  readonly maxConnections: number;
  /** Of one source address; absent: no limit. */
  readonly maxPerIp?: number;
  /** Within which a connection names a live call. */
  readonly idleMs: Millis;
  readonly maxFrameBytes: number;
  /** Frames that wait for a client that takes none, the oldest of which go first. */
  readonly queue: number;
}

export const iceTcpVariables = {
  webrtcTcpAddr: readVariable<HostPort | undefined>(
    'SVC_WEBRTC_TCP_ADDR',
    'Where media of WebRTC calls arrives by TCP (ICE-TCP), for networks that let no UDP through.',
    {
      form: 'host:port with an address and not a name, [::1]:8071 for IPv6; port 0 takes a free one',
      defaultText: 'unset: UDP alone',
      read: parseHostPort,
      fallback: undefined,
    },
  ),
  webrtcTcpCandidatePort: readVariable<number | undefined>(
    'SVC_WEBRTC_TCP_CANDIDATE_PORT',
    'Port at which clients reach SVC_WEBRTC_TCP_ADDR, where it is another one outside.',
    {
      form: 'integer from 1 to 65535',
      defaultText: 'the port that is bound',
      read: (value) => {
        const port = /^\d{1,5}$/.test(value) ? Number(value) : 0;
        return port >= 1 && port <= 65_535 ? ok(port) : fail('must be an integer from 1 to 65535');
      },
      fallback: undefined,
    },
  ),
  webrtcTcpMaxConnections: countVariable(
    'SVC_WEBRTC_TCP_MAX_CONNECTIONS',
    'Most TCP connections for media; more are closed without an answer.',
    { least: 1, most: 65_536, fallback: 256 },
  ),
  webrtcTcpMaxPerIp: countVariable(
    'SVC_WEBRTC_TCP_MAX_PER_IP',
    'Most TCP connections for media of one source address; 0: no limit.',
    { least: 0, most: 65_536, fallback: 16 },
  ),
  webrtcTcpIdleTimeout: durationVariable(
    'SVC_WEBRTC_TCP_IDLE_TIMEOUT',
    'Within this time a TCP connection has to name a live call by its first STUN request.',
    { defaultMs: 10_000, leastMs: 10 },
  ),
  webrtcTcpMaxFrame: countVariable(
    'SVC_WEBRTC_TCP_MAX_FRAME',
    'Longest frame in bytes on a TCP connection for media; a longer one closes it.',
    { least: 512, most: 65_535, fallback: 2_048 },
  ),
  webrtcTcpQueue: countVariable(
    'SVC_WEBRTC_TCP_QUEUE',
    'Frames that wait for a client that takes none on its TCP connection; the oldest are dropped.',
    { least: 8, most: 4_096, fallback: 20 },
  ),
} as const;

/** Undefined where media has no TCP port. */
export function takeIceTcp(reader: Reader): IceTcpSettings | undefined {
  const taken = reader.takeAll(iceTcpVariables);
  const { webrtcTcpAddr: addr, webrtcTcpMaxPerIp: mostPerIp } = taken;
  if (addr === undefined) return undefined;
  return present({
    addr,
    candidatePort: taken.webrtcTcpCandidatePort,
    maxConnections: taken.webrtcTcpMaxConnections,
    maxPerIp: mostPerIp > 0 ? mostPerIp : undefined,
    idleMs: taken.webrtcTcpIdleTimeout,
    maxFrameBytes: taken.webrtcTcpMaxFrame,
    queue: taken.webrtcTcpQueue,
  });
}
