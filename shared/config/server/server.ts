/**
 * The server variables: the only list of SVC_ names, and of the OTEL_ names that are obeyed. Each is declared once, with its form, default and one line of
 * explanation; reading the environment, messages, help and the reference page come from here. The environment is an
 * argument, nothing reads the process.
 */
import { present } from '../../base/present.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { HostPort } from '../../net/address.ts';
import { parseCidrList, type Cidr } from '../../net/cidr.ts';
import { forwardingHeaders, type ForwardingHeader } from '../../net/forwarded.ts';
import { isLoopbackHost } from '../../net/loopback.ts';
import type { AllowedOrigins } from '../../net/origin.ts';
import { parseRedisUrl, redisUrlForm, type RedisTarget } from '../../net/redis-url.ts';
import { agentsVariables, takeAgents, type AgentsSettings } from '../../agents/variables.ts';
import { agentLinkVariables, agentLinkWarnings, takeAgentLink } from '../../agent-link/variables.ts';
import type { AgentLinkSettings } from '../../agent-link/variables.ts';
import { lackedBy, refuseAbsent } from './absent-listeners.ts';
import { twilioVariables, takeTwilio, type TwilioSettings } from '../../telephony/twilio/variables.ts';
import { telnyxVariables, takeTelnyx, type TelnyxSettings } from '../../telephony/telnyx/variables.ts';
import { Reader, type ConfigProblem, type Env, type Exposure } from './environment.ts';
import { lifetimeVariables, takeLifetime, type LifetimeSettings } from './lifetime-variables.ts';
import { modelVariables, takeModels, type ModelSettings } from './model-variables.ts';
import {
  takeTelephony,
  telephonyVariables,
  type CallbackSettings,
  type TelephonySettings,
} from '../../telephony/variables.ts';
import { nearestName } from '../nearest.ts';
import { originsVariable } from './origins-variable.ts';
import { pageVariables, takePage, type PageSettings } from './page-variables.ts';
import { callsVariables, takeCalls, type CallsSettings } from '../../calls/variables.ts';
import {
  monitorTokens,
  liveToken,
  monitorVariables,
  takeMonitor,
  type MonitorSettings,
} from '../../monitor/variables.ts';
import { recordingVariables, takeRecording, type RecordingSettings } from '../../recording/variables.ts';
import { rtviVariables, takeRtvi, type RtviSettings } from '../../rtvi/variables.ts';
import { parseProviderLimits, providerLimitsForm, type ProviderLimits } from './provider-limits.ts';
import type { Sensitive } from '../sensitive.ts';
import { providerNames } from '../stages/providers.ts';
import { takeWebrtc, webrtcExposure, webrtcVariables, type WebrtcSettings } from '../../webrtc/variables.ts';
import { sipVariables, takeSip, type SipSettings } from '../../sip/variables.ts';
import { takeTelemetry, telemetryVariables, type TelemetrySettings } from '../../tracing/variables.ts';
import { takeWs, wsVariables, type WsSettings } from './ws-variables.ts';
import {
  addressVariable,
  choiceVariable,
  countVariable,
  readVariable,
  requiredPathVariable,
  secretVariable,
  signingSecretVariable,
  switchVariable,
} from './variables.ts';
import type { MachineFacts, Variable } from './variables.ts';

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;
export type LogLevel = (typeof logLevels)[number];

