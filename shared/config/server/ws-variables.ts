/**
 * The server variables of the WebSocket listener: its address, and the limits of a connection (docs/reference/server-settings.md). Part of the list
 * in `server.ts`.
 */
import type { HostPort } from '../../net/address.ts';
import type { Reader } from './environment.ts';
import { addressVariable, countVariable, durationVariable, sizeVariable } from './variables.ts';

export interface WsSettings {
  /** Absent: calls come by other listeners only. */
  readonly addr?: HostPort;
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
}

export const wsVariables = {
  wsAddr: addressVariable(
    'SVC_WS_ADDR',
    'Listener of the WebSocket call protocol; where calls come in by another listener, it is opened only when this is set. Off loopback it needs authentication or SVC_INSECURE_LISTENERS.',
    { host: '127.0.0.1', port: 8080 },
  ),
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
    { defaultMs: 30_000, leastMs: 11 },
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
  wsMaxCalls: countVariable(
    'SVC_WS_MAX_CALLS',
    'Most connections for calls, those that have not sent `start` yet among them.',
    { least: 1, most: 200_000, defaultText: 'twice SVC_MAX_SESSIONS', fallback: 0 },
  ),
  wsAcceptQueue: countVariable('SVC_WS_ACCEPT_QUEUE', 'Connections that may wait to be accepted.', {
    least: 1,
    most: 65_535,
    fallback: 128,
  }),
} as const;

/** `byDefault`: whether it listens without being asked to (where calls come in by no other listener). */
export function takeWs(reader: Reader, maxSessions: number, byDefault: boolean): WsSettings {
  const variables = wsVariables;
  const taken = reader.takeAll(variables);
  const ws = {
    ...((byDefault || reader.isSet(variables.wsAddr)) && { addr: taken.wsAddr }),
    startTimeoutMs: taken.wsStartTimeout,
    pingIntervalMs: taken.wsPingInterval,
    pingTimeoutMs: taken.wsPingTimeout,
    maxAudioBytes: taken.wsMaxAudioBytes,
    maxControlBytes: taken.wsMaxControlBytes,
    writeTimeoutMs: taken.wsWriteTimeout,
    sendTimeoutMs: taken.wsSendTimeout,
    closeGraceMs: taken.wsCloseGrace,
    maxCalls: reader.isSet(variables.wsMaxCalls) ? taken.wsMaxCalls : 2 * maxSessions,
    acceptQueue: taken.wsAcceptQueue,
  };
  const hasBadPing = reader.problems.some(({ variable }) => variable.startsWith('SVC_WS_PING_'));
  if (!hasBadPing && ws.pingTimeoutMs <= ws.pingIntervalMs) {
    reader.refuse(variables.wsPingTimeout, `must be longer than ${variables.wsPingInterval.name}`);
  }
  return ws;
}
