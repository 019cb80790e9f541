/** The command line of the bench. */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { transports } from './client/wire.ts';
import { noiseModes, type NoiseMode } from '../../../shared/protocol/noise-mode.ts';
import { SAMPLE_RATES } from '../../../shared/base/units.ts';
import type { RunOptions } from './run.ts';
import type { WebrtcMode } from './webrtc/calls.ts';

export type Mode =
  | { readonly name: 'hold' | 'find-max' | 'overload' | 'restart' | 'agent-link' }
  | { readonly name: 'calls-list'; readonly count: number; readonly database: string | undefined }
  | { readonly name: 'agents'; readonly agents: number }
  | { readonly name: 'sip'; readonly killWorker: boolean; readonly restart: boolean }
  | ({ readonly name: 'webrtc' } & WebrtcMode)
  | { readonly name: 'webrtc-interruptions'; readonly rounds: number; readonly chromium: boolean }
  | {
      readonly name: 'interruptions';
      readonly rounds: number;
      readonly only: readonly string[];
      readonly voices: string | undefined;
    }
  | { readonly name: 'soak'; readonly total: number; readonly warmUp: number };

export interface Command extends Omit<RunOptions, 'root'> {
  readonly mode: Mode;
  /** Numbers of calls, one run for each; `calls` is the first. */
  readonly steps: readonly number[];
  readonly json: boolean;
  /** The same callers are held by a mere echo as well. */
  readonly floor: boolean;
  /** File with figures of an earlier run, beside which those of this one stand; `note`: they are written there. */
  readonly kept: string | undefined;
  readonly note: boolean;
  /** Calls are held twice, the second time with records of them. */
  readonly recorded: boolean;
}

export class UsageError extends Error {}

const mostCalls = 1_000_000;

