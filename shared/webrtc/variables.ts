/** The server variables of WebRTC signaling and of where media goes (docs/webrtc.md, Reachability and Limits). Part of the list in `server.ts`. */
import { present } from '../base/present.ts';
import { fail, ok, type Result } from '../base/result.ts';
import type { HostPort } from '../net/address.ts';
import { parseIp } from '../net/cidr.ts';
import type { AllowedOrigins } from '../net/origin.ts';
import type { Exposure, Reader } from '../config/server/environment.ts';
import type { Sensitive } from '../config/sensitive.ts';
import {
  iceTcpVariables,
  takeIceTcp,
  type IceTcpSettings,
} from '../config/server/reach/ice-tcp-variables.ts';
import { takeTurn, turnVariables, type TurnSettings } from '../config/server/reach/turn-variables.ts';
import { originsVariable } from '../config/server/origins-variable.ts';
import {
  addressVariable,
  countVariable,
  listenerVariable,
  readVariable,
  secretVariable,
} from '../config/server/variables.ts';

export interface WebrtcSettings {
  /** Signaling: POST /whip and its session URLs. */
  readonly addr: HostPort;
  /** Where workers take media; worker `i` has port + `i`, and port 0 gives each a free one. */
  readonly udpAddr: HostPort;
  /** Addresses that clients are told instead of the one that is bound; empty: that one. */
  readonly candidateIps: readonly string[];
  readonly token?: Sensitive<string>;
  /** Absent: pages of the host that is asked. */
  readonly corsOrigin?: AllowedOrigins;
  /** Where the call protocol is spoken by WebSocket; absent: nowhere. */
  readonly wsPath?: string;
  /** Absent: no limit. */
  readonly offersPerMinute?: number;
  readonly maxHandshaking: number;
  readonly maxCallsPerAddress: number;
  /** Absent: media goes over UDP alone. */
  readonly tcp?: IceTcpSettings;
  /** Absent: there are no relays. */
  readonly turn?: TurnSettings;
}

const mostCandidateIps = 8;
const candidateIpForm = `up to ${mostCandidateIps} addresses separated by commas, IPv4 or IPv6 without brackets, none of them 0.0.0.0 or ::`;

function readCandidateIps(value: string): Result<readonly string[], string> {
  const entries = value.split(',').map((entry) => entry.trim());
  const isRight = entries.length <= mostCandidateIps && entries.every(isReachable);
  return isRight ? ok(entries) : fail(`must be ${candidateIpForm}`);
}

const offersForm = 'integer from 1 to 100000, or off';

function readOffers(value: string): Result<number | undefined, string> {
  if (value === 'off') return ok(undefined);
  const count = /^\d{1,6}$/.test(value) ? Number(value) : Number.NaN;
  return count >= 1 && count <= 100_000 ? ok(count) : fail(`must be an ${offersForm}`);
}

const wsPathForm = 'a path such as /ws without query or trailing /, not under /whip, or off';

