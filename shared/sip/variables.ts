/**
 * The server variables of SIP: where it listens, who may call, how media travels. They exist in a build with SIP; without an address
 * there is none of it.
 */
import { present } from '../base/present.ts';
import { fail, ok, type Result } from '../base/result.ts';
import type { HostPort } from '../net/address.ts';
import { parseCidrList, parseIp, type Cidr } from '../net/cidr.ts';
import { isLoopbackHost } from '../net/loopback.ts';
import type { Sensitive } from '../config/sensitive.ts';
import type { Reader, Taken } from '../config/server/environment.ts';
import { sipRegistrationVariables, takeSipRegistration, type SipRegistration } from './registration.ts';
import { sipTrunkVariables, takeSipTrunk, type SipTrunk } from './trunk.ts';
import { isUnspecified } from '../webrtc/variables.ts';
import {
  choiceVariable,
  countVariable,
  durationVariable,
  listenerVariable,
  optionalPathVariable,
  readVariable,
  secretVariable,
  textLike,
} from '../config/server/variables.ts';

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

const rangeForm = 'first-last, ports from 1024 to 65535 with room for at least one pair, such as 10000-20000';

function readPorts(value: string): Result<PortRange, string> {
  const [, first, last] = /^(\d{1,5})-(\d{1,5})$/.exec(value) ?? [];
  const range = { first: Number(first), last: Number(last) };
  const isRange = range.first >= 1_024 && range.last <= 65_535 && range.last > range.first;
  return isRange ? ok(range) : fail(`must be ${rangeForm}`);
}

const wordForm = 'at most 64 letters, digits and . _ @ + -';
const readWord = textLike(wordForm, (value) => /^[A-Za-z0-9._@+-]{1,64}$/.test(value));

const ownVariables = {
  sipAddr: listenerVariable('SVC_SIP_ADDR', 'Listener for SIP over UDP and TCP. Only in a build with SIP.', {
    port: 5060,
    unset: 'no SIP',
  }),
  sipTlsAddr: listenerVariable('SVC_SIP_TLS_ADDR', 'Listener for SIP over TLS.', {
    port: 5060,
    unset: 'no SIP over TLS',
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
      read: textLike(
        'an IP address other than 0.0.0.0 and ::',
        (value) => parseIp(value) !== undefined && !isUnspecified(value),
      ),
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
    { least: 1, most: 10_000, fallback: 256 },
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
} as const;

export const sipVariables = { ...ownVariables, ...sipRegistrationVariables, ...sipTrunkVariables } as const;

export function takeSip(reader: Reader): { readonly sip?: SipSettings } {
  const variables = sipVariables;
  const taken = reader.takeAll(ownVariables);
  const { sipAddr: addr, sipUser: user, sipPassword: password } = taken;
  const tls = tlsOf(reader, taken);
  if ((user === '') !== (password === undefined))
    reader.refuse(variables.sipUser, `must be set together with ${variables.sipPassword.name}`);
  const digest =
    user !== '' && password !== undefined ? { user, password, realm: taken.sipRealm } : undefined;
  const has = { UDP: addr !== undefined, TLS: tls !== undefined };
  const register = takeSipRegistration(reader, has);
  const trunk = takeSipTrunk(reader, has);
  const settings: SipSettings = {
    ...present({ addr, tls, publicIp: taken.sipPublicIp, digest, register, trunk }),
    srtp: taken.sipSrtp,
    rtpPorts: taken.sipRtpPorts,
    allow: taken.sipAllow,
    refers: reader.take(variables.sipRefer),
    maxConnections: taken.sipMaxConnections,
    handshakeTimeoutMs: taken.sipHandshakeTimeout,
    idleTimeoutMs: taken.sipIdleTimeout,
  };
  if (addr === undefined && tls === undefined) return {};
  if (tls === undefined && settings.srtp === 'required')
    reader.refuse(
      variables.sipSrtp,
      `must not be required without ${variables.sipTlsAddr.name}: keys need TLS`,
    );
  else if (trunk !== undefined && trunk.transport !== 'TLS' && settings.srtp === 'required')
    reader.refuse(variables.sipTrunk, `must have ;transport=tls where ${variables.sipSrtp.name} is required`);
  refuseOpenTrunk(reader, settings);
  return { sip: settings };
}

function tlsOf(reader: Reader, taken: Taken<typeof ownVariables>): SipSettings['tls'] {
  const variables = sipVariables;
  const { sipTlsAddr: addr, sipTlsCert: certFile, sipTlsKey: keyFile } = taken;
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

/** A stranger who finds an open trunk calls at somebody else's cost, so no override lets one start (docs/sip.md). */
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
