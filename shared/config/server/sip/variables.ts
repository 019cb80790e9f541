/**
 * The server variables of SIP: where it listens, who may call, how media travels. They exist in a build with SIP; without an address
 * there is none of it.
 */
import { fail, ok, type Result } from '../../../base/result.ts';
import { parseHostPort, type HostPort } from '../../../net/address.ts';
import { parseCidrList, parseIp, type Cidr } from '../../../net/cidr.ts';
import { isLoopbackHost } from '../../../net/loopback.ts';
import type { Sensitive } from '../../sensitive.ts';
import type { Reader } from '../environment.ts';
import { sipRegistrationVariables, takeSipRegistration, type SipRegistration } from './registration.ts';
import { sipTrunkVariables, takeSipTrunk, type SipTrunk } from './trunk.ts';
import { isUnspecified } from '../webrtc-variables.ts';
import {
  choiceVariable,
  countVariable,
  durationVariable,
  optionalPathVariable,
  readVariable,
  secretVariable,
} from '../variables.ts';

export interface PortRange {
  readonly first: number;
  readonly last: number;
}

export interface SipSettings {
  /** UDP and TCP. */
  readonly addr?: HostPort;
  readonly tls?: { readonly addr: HostPort; readonly certFile: string; readonly keyFile: string };
  readonly srtp: 'off' | 'optional' | 'required';
  readonly publicIp?: string;
  readonly rtpPorts: PortRange;
  /** Empty: peers of every address. */
  readonly allow: readonly Cidr[];
  readonly digest?: { readonly user: string; readonly password: Sensitive<string>; readonly realm: string };
  /** Absent: registered nowhere. */
  readonly register?: SipRegistration;
  /** Absent: no calls are made. */
  readonly trunk?: SipTrunk;
  /** Calls may be handed on by REFER. */
  readonly refers: boolean;
  readonly maxConnections: number;
  readonly handshakeTimeoutMs: number;
  readonly idleTimeoutMs: number;
}

const listener = {
  form: 'host:port, [::1]:5060 for IPv6; port 0 takes a free one',
  read: parseHostPort,
  fallback: undefined,
} as const;

const rangeForm = 'first-last, ports from 1024 to 65535 with room for at least one pair, such as 10000-20000';

function readPorts(value: string): Result<PortRange, string> {
  const [, first, last] = /^(\d{1,5})-(\d{1,5})$/.exec(value) ?? [];
  const range = { first: Number(first), last: Number(last) };
  const isRange = range.first >= 1_024 && range.last <= 65_535 && range.last > range.first;
  return isRange ? ok(range) : fail(`must be ${rangeForm}`);
}

const wordForm = 'at most 64 letters, digits and . _ @ + -';
const readWord = (value: string): Result<string, string> =>
  /^[A-Za-z0-9._@+-]{1,64}$/.test(value) ? ok(value) : fail(`must be ${wordForm}`);

export const sipVariables = {
  sipAddr: readVariable<HostPort | undefined>(
    'SVC_SIP_ADDR',
    'Listener for SIP over UDP and TCP. Only in a build with SIP.',
    { ...listener, defaultText: 'unset: no SIP' },
  ),
  sipTlsAddr: readVariable<HostPort | undefined>('SVC_SIP_TLS_ADDR', 'Listener for SIP over TLS.', {
    ...listener,
    defaultText: 'unset: no SIP over TLS',
  }),
  sipTlsCert: optionalPathVariable(
    'SVC_SIP_TLS_CERT',
    'Certificate chain of the TLS listener, PEM. A renewed one is taken by the next connection.',
  ),
  sipTlsKey: optionalPathVariable('SVC_SIP_TLS_KEY', 'Private key of the TLS listener, PEM.'),
  sipSrtp: choiceVariable(
    'SVC_SIP_SRTP',
    'Whether calls over TLS may or must encrypt their audio (SDES). Keys are never taken over UDP and TCP.',
    { of: ['off', 'optional', 'required'], fallback: 'optional' },
  ),
  sipPublicIp: readVariable<string | undefined>(
    'SVC_SIP_PUBLIC_IP',
    'Address that peers are told to send to, where this machine is behind a translation.',
    {
      form: 'IP address other than 0.0.0.0 and ::',
      defaultText: 'the address of the interface that leads to the peer',
      read: (value) =>
        parseIp(value) === undefined || isUnspecified(value)
          ? fail('must be an IP address other than 0.0.0.0 and ::')
          : ok(value),
      fallback: undefined,
    },
  ),
  sipRtpPorts: readVariable<PortRange>('SVC_SIP_RTP_PORTS', 'UDP ports for audio, two for each call.', {
    form: rangeForm,
    defaultText: '10000-20000',
    read: readPorts,
    fallback: { first: 10_000, last: 20_000 },
  }),
  sipAllow: readVariable<readonly Cidr[]>(
    'SVC_SIP_ALLOW',
    'Networks that calls may come from; others get 403.',
    {
      form: 'networks separated by commas, such as 192.0.2.0/24,2001:db8::/32',
      defaultText: 'unset: every address, which then has to sign in',
      read: parseCidrList,
      fallback: [],
    },
  ),
  sipUser: readVariable<string>('SVC_SIP_USER', 'Name with which peers sign in (digest).', {
    form: wordForm,
    defaultText: 'unset: nobody signs in',
    read: readWord,
    fallback: '',
  }),
  sipPassword: secretVariable('SVC_SIP_PASSWORD', 'Password that belongs to SVC_SIP_USER.'),
  sipRealm: readVariable<string>('SVC_SIP_REALM', 'Realm that peers are asked to sign in to.', {
    form: wordForm,
    defaultText: 'voice-agent',
    read: readWord,
    fallback: 'voice-agent',
  }),
  sipMaxConnections: countVariable(
    'SVC_SIP_MAX_CONNECTIONS',
    'Most TCP and TLS connections at the same time.',
    {
      least: 1,
      most: 10_000,
      defaultText: '256',
      fallback: () => 256,
    },
  ),
  sipHandshakeTimeout: durationVariable(
    'SVC_SIP_HANDSHAKE_TIMEOUT',
    'Time in which a new connection must have sent its first whole request.',
    { defaultMs: 5_000, leastMs: 100 },
  ),
  sipIdleTimeout: durationVariable('SVC_SIP_IDLE_TIMEOUT', 'Silence after which a connection is closed.', {
    defaultMs: 600_000,
    leastMs: 1_000,
  }),
  ...sipRegistrationVariables,
  ...sipTrunkVariables,
} as const;

