/**
 * The server variables: the only list of SVC_ names. Each is declared once, with its form, default and one line of
 * explanation; reading the environment, messages, help and the reference page come from here. The environment is an
 * argument, nothing reads the process.
 */
import { fail, ok } from '../base/result.ts';
import type { Result } from '../base/result.ts';
import type { HostPort } from '../net/address.ts';
import { isLoopbackHost } from '../net/loopback.ts';
import { nearestName } from './nearest.ts';
import type { Sensitive } from './sensitive.ts';
import {
  addressVariable,
  choiceVariable,
  countVariable,
  durationVariable,
  optionalPathVariable,
  requiredPathVariable,
  secretVariable,
  sizeVariable,
  switchVariable,
} from './variables.ts';
import type { MachineFacts, Variable } from './variables.ts';

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;
export type LogLevel = (typeof logLevels)[number];

/** A variable that is wrong, and the rule it breaks. Never holds the value. */
export interface ConfigProblem {
  readonly variable: string;
  /** Begins with the name of the variable. */
  readonly message: string;
}

export interface ServerSettings {
  readonly agentFile: string;
  readonly ws: {
    readonly addr: HostPort;
    readonly startTimeoutMs: number;
    readonly pingIntervalMs: number;
    readonly pingTimeoutMs: number;
    readonly maxAudioBytes: number;
    readonly maxControlBytes: number;
    readonly writeTimeoutMs: number;
    readonly sendTimeoutMs: number;
    readonly closeGraceMs: number;
    readonly maxCalls: number;
    readonly acceptQueue: number;
  };
  readonly health: {
    readonly addr: HostPort;
    readonly metrics: boolean;
    readonly metricsToken?: Sensitive<string>;
  };
  readonly maxSessions: number;
  readonly drain: {
    readonly drainTimeoutMs: number;
    readonly cancelGraceMs: number;
    readonly abortWaitMs: number;
  };
  readonly insecureListeners: boolean;
  readonly logLevel: LogLevel;
  readonly vadModel?: string;
}