export interface ServerSettings
  extends
    AgentsSettings,
    ModelSettings,
    LifetimeSettings,
    AgentLinkSettings,
    RecordingSettings,
    CallsSettings,
    TelemetrySettings {
  readonly agentFile: string;
  readonly ws: WsSettings;
  readonly health: {
    readonly addr: HostPort;
    readonly metrics: boolean;
    readonly metricsToken?: Sensitive<string>;
    /** Absent: there is no live view. */
    readonly liveToken?: Sensitive<string>;
  };
  /** Absent: nobody may listen to running calls. */
  readonly monitor?: MonitorSettings;
  /** Absent: no call page. */
  readonly page?: PageSettings;
  /** Absent: no telephone calls of Twilio. */
  readonly twilio?: TwilioSettings;
  /** Absent: no telephone calls of Telnyx. */
  readonly telnyx?: TelnyxSettings;
  readonly telephony: TelephonySettings;
  /** Absent: no warm transfers. */
  readonly callback?: CallbackSettings;
  /** Absent: no RTVI. */
  readonly rtvi?: RtviSettings;
  /** Absent: no WebRTC calls. */
  readonly webrtc?: WebrtcSettings;
  /** Absent: no SIP. */
  readonly sip?: SipSettings;
  readonly maxSessions: number;
  /** Who may open calls. Empty secrets and no token: nobody is asked. */
  readonly access: {
    readonly wsToken?: Sensitive<string>;
    /** SVC_SESSION_SECRET, then SVC_SESSION_SECRET_PREV. */
    readonly sessionSecrets: readonly Sensitive<string>[];
    readonly tokenStore?: RedisTarget;
    /** Origins of web pages that may open calls; absent: every one where calls need a token, the own one elsewhere. */
    readonly wsOrigins?: AllowedOrigins;
    readonly trustedProxies: readonly Cidr[];
    readonly clientIpHeader: ForwardingHeader;
    /** Calls of one address at the same time; 0 is no limit. */
    readonly maxCallsPerAddress: number;
  };
  readonly providerLimits: ProviderLimits;
  readonly insecureListeners: boolean;
  readonly logLevel: LogLevel;
}

const allProviders: readonly string[] = [
  ...providerNames('stt'),
  ...providerNames('llm'),
  ...providerNames('tts'),
];

const variables = {
  agentFile: requiredPathVariable(
    'SVC_AGENT_FILE',
    'The agent file that calls run on; with SVC_AGENTS_DIR those that no other agent gets.',
  ),
  ...agentsVariables,
  ...agentLinkVariables,
  healthAddr: addressVariable('SVC_HEALTH_ADDR', 'Listener of /healthz, /readyz and /metrics.', {
    host: '0.0.0.0',
    port: 8081,
  }),
  ...pageVariables,
  ...twilioVariables,
  ...telnyxVariables,
  ...telephonyVariables,
  ...rtviVariables,
  ...webrtcVariables,
  ...sipVariables,
  maxSessions: countVariable('SVC_MAX_SESSIONS', 'Most calls at the same time.', {
    least: 1,
    most: 100_000,
    defaultText: '256 per core',
    fallback: (facts) => 256 * facts.cores,
  }),
  sessionSecret: signingSecretVariable(
    'SVC_SESSION_SECRET',
    'Verifies session tokens; once it is set every call needs one (or the static token).',
  ),
  sessionSecretPrev: signingSecretVariable(
    'SVC_SESSION_SECRET_PREV',
    'The secret before SVC_SESSION_SECRET, while tokens signed with it are still valid.',
  ),
  wsToken: secretVariable('SVC_WS_TOKEN', 'Static token of the WebSocket listener, shared by all clients.'),
  tokenStoreUrl: readVariable<RedisTarget | undefined>(
    'SVC_TOKEN_STORE_URL',
    'Redis or Valkey server through which all instances share used session tokens, limits per address, and the host of each telephone call; without it each instance works alone.',
    { form: redisUrlForm, read: parseRedisUrl, fallback: undefined, isSecret: true },
  ),
  wsOrigins: originsVariable(
    'SVC_WS_ORIGINS',
    'Origins of web pages that may open calls besides those of the host that is asked; clients without an Origin are no pages.',
  ),
  trustedProxies: readVariable<readonly Cidr[]>(
    'SVC_TRUSTED_PROXIES',
    'Proxies whose forwarding header is trusted.',
    {
      form: 'networks separated by commas, such as 10.0.0.0/8,fd00::/8',
      defaultText: 'none',
      read: parseCidrList,
      fallback: [],
    },
  ),
  clientIpHeader: choiceVariable(
    'SVC_CLIENT_IP_HEADER',
    'The forwarding header that is read when the peer is a trusted proxy.',
    { of: forwardingHeaders, fallback: 'x-forwarded-for' },
  ),
  wsMaxCallsPerIp: countVariable(
    'SVC_WS_MAX_CALLS_PER_IP',
    'Most calls of one client address on the WebSocket listener; 0 is no limit.',
    { least: 0, most: 100_000, fallback: 0 },
  ),
  providerLimits: readVariable<ProviderLimits>(
    'SVC_PROVIDER_LIMITS',
    'Limits of the providers: concurrent sessions and requests per minute. Calls beyond them are refused.',
    {
      form: providerLimitsForm,
      defaultText: 'none',
      read: (value) => parseProviderLimits(value, allProviders),
      fallback: new Map(),
    },
  ),
  insecureListeners: switchVariable(
    'SVC_INSECURE_LISTENERS',
    'Start listeners off loopback without authentication, with a warning for each.',
    false,
  ),
  ...lifetimeVariables,
  metrics: switchVariable('SVC_METRICS', 'Whether /metrics is served.', true),
  metricsToken: secretVariable(
    'SVC_METRICS_TOKEN',
    'Bearer token of /metrics. Without it /metrics answers only if SVC_HEALTH_ADDR is a loopback address, and 403 otherwise.',
  ),
  liveToken,
  ...monitorVariables,
  logLevel: choiceVariable('SVC_LOG_LEVEL', 'Lowest level that is logged.', {
    of: logLevels,
    fallback: 'info',
  }),
  ...wsVariables,
  ...modelVariables,
  ...recordingVariables,
  ...callsVariables,
  ...telemetryVariables,
} as const;