export function takeSip(reader: Reader): { readonly sip?: SipSettings } {
  const variables = sipVariables;
  const addr = reader.take(variables.sipAddr);
  const tls = takeTls(reader);
  const publicIp = reader.take(variables.sipPublicIp);
  const allow = reader.take(variables.sipAllow);
  const user = reader.take(variables.sipUser);
  const password = reader.take(variables.sipPassword);
  const realm = reader.take(variables.sipRealm);
  if ((user === '') !== (password === undefined))
    reader.refuse(variables.sipUser, `must be set together with ${variables.sipPassword.name}`);
  const digest = user !== '' && password !== undefined ? { user, password, realm } : undefined;
  const has = { UDP: addr !== undefined, TLS: tls !== undefined };
  const register = takeSipRegistration(reader, has);
  const trunk = takeSipTrunk(reader, has);
  const settings: SipSettings = {
    ...(addr !== undefined && { addr }),
    ...(tls !== undefined && { tls }),
    srtp: reader.take(variables.sipSrtp),
    ...(publicIp !== undefined && { publicIp }),
    rtpPorts: reader.take(variables.sipRtpPorts),
    allow,
    ...(digest !== undefined && { digest }),
    ...(register !== undefined && { register }),
    ...(trunk !== undefined && { trunk }),
    refers: reader.take(variables.sipRefer),
    maxConnections: reader.take(variables.sipMaxConnections),
    handshakeTimeoutMs: reader.take(variables.sipHandshakeTimeout),
    idleTimeoutMs: reader.take(variables.sipIdleTimeout),
  };
  if (addr === undefined && tls === undefined) return {};
  if (tls === undefined && settings.srtp === 'required')
    reader.refuse(
      variables.sipSrtp,
      `must not be required without ${variables.sipTlsAddr.name}: keys need TLS`,
    );
  refuseOpenTrunk(reader, settings);
  return { sip: settings };
}

function takeTls(reader: Reader): SipSettings['tls'] {
  const variables = sipVariables;
  const addr = reader.take(variables.sipTlsAddr);
  const certFile = reader.take(variables.sipTlsCert);
  const keyFile = reader.take(variables.sipTlsKey);
  if (addr === undefined) return undefined;
  if (certFile !== undefined && keyFile !== undefined) return { addr, certFile, keyFile };
  for (const [variable, file] of [
    [variables.sipTlsCert, certFile],
    [variables.sipTlsKey, keyFile],
  ] as const)
    if (file === undefined && !reader.isSet(variable))
      reader.refuse(variable, `must be set where ${variables.sipTlsAddr.name} is`);
  return undefined;
}

/** Spec 01, Authentication 3: whoever finds an open trunk calls at somebody else's cost, so that no override lets one start. */
function refuseOpenTrunk(reader: Reader, { addr, tls, allow, digest, register }: SipSettings): void {
  const { sipAddr, sipTlsAddr, sipAllow, sipUser, sipRegister } = sipVariables;
  if (allow.length > 0 || digest !== undefined || register !== undefined) return;
  for (const [variable, at] of [
    [sipAddr, addr],
    [sipTlsAddr, tls?.addr],
  ] as const)
    if (at !== undefined && !isLoopbackHost(at.host))
      reader.refuse(
        variable,
        `must be a loopback address without ${sipAllow.name}, ${sipUser.name} or ${sipRegister.name}: an open trunk`,
      );
}
