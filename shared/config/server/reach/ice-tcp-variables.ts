/** The server variables of ICE over TCP (spec 03, WebRTC reachability). Part of the list in `server.ts`, by way of those of WebRTC. */
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

const count = (least: number, most: number, fallback: number) => ({
  ...{ least, most, defaultText: String(fallback) },
  fallback: () => fallback,
});

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
        return port >= 1 && port <= 65_535
          ? { ok: true, value: port }
          : { ok: false, error: 'must be an integer from 1 to 65535' };
      },
      fallback: undefined,
    },
  ),
  webrtcTcpMaxConnections: countVariable(
    'SVC_WEBRTC_TCP_MAX_CONNECTIONS',
    'Most TCP connections for media; more are closed without an answer.',
    count(1, 65_536, 256),
  ),
  webrtcTcpMaxPerIp: countVariable(
    'SVC_WEBRTC_TCP_MAX_PER_IP',
    'Most TCP connections for media of one source address; 0: no limit.',
    count(0, 65_536, 16),
  ),
  webrtcTcpIdleTimeout: durationVariable(
    'SVC_WEBRTC_TCP_IDLE_TIMEOUT',
    'Within this time a TCP connection has to name a live call by its first STUN request.',
    { defaultMs: 10_000, leastMs: 10 },
  ),
  webrtcTcpMaxFrame: countVariable(
    'SVC_WEBRTC_TCP_MAX_FRAME',
    'Longest frame in bytes on a TCP connection for media; a longer one closes it.',
    count(512, 65_535, 2_048),
  ),
  webrtcTcpQueue: countVariable(
    'SVC_WEBRTC_TCP_QUEUE',
    'Frames that wait for a client that takes none on its TCP connection; the oldest are dropped.',
    count(8, 4_096, 20),
  ),
} as const;

/** Undefined where media has no TCP port. */
export function takeIceTcp(reader: Reader): IceTcpSettings | undefined {
  const variables = iceTcpVariables;
  const addr = reader.take(variables.webrtcTcpAddr);
  const candidatePort = reader.take(variables.webrtcTcpCandidatePort);
  const maxConnections = reader.take(variables.webrtcTcpMaxConnections);
  const maxPerIp = reader.take(variables.webrtcTcpMaxPerIp);
  const idleMs = reader.take(variables.webrtcTcpIdleTimeout);
  const maxFrameBytes = reader.take(variables.webrtcTcpMaxFrame);
  const queue = reader.take(variables.webrtcTcpQueue);
  if (addr === undefined) return undefined;
  return {
    ...{ addr, maxConnections, idleMs, maxFrameBytes, queue },
    ...(candidatePort !== undefined && { candidatePort }),
    ...(maxPerIp > 0 && { maxPerIp }),
  };
}