/** Names with the prefix that belong to the tests and say nothing to the server. */
const foreignNames: readonly string[] = ['SVC_BUILD_WITH', 'SVC_BUILD_WITHOUT', 'SVC_TEST_ASSETS'];

const knownNames: readonly string[] = Object.values(variables).map((variable) => variable.name);

function takeAccess(reader: Reader): ServerSettings['access'] {
  const [current, previous] = [
    reader.take(variables.sessionSecret),
    reader.take(variables.sessionSecretPrev),
  ];
  if (reader.isSet(variables.sessionSecretPrev) && !reader.isSet(variables.sessionSecret)) {
    reader.refuse(variables.sessionSecretPrev, `needs ${variables.sessionSecret.name} beside it`);
  }
  return {
    ...present({
      wsToken: reader.take(variables.wsToken),
      tokenStore: reader.take(variables.tokenStoreUrl),
      wsOrigins: reader.take(variables.wsOrigins),
    }),
    sessionSecrets: [current, previous].filter((secret) => secret !== undefined),
    trustedProxies: reader.take(variables.trustedProxies),
    clientIpHeader: reader.take(variables.clientIpHeader),
    maxCallsPerAddress: reader.take(variables.wsMaxCallsPerIp),
  };
}

/** Off loopback a listener starts only with authentication, or knowingly without (docs/security.md). */
function checkExposure(settings: ServerSettings, reader: Reader): string[] {
  const warnings: string[] = [];
  const { access, ws, page, rtvi, health, insecureListeners } = settings;
  const override = variables.insecureListeners.name;
  const guards = `${variables.sessionSecret.name} or ${variables.wsToken.name}`;
  const isGuarded = access.wsToken !== undefined || access.sessionSecrets.length > 0;
  const tokensFor = variables.pageTokenUrl.name;
  const givesTokens = access.sessionSecrets.length > 0 && page?.tokenUrl === undefined;
  const noToken = 'its calls need no token';
  const exposures: Exposure[] = [
    { variable: variables.wsAddr, addr: ws.addr, isSafe: isGuarded, need: guards, risk: noToken },
    {
      variable: variables.telnyxAddr,
      addr: settings.telnyx?.addr,
      isSafe: settings.telnyx?.streamToken !== undefined,
      need: variables.telnyxStreamToken.name,
      risk: 'its streams need no token',
    },
    { variable: variables.pageAddr, addr: page?.addr, isSafe: isGuarded, need: guards, risk: noToken },
    {
      variable: variables.rtviAddr,
      addr: rtvi?.addr,
      isSafe: rtvi?.token !== undefined || access.sessionSecrets.length > 0,
      need: `${variables.sessionSecret.name} or ${variables.rtviToken.name}`,
      risk: noToken,
    },
    {
      variable: variables.pageAddr,
      addr: page?.addr,
      isSafe: !givesTokens,
      need: tokensFor,
      risk: 'it gives a session token to whoever asks',
    },
  ];
  if (settings.webrtc !== undefined) exposures.push(webrtcExposure(settings.webrtc, access.sessionSecrets));
  for (const { variable, addr, isSafe, need, risk } of exposures) {
    if (addr === undefined || isLoopbackHost(addr.host) || isSafe) continue;
    if (insecureListeners)
      warnings.push(`${variable.name} is not a loopback address and ${risk}; ${override} lets it start`);
    else
      reader.refuse(variable, `must be a loopback address without ${need}; ${override}=1 starts it anyway`);
  }
  if (page !== undefined && page.tokenUrl === undefined && isGuarded && !givesTokens)
    warnings.push(
      `the call page has no token to call with: it needs ${tokensFor} or ${variables.sessionSecret.name}`,
    );
  for (const [variable, token] of [
    [variables.wsToken, access.wsToken],
    [variables.rtviToken, rtvi?.token],
    [variables.webrtcToken, settings.webrtc?.token],
    [variables.metricsToken, health.metricsToken],
    [variables.liveToken, health.liveToken],
    ...monitorTokens(settings.monitor),
    [variables.callsToken, settings.calls?.token],
    [variables.telnyxStreamToken, settings.telnyx?.streamToken],
  ] as const) {
    if (token === undefined) continue;
    warnings.push(`${variable.name} is a static token: every client shares it and it never expires`);
  }
  return warnings;
}