function readWsPath(value: string): Result<string | undefined, string> {
  if (value === 'off') return ok(undefined);
  const isPath = /^(\/[\w.~!$&'()*+,;=:@%-]+)+$/.test(value) && value.length <= 256;
  const isUnderWhip = value === '/whip' || value.startsWith('/whip/');
  return isPath && !isUnderWhip ? ok(value) : fail(`must be ${wsPathForm}`);
}

const ownVariables = {
  webrtcAddr: listenerVariable(
    'SVC_WEBRTC_ADDR',
    'Listener of WebRTC signaling: offers at POST /whip. Off loopback it needs authentication or SVC_INSECURE_LISTENERS.',
    { port: 8070, unset: 'no WebRTC calls' },
  ),
  webrtcUdpAddr: addressVariable(
    'SVC_WEBRTC_UDP_ADDR',
    'Where media of WebRTC calls arrives. Worker i takes the port i above this one; while a service is restarted, the ports above those are taken too. Port 0 gives each worker a free one.',
    { host: '127.0.0.1', port: 0 },
  ),
  webrtcCandidateIp: readVariable<readonly string[]>(
    'SVC_WEBRTC_CANDIDATE_IP',
    'Addresses at which clients reach the UDP ports, where they are not the one that is bound. Needed where that one is 0.0.0.0 or [::].',
    { form: candidateIpForm, defaultText: 'the address that is bound', read: readCandidateIps, fallback: [] },
  ),
  webrtcToken: secretVariable('SVC_WEBRTC_TOKEN', 'Static token of WebRTC signaling, shared by all clients.'),
  webrtcCorsOrigin: originsVariable(
    'SVC_WEBRTC_CORS_ORIGIN',
    'Origins of web pages that may open calls by WebRTC besides those of the host that is asked.',
    'pages of the host that is asked',
  ),
  webrtcOffersPerMinute: readVariable<number | undefined>(
    'SVC_WEBRTC_OFFERS_PER_MINUTE',
    'Offers of one client address in a minute, and at once.',
    { form: offersForm, defaultText: '5', read: readOffers, fallback: 5 },
  ),
  webrtcWsPath: readVariable<string | undefined>(
    'SVC_WEBRTC_WS_PATH',
    'Path of the signaling port at which the WebSocket call protocol is spoken, for networks that let nothing else through.',
    { form: wsPathForm, defaultText: '/ws', read: readWsPath, fallback: '/ws' },
  ),
  webrtcMaxCallsPerIp: countVariable(
    'SVC_WEBRTC_MAX_CALLS_PER_IP',
    'Most calls of one client address on the signaling port.',
    { least: 1, most: 100_000, fallback: 8 },
  ),
} as const;

/** The limit of the handshake pool depends on the one of all calls. */
const handshakeVariables = {
  webrtcMaxHandshaking: countVariable(
    'SVC_WEBRTC_MAX_HANDSHAKING',
    'Most WebRTC calls whose connection is not established yet.',
    { least: 1, most: 100_000, defaultText: 'a quarter of SVC_MAX_SESSIONS', fallback: 0 },
  ),
};

export const webrtcVariables = {
  ...ownVariables,
  ...iceTcpVariables,
  ...turnVariables,
  ...handshakeVariables,
} as const;

export function takeWebrtc(reader: Reader, maxSessions: number): { readonly webrtc?: WebrtcSettings } {
  const variables = webrtcVariables;
  const taken = reader.takeAll(ownVariables);
  const { webrtcMaxHandshaking } = reader.takeAll(handshakeVariables);
  const { webrtcAddr: addr, webrtcUdpAddr: udpAddr, webrtcCandidateIp: candidateIps } = taken;
  const { webrtcToken: token, webrtcCorsOrigin: corsOrigin } = taken;
  const [tcp, turn] = [takeIceTcp(reader), takeTurn(reader)];
  if (addr === undefined) return {};
  const isOpen = token === undefined && !reader.isSet({ name: 'SVC_SESSION_SECRET' });
  if (corsOrigin === 'any' && isOpen)
    reader.refuse(
      variables.webrtcCorsOrigin,
      `must name origins without SVC_SESSION_SECRET or ${variables.webrtcToken.name}`,
    );
  const places = [
    ...[{ variable: variables.webrtcUdpAddr, addr: udpAddr, isTold: turn?.relay !== 'only' }],
    ...(tcp === undefined ? [] : [{ variable: variables.webrtcTcpAddr, addr: tcp.addr, isTold: true }]),
  ];
  refuseUntellable(reader, places, candidateIps);
  return {
    webrtc: {
      addr,
      udpAddr,
      candidateIps,
      maxCallsPerAddress: taken.webrtcMaxCallsPerIp,
      maxHandshaking: webrtcMaxHandshaking || Math.max(1, Math.floor(maxSessions / 4)),
      ...present({ token, corsOrigin, tcp, turn }),
      ...present({ wsPath: taken.webrtcWsPath, offersPerMinute: taken.webrtcOffersPerMinute }),
    },
  };
}

/** A place where media arrives; clients are told of it, or not. */
interface MediaPlace {
  readonly variable: { readonly name: string };
  readonly addr: HostPort;
  readonly isTold: boolean;
}

/** A client has to be told an address, and of a place that is all of them the service knows none that is reached from outside. */
function refuseUntellable(
  reader: Reader,
  places: readonly MediaPlace[],
  candidateIps: readonly string[],
): void {
  for (const { variable } of places.filter(({ addr }) => parseIp(addr.host) === undefined))
    reader.refuse(variable, 'must be an address and not a name');
  const open = places.find(({ addr, isTold }) => isTold && isUnspecified(addr.host));
  // A bad one is refused already.
  if (open !== undefined && candidateIps.length === 0 && !reader.isSet(webrtcVariables.webrtcCandidateIp))
    reader.refuse(
      webrtcVariables.webrtcCandidateIp,
      `must be set where ${open.variable.name} is not one address`,
    );
}

/** Off loopback signaling needs authentication (docs/reference/server-settings.md, `SVC_WEBRTC_ADDR`). */
export const webrtcExposure = (
  { addr, token }: WebrtcSettings,
  sessionSecrets: readonly unknown[],
): Exposure => ({
  variable: webrtcVariables.webrtcAddr,
  addr,
  isSafe: token !== undefined || sessionSecrets.length > 0,
  need: `SVC_SESSION_SECRET or ${webrtcVariables.webrtcToken.name}`,
  risk: 'its calls need no token',
});

/** Nobody can send to an address that stands for all of a machine. */
const isReachable = (host: string): boolean => parseIp(host) !== undefined && !isUnspecified(host);

/** Every address of the machine. */
export const isUnspecified = (host: string): boolean => parseIp(host)?.every((byte) => byte === 0) === true;