const variables = {
  agentFile: requiredPathVariable('SVC_AGENT_FILE', 'The agent file that every call runs on.'),
  wsAddr: addressVariable(
    'SVC_WS_ADDR',
    'Listener of the WebSocket call protocol. Off loopback it needs authentication or SVC_INSECURE_LISTENERS.',
    {
      host: '127.0.0.1',
      port: 8080,
    },
  ),
  healthAddr: addressVariable('SVC_HEALTH_ADDR', 'Listener of /healthz, /readyz and /metrics.', {
    host: '0.0.0.0',
    port: 8081,
  }),
  maxSessions: countVariable('SVC_MAX_SESSIONS', 'Most calls at the same time.', {
    least: 1,
    most: 100_000,
    defaultText: '256 per core',
    fallback: (facts) => 256 * facts.cores,
  }),
  insecureListeners: switchVariable(
    'SVC_INSECURE_LISTENERS',
    'Start listeners off loopback without authentication, with a warning for each.',
    false,
  ),
  drainTimeout: durationVariable('SVC_DRAIN_TIMEOUT', 'How long calls may go on after SIGTERM.', {
    defaultMs: 30_000,
    leastMs: 0,
  }),
  cancelGrace: durationVariable('SVC_CANCEL_GRACE', 'How long calls get to end once they are told to.', {
    defaultMs: 5000,
    leastMs: 0,
  }),
  abortWait: durationVariable('SVC_ABORT_WAIT', 'How long the rest is waited for before the exit.', {
    defaultMs: 1000,
    leastMs: 0,
  }),
  metrics: switchVariable('SVC_METRICS', 'Whether /metrics answers.', true),
  metricsToken: secretVariable(
    'SVC_METRICS_TOKEN',
    'Bearer token of /metrics; without it /metrics answers on loopback alone.',
  ),
  logLevel: choiceVariable('SVC_LOG_LEVEL', 'Least level that is logged.', {
    of: logLevels,
    fallback: 'info',
  }),
  wsStartTimeout: durationVariable('SVC_WS_START_TIMEOUT', 'Longest wait for the start message of a call.', {
    defaultMs: 5000,
    leastMs: 1,
  }),
  wsPingInterval: durationVariable('SVC_WS_PING_INTERVAL', 'Time between pings.', {
    defaultMs: 10_000,
    leastMs: 10,
  }),
  wsPingTimeout: durationVariable(
    'SVC_WS_PING_TIMEOUT',
    'A client that sends no frame for this long is gone; longer than SVC_WS_PING_INTERVAL.',
    {
      defaultMs: 30_000,
      leastMs: 11,
    },
  ),
  wsMaxAudioBytes: sizeVariable('SVC_WS_MAX_AUDIO_BYTES', 'Largest binary frame.', {
    defaultBytes: 65_536,
    least: 2,
    most: 16_777_216,
  }),
  wsMaxControlBytes: sizeVariable('SVC_WS_MAX_CONTROL_BYTES', 'Largest text frame.', {
    defaultBytes: 16_384,
    least: 512,
    most: 1_048_576,
  }),
  wsWriteTimeout: durationVariable(
    'SVC_WS_WRITE_TIMEOUT',
    'A client whose socket stays full for this long is cut off.',
    { defaultMs: 5000, leastMs: 1 },
  ),
  wsSendTimeout: durationVariable(
    'SVC_WS_SEND_TIMEOUT',
    'A call whose engine takes no input for this long is overloaded.',
    { defaultMs: 5000, leastMs: 1 },
  ),
  wsCloseGrace: durationVariable('SVC_WS_CLOSE_GRACE', "Longest wait for the client's close frame.", {
    defaultMs: 2000,
    leastMs: 1,
  }),
  wsMaxCalls: countVariable('SVC_WS_MAX_CALLS', 'Most connections of the WebSocket listener.', {
    least: 1,
    most: 200_000,
    defaultText: 'twice SVC_MAX_SESSIONS',
    fallback: (facts) => 512 * facts.cores,
  }),
  wsAcceptQueue: countVariable('SVC_WS_ACCEPT_QUEUE', 'Connections that may wait to be accepted.', {
    least: 1,
    most: 65_535,
    defaultText: '128',
    fallback: () => 128,
  }),
  vadModel: optionalPathVariable(
    'SVC_VAD_MODEL',
    'Silero VAD model to use instead of the one that comes with the service.',
  ),
} as const;

/** Names with the prefix that belong to the tests and say nothing to the server. */
const foreignNames: readonly string[] = ['SVC_TEST_ASSETS'];

const knownNames: readonly string[] = Object.values(variables).map((variable) => variable.name);

type Env = Readonly<Record<string, string | undefined>>;

/** Takes variables one by one; a bad one is reported and stands in with its default until the end. */
class Reader {
  readonly problems: ConfigProblem[] = [];
  readonly #env: Env;
  readonly #facts: MachineFacts;

  constructor(env: Env, facts: MachineFacts) {
    this.#env = env;
    this.#facts = facts;
  }