/** What to tell about variables of our prefix that nothing reads, by name alone. */
export function unknownVariables(env: Env): string[] {
  return Object.keys(env)
    .filter((name) => name.startsWith('SVC_') && lackedBy(name) === undefined)
    .filter((name) => ![...knownNames, ...foreignNames].includes(name))
    .toSorted()
    .map((name) => {
      const nearest = nearestName(name, knownNames);
      const advice = nearest === undefined ? 'this version ignores it' : `did you mean ${nearest}?`;
      return `${name.slice(0, 64)} is not a known variable; ${advice}`;
    });
}

/**
 * Reads the environment (docs/reference/server-settings.md). Every bad variable is reported, by
 * name and rule. Warnings do not refuse the start.
 */
export function parseServerSettings(
  env: Env,
  facts: MachineFacts,
): Result<{ settings: ServerSettings; warnings: string[] }, ConfigProblem[]> {
  const reader = new Reader(env, facts);
  const maxSessions = reader.take(variables.maxSessions);
  const telephony = takeTelephony(reader);
  const otherTransports = {
    ...takeTwilio(reader),
    ...takeTelnyx(reader),
    ...takeRtvi(reader),
    ...takeWebrtc(reader, maxSessions),
    ...takeSip(reader),
  };
  const live = reader.take(variables.liveToken);
  const settings: ServerSettings = {
    agentFile: reader.take(variables.agentFile),
    ws: takeWs(reader, maxSessions, Object.keys(otherTransports).length === 0),
    health: {
      addr: reader.take(variables.healthAddr),
      metrics: reader.take(variables.metrics),
      ...present({
        metricsToken: reader.take(variables.metricsToken),
        liveToken: live,
      }),
    },
    ...takeMonitor(reader, live),
    ...takePage(reader),
    ...otherTransports,
    ...telephony,
    maxSessions,
    access: takeAccess(reader),
    providerLimits: reader.take(variables.providerLimits),
    ...takeLifetime(reader),
    insecureListeners: reader.take(variables.insecureListeners),
    logLevel: reader.take(variables.logLevel),
    ...takeModels(reader),
    ...takeAgents(reader),
    ...takeAgentLink(reader),
    ...takeRecording(reader),
    ...takeCalls(reader, telephony.telephony.stateDir),
    ...takeTelemetry(reader),
  };
  refuseAbsent(env, reader);
  const warnings = [
    ...checkExposure(settings, reader),
    ...agentLinkWarnings(settings),
    ...unknownVariables(env),
  ];
  return reader.problems.length > 0 ? fail(reader.problems) : ok({ settings, warnings });
}

/** One row of the reference page and of the help. */
export interface VariableDescription {
  readonly name: string;
  readonly form: string;
  readonly defaultText: string;
  readonly text: string;
  /** Its value is shown nowhere. */
  readonly isSecret: boolean;
}

export function describeServerSettings(): VariableDescription[] {
  return Object.values<Variable<unknown>>(variables).map(
    ({ name, form, defaultText, text, isSecret = false }) => ({ name, form, defaultText, text, isSecret }),
  );
}