const parameters = {
  calls: { type: 'string' },
  seconds: { type: 'string', default: '60' },
  workers: { type: 'string', default: 'auto' },
  rate: { type: 'string', default: '16000' },
  encoding: { type: 'string', default: 'pcm16' },
  set: { type: 'string', multiple: true, default: [] as string[] },
  linked: { type: 'boolean', default: false },
  realtime: { type: 'boolean', default: false },
  noise: { type: 'string', default: 'off' },
  'calls-db': { type: 'boolean', default: false },
  'calls-list': { type: 'string' },
  database: { type: 'string' },
  profile: { type: 'string' },
  observed: { type: 'boolean', default: false },
  'find-max': { type: 'boolean', default: false },
  floor: { type: 'boolean', default: false },
  kept: { type: 'string' },
  note: { type: 'boolean', default: false },
  soak: { type: 'string' },
  agents: { type: 'string' },
  'warm-up': { type: 'string' },
  overload: { type: 'boolean', default: false },
  restart: { type: 'boolean', default: false },
  'agent-link': { type: 'boolean', default: false },
  interruptions: { type: 'boolean', default: false },
  rounds: { type: 'string', default: '1' },
  chromium: { type: 'boolean', default: false },
  voices: { type: 'string' },
  only: { type: 'string', multiple: true, default: [] as string[] },
  transport: { type: 'string', default: 'websocket' },
  'kill-worker': { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
} as const;

/** @throws UsageError */
export function parseCommand(args: readonly string[]): Command {
  const { values } = parseArgs({
    args: [...args],
    options: parameters,
  });
  const { encoding } = values;
  if (encoding !== 'pcm16' && encoding !== 'mulaw')
    throw new UsageError('--encoding: must be pcm16 or mulaw');
  const transport = transports.find((name) => name === values.transport) ?? 'websocket';
  const sampleRate = Number(values.rate);
  if (!SAMPLE_RATES.includes(sampleRate))
    throw new UsageError(`--rate: must be one of ${SAMPLE_RATES.join(', ')}`);
  const mode = values.agents === undefined ? modeOf(values) : agentsMode(values.agents, values);
  if (transport !== 'websocket' && mode.name !== 'hold' && mode.name !== 'find-max')
    throw new UsageError('--transport: only calls that are held, and --find-max, have another one');
  const steps = (values.calls ?? (mode.name === 'soak' ? '60' : '100'))
    .split(',')
    .map((count) => countOf('--calls', count, 4096));
  const [calls = 0] = steps;
  if (values.floor && (mode.name !== 'hold' || transport !== 'websocket'))
    throw new UsageError('--floor: is for calls over WebSocket that are held');
  if (values.kept !== undefined && !values.floor) throw new UsageError('--kept: needs --floor');
  if (values.note && values.kept === undefined) throw new UsageError('--note: needs --kept');
  if (steps.length > 1 && mode.name !== 'hold')
    throw new UsageError('--calls: several numbers are for calls that are held');
  return {
    mode,
    calls,
    steps,
    seconds: countOf('--seconds', values.seconds, 86_400),
    workers: values.workers === 'auto' ? 'auto' : String(countOf('--workers', values.workers, 256)),
    format: transport === 'carrier_a' ? { sampleRate: 8_000, encoding: 'mulaw' } : { sampleRate, encoding },
    transport,
    profile: values.profile === undefined ? undefined : resolve(values.profile),
    assets: process.env['SVC_TEST_ASSETS'],
    variables: Object.fromEntries(values.set.map(variableOf)),
    observed: values.observed,
    linked: values.linked,
    realtime: values.realtime,
    noise: noiseOf(values.noise),
    json: values.json,
    floor: values.floor,
    kept: values.kept === undefined ? undefined : resolve(values.kept),
    note: values.note,
    recorded: values['calls-db'],
  };
}

function noiseOf(given: string): NoiseMode {
  const mode = noiseModes.find((name) => name === given);
  if (mode === undefined) throw new UsageError(`--noise: must be one of ${noiseModes.join(', ')}`);
  return mode;
}

function agentsMode(count: string, values: Parameters<typeof modeOf>[0]): Mode {
  if (modeOf(values).name !== 'hold')
    throw new UsageError('--agents: excludes --soak, --overload and the others like it');
  return { name: 'agents', agents: countOf('--agents', count, 10_000) };
}

function modeOf(values: {
  readonly soak?: string | undefined;
  readonly 'warm-up'?: string | undefined;
  readonly overload: boolean;
  readonly restart: boolean;
  readonly 'agent-link': boolean;
  readonly interruptions: boolean;
  readonly rounds: string;
  readonly chromium: boolean;
  readonly voices?: string | undefined;
  readonly only: readonly string[];
  readonly 'find-max': boolean;
  readonly transport: string;
  readonly 'kill-worker': boolean;
  readonly 'calls-list'?: string | undefined;
  readonly database?: string | undefined;
}): Mode {
  const { 'calls-list': count, database } = values;
  if (count !== undefined)
    return { name: 'calls-list', count: countOf('--calls-list', count, mostCalls), database };
  const names = (['overload', 'restart', 'interruptions', 'find-max', 'agent-link'] as const).filter(
    (name) => values[name],
  );
  if (names.length + (values.soak === undefined ? 0 : 1) > 1)
    throw new UsageError(
      '--soak, --overload, --restart, --interruptions, --agent-link and --find-max exclude one another',
    );
  const media = mediaModeOf(values, names);
  if (media !== undefined) return media;
  const [name = 'hold'] = names;
  if (name === 'interruptions')
    return {
      name,
      rounds: countOf('--rounds', values.rounds, 100),
      only: values.only,
      voices: values.voices === undefined ? undefined : resolve(values.voices),
    };
  if (values.soak === undefined) return { name };
  const total = countOf('--soak', values.soak, mostCalls);
  const warmUp = countOf('--warm-up', values['warm-up'] ?? String(Math.ceil(total / 4)), total);
  return { name: 'soak', total, warmUp };
}

/** Calls whose media has a way of its own; undefined for the others. */
function mediaModeOf(
  values: {
    readonly transport: string;
    readonly soak?: string | undefined;
    readonly 'kill-worker': boolean;
    readonly rounds: string;
    readonly chromium: boolean;
  },
  names: readonly string[],
): Mode | undefined {
  const { transport, soak, 'kill-worker': killWorker } = values;
  if (![...transports, 'sip', 'webrtc'].includes(transport))
    throw new UsageError(`--transport: must be one of ${transports.join(', ')}, sip, webrtc`);
  const name = transport === 'sip' || transport === 'webrtc' ? transport : undefined;
  if (killWorker && name === undefined)
    throw new UsageError('--kill-worker: needs --transport sip or webrtc');
  const talks = name === 'webrtc' && names.join() === 'interruptions';
  if (values.chromium && !talks) throw new UsageError('--chromium: needs --transport webrtc --interruptions');
  if (name === undefined) return undefined;
  if (talks && !killWorker && soak === undefined)
    return {
      name: 'webrtc-interruptions',
      rounds: countOf('--rounds', values.rounds, 100),
      chromium: values.chromium,
    };
  const restart = name === 'sip' && names.join() === 'restart';
  if ((names.length > 0 && !restart) || (soak !== undefined && name === 'sip'))
    throw new UsageError(`--transport ${name}: holds calls for a while and nothing else`);
  if (name === 'sip') return { name, killWorker, restart };
  return { name, killWorker, soak: soak === undefined ? undefined : countOf('--soak', soak, mostCalls) };
}

function variableOf(text: string): [name: string, value: string] {
  const found = /^(SVC_[A-Z0-9_]+)=(.*)$/s.exec(text);
  if (found?.[1] === undefined || found[2] === undefined)
    throw new UsageError('--set: must look like SVC_NAME=value');
  return [found[1], found[2]];
}

function countOf(name: string, text: string, most: number): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > most)
    throw new UsageError(`${name}: must be a whole number from 1 to ${most}`);
  return value;
}