  take<T>(variable: Variable<T>): T {
    const text = this.#env[variable.name];
    if (text === undefined) {
      if (variable.isRequired) this.refuse(variable, `must be set: ${variable.form}`);
      return variable.fallback(this.#facts);
    }
    const result = this.#read(variable, text);
    if (result.ok) return result.value;
    this.refuse(variable, result.error);
    return variable.fallback(this.#facts);
  }

  refuse(variable: { readonly name: string }, rule: string): void {
    this.problems.push({ variable: variable.name, message: `${variable.name} ${rule}` });
  }

  isSet(variable: { readonly name: string }): boolean {
    return this.#env[variable.name] !== undefined;
  }

  #read<T>(variable: Variable<T>, text: string): Result<T, string> {
    if (text === '') return fail('is set but empty; unset it or give it a value');
    return variable.read(text);
  }
}

function takeWs(reader: Reader, maxSessions: number): ServerSettings['ws'] {
  const ws = {
    addr: reader.take(variables.wsAddr),
    startTimeoutMs: reader.take(variables.wsStartTimeout),
    pingIntervalMs: reader.take(variables.wsPingInterval),
    pingTimeoutMs: reader.take(variables.wsPingTimeout),
    maxAudioBytes: reader.take(variables.wsMaxAudioBytes),
    maxControlBytes: reader.take(variables.wsMaxControlBytes),
    writeTimeoutMs: reader.take(variables.wsWriteTimeout),
    sendTimeoutMs: reader.take(variables.wsSendTimeout),
    closeGraceMs: reader.take(variables.wsCloseGrace),
    maxCalls: reader.isSet(variables.wsMaxCalls) ? reader.take(variables.wsMaxCalls) : 2 * maxSessions,
    acceptQueue: reader.take(variables.wsAcceptQueue),
  };
  const hasBadPing = reader.problems.some(({ variable }) => variable.startsWith('SVC_WS_PING_'));
  if (!hasBadPing && ws.pingTimeoutMs <= ws.pingIntervalMs) {
    reader.refuse(variables.wsPingTimeout, `must be longer than ${variables.wsPingInterval.name}`);
  }
  return ws;
}

/** Spec 01, Authentication 2, 3 and 5: off loopback only with authentication, or knowingly without. */
function checkExposure(settings: ServerSettings, reader: Reader): string[] {
  const warnings: string[] = [];
  if (!isLoopbackHost(settings.ws.addr.host)) {
    const [name, override] = [variables.wsAddr.name, variables.insecureListeners.name];
    if (settings.insecureListeners) {
      warnings.push(
        `${name} is not a loopback address and the listener has no authentication; ${override} lets it start`,
      );
    } else {
      reader.refuse(
        variables.wsAddr,
        `must be a loopback address, because this version has no authentication; ${override}=1 starts the listener anyway`,
      );
    }
  }
  if (settings.health.metricsToken !== undefined) {
    warnings.push(
      `${variables.metricsToken.name} is a static token: every client shares it and it never expires`,
    );
  }
  return warnings;
}

function warnOfUnknown(env: Env): string[] {
  return Object.keys(env)
    .filter((name) => name.startsWith('SVC_') && ![...knownNames, ...foreignNames].includes(name))
    .toSorted()
    .map((name) => {
      const nearest = nearestName(name, knownNames);
      const advice = nearest === undefined ? 'this version ignores it' : `did you mean ${nearest}?`;
      return `${name.slice(0, 64)} is not a known variable; ${advice}`;
    });
}

/**
 * Reads the environment (spec 03, Server environment variables; spec 01, Limits). Every bad variable is reported, by
 * name and rule. Warnings do not refuse the start.
 */
export function parseServerSettings(
  env: Env,
  facts: MachineFacts,
): Result<{ settings: ServerSettings; warnings: string[] }, ConfigProblem[]> {
  const reader = new Reader(env, facts);
  const maxSessions = reader.take(variables.maxSessions);
  const metricsToken = reader.take(variables.metricsToken);
  const vadModel = reader.take(variables.vadModel);
  const settings: ServerSettings = {
    agentFile: reader.take(variables.agentFile),
    ws: takeWs(reader, maxSessions),
    health: {
      addr: reader.take(variables.healthAddr),
      metrics: reader.take(variables.metrics),
      ...(metricsToken !== undefined && { metricsToken }),
    },
    maxSessions,
    drain: {
      drainTimeoutMs: reader.take(variables.drainTimeout),
      cancelGraceMs: reader.take(variables.cancelGrace),
      abortWaitMs: reader.take(variables.abortWait),
    },
    insecureListeners: reader.take(variables.insecureListeners),
    logLevel: reader.take(variables.logLevel),
    ...(vadModel !== undefined && { vadModel }),
  };
  const warnings = [...checkExposure(settings, reader), ...warnOfUnknown(env)];
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
  return Object.values<Variable<unknown>>(variables).map(({ name, form, defaultText, text, isSecret }) => ({
    name,
    form,
    defaultText,
    text,
    isSecret: isSecret === true,
  }));
}
