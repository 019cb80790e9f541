/**
 * What workers write down of a call while it runs, one small line of JSON each, and what its record is made of (`fold.ts`). Lines are only
 * appended. The worker that takes a call up goes on in the same file, so that a line may come twice, and one of a worker that died may be torn.
 */
import * as z from 'zod';
import { callEndCodes, endedBy } from './ends.ts';
import { toolOutcomes, usageStages, usageUnits, type UsageUnit } from './record.ts';

const ms = z.int().min(0);
const count = z.int().min(0);
const textMap = z.record(z.string(), z.string());
/** `at`: milliseconds since the call began, in whichever worker; `n` counts the lines of one worker. */
const common = { at: ms, n: count.exactOptional() };
const fact = <const T extends string, S extends z.ZodRawShape>(
  type: T,
  shape: S,
): z.ZodObject<{ t: z.ZodLiteral<T> } & typeof common & S> =>
  z.object({ t: z.literal(type), ...common, ...shape });

/** A process by its number and when it began, by which a later one of the same number is told apart. */
const processName = { pid: count, since: z.string() };

const headShape = {
  v: z.literal(1),
  id: z.string(),
  call: z.string(),
  session: z.string(),
  agent: z.string(),
  version: z.string().exactOptional(),
  /** Agent that the call came to before it was given to this one. */
  insteadOf: z.string().exactOptional(),
  tenant: z.string().exactOptional(),
  route: z.string().exactOptional(),
  direction: z.enum(['inbound', 'outbound']),
  transport: z.string(),
  from: z.string().exactOptional(),
  to: z.string().exactOptional(),
  carrierCall: z.string().exactOptional(),
  token: textMap,
  client: textMap,
  /** Milliseconds since 1970. */
  started: z.int(),
  models: z
    .record(z.string(), z.string())
    .exactOptional()
    .meta({ description: 'Models by stage and provider: `llm llm_chat`.' }),
  realtime: z
    .literal(true)
    .exactOptional()
    .meta({ description: 'A model hears and speaks by itself, as long as it works.' }),
  recording: z.string().exactOptional(),
  transcript: z.boolean().exactOptional(),
  facts: z.boolean().exactOptional(),
  trace: z.string().exactOptional(),
};

const facts = [
  /** The first line of a call; a second one, of a worker that did not know of the first, counts as `worker`. */
  fact('call', headShape),
  /** Who has the call from here on: the worker, and its supervisor. */
  fact('worker', {
    ...processName,
    parent: z.object(processName),
    /** For how long nobody had the call. */
    silent: ms.exactOptional(),
  }),
  /** The conversation begins. */
  fact('open', { model: z.string().exactOptional() }),
  fact('turn', { epoch: count }),
  fact('answered', { epoch: count }),
  fact('times', {
    epoch: count,
    /** End of turn, final text, first text, first sound, wire. */
    ms: z.tuple([ms, ms, ms, ms, ms]),
    filled: z.literal(true).exactOptional(),
  }),
  fact('cut', { epoch: count }),
  fact('said', { role: z.enum(['caller', 'agent', 'operator']), epoch: count, from: ms, text: z.string() }),
  fact('heard', {
    epoch: count,
    from: ms,
    text: z.string(),
    how: z.enum(['finished', 'interrupted', 'failed', 'call_ended']),
    complete: z.boolean(),
  }),
  /** Sums since the last such line. */
  fact('tally', {
    caller: ms.exactOptional(),
    agent: ms.exactOptional(),
    silence: ms.exactOptional(),
    /** The longest silence, of those that ended since. */
    longest: ms.exactOptional(),
    falseStarts: count.exactOptional(),
    backchannels: count.exactOptional(),
    keys: count.exactOptional(),
    /** The caller begins a turn here: what follows is of it. */
    begins: z.literal(true).exactOptional(),
  }),
  fact('used', {
    stage: z.enum(usageStages),
    provider: z.string(),
    model: z.string().exactOptional(),
    units: z.partialRecord(z.enum(usageUnits), z.number().min(0)),
  }),
  fact('fault', {
    stage: z.enum(['stt', 'llm', 'tts', 'call']),
    what: z.string(),
    cause: z.string().exactOptional(),
  }),
  fact('failover', { stage: z.enum(['stt', 'llm', 'tts', 'realtime']), to: z.string() }),
  /** Another agent has the call. */
  fact('handed', { agent: z.string() }),
  fact('tool', {
    /** Tells it from others in the call; `id` is the model's own. */
    key: z.string(),
    id: z.string(),
    name: z.string(),
    ms,
    outcome: z.enum(toolOutcomes),
    detail: z.string().exactOptional(),
  }),
  fact('transfer', {
    id: z.string(),
    mode: z.enum(['cold', 'warm']),
    destination: z.string().exactOptional(),
  }),
  fact('transferred', {
    id: z.string(),
    outcome: z.enum(['ok', 'refused', 'unknown']),
    code: z.string().exactOptional(),
  }),
  fact('operator', {
    id: z.string(),
    role: z.enum(['listen', 'whisper', 'take_over']),
    name: z.string().exactOptional(),
    until: ms.exactOptional(),
  }),
  fact('quality', {
    packets: count,
    lost: count,
    jitter: z.number().min(0),
    codec: z.string(),
    delay: z.number().min(0).exactOptional(),
  }),
  /** The recording is paused, or goes on. */
  fact('paused', { on: z.boolean() }),
  /** Lines were left out from here on, for want of room. */
  fact('left_out', {}),
  /** The last line: nothing is read behind it. */
  fact('end', {
    code: z.enum(callEndCodes),
    by: z.enum(endedBy).exactOptional(),
    detail: z.string().exactOptional(),
  }),
] as const;

const factSchema = z.discriminatedUnion('t', facts);
export type CallFact = z.output<typeof factSchema>;
export type FactOf<T extends CallFact['t']> = Extract<CallFact, { t: T }>;

export type UsedUnits = Partial<Record<UsageUnit, number>>;

/** Undefined for what is torn, or of another version. */
export function readFact(line: string): CallFact | undefined {
  if (line === '') return undefined;
  try {
    const read = factSchema.safeParse(JSON.parse(line));
    return read.success ? read.data : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
