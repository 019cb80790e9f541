/**
 * The record of one call: the shape in which it is kept, exported and sent to webhooks (docs/calls.md). Names are those of the wire. A record is
 * written once; only `analysis`, and what that took, is added later.
 */
import * as z from 'zod';
import { callEndCodes, endedBy } from './ends.ts';

export const CALL_RECORD_VERSION = 1 as const;

/** Bounds of one record, so that a call of any length has a record of bounded size. */
export const recordLimits = {
  turns: 2_000,
  transcript: 4_000,
  /** Of each list of what happened: faults, tools, keys and the like. */
  entries: 500,
  /** Characters of one line of the transcript. */
  textChars: 8_192,
} as const;

const ms = z.int().min(0);
const count = z.int().min(0);
const amount = z.number().min(0);
const textMap = z.record(z.string(), z.string());
const at = { at_ms: ms.meta({ description: 'Milliseconds since the call began.' }) };

export const usageStages = ['stt', 'llm', 'tts', 'realtime', 'telephone', 'analysis'] as const;
export type UsageStage = (typeof usageStages)[number];

export const usageUnits = [
  'seconds',
  'characters',
  'input_tokens',
  'cached_tokens',
  'reasoning_tokens',
  'output_tokens',
  'text_input_tokens',
  'text_cached_tokens',
  'text_output_tokens',
  'audio_input_tokens',
  'audio_cached_tokens',
  'audio_output_tokens',
] as const;
export type UsageUnit = (typeof usageUnits)[number];

const units = z.partialRecord(z.enum(usageUnits), amount);

/** How much of one provider a call used. */
const usageLineSchema = z.object({
  stage: z.enum(usageStages),
  provider: z.string().meta({ description: 'As the agent file names it; for `telephone` the transport.' }),
  model: z.string().exactOptional(),
  units,
});
export type UsageLine = z.output<typeof usageLineSchema>;

const usageSchema = z.object({
  by_stage: z.partialRecord(z.enum(usageStages), units).meta({
    description:
      'Sums. `input_tokens` holds `cached_tokens`; those of `realtime` hold what is told by modality.',
  }),
  by_provider: z.array(usageLineSchema),
});
export type CallUsage = z.output<typeof usageSchema>;

const costSchema = z
  .object({
    currency: z.string(),
    total: amount,
    by_stage: z.partialRecord(z.enum(usageStages), amount),
    unpriced: z
      .array(z.string())
      .meta({ description: 'What was used and has no price in the table: `tts tts_cloud_a characters`.' }),
    as_of: z.string().meta({ description: 'The date of the price table.' }),
  })
  .meta({ description: "By the operator's price table; absent without one. Never guessed." });
export type CallCost = z.output<typeof costSchema>;

const latencies = {
  end_of_turn_ms: ms.meta({ description: "From the caller's last voice to the end of the turn." }),
  stt_final_ms: ms.meta({ description: 'To the final text.' }),
  llm_ttft_ms: ms.meta({ description: "To the LLM's first text." }),
  tts_ttfb_ms: ms.meta({ description: 'To the first sound of TTS.' }),
  wire_ms: ms.meta({ description: 'To the first frame on the wire.' }),
  response_ms: ms.meta({
    description:
      "From the caller's last voice to the first frame on the wire: the sum of the five before it.",
  }),
};
export const latencyParts = Object.keys(latencies) as readonly (keyof typeof latencies)[];

const turnSchema = z.object({
  epoch: count.meta({ description: 'Counts turns of the call; some have no answer.' }),
  ...at,
  answered_ms: ms.exactOptional().meta({ description: "When the agent's first sound went out." }),
  interrupted: z.literal(true).exactOptional().meta({ description: 'The caller cut the answer.' }),
  filled: z.literal(true).exactOptional().meta({ description: 'The first sound was a filler.' }),
  silence_ms: ms.exactOptional().meta({
    description:
      'For how long nobody spoke, until the caller began the next turn. Turns add up to the call; absent: none, as in the four below.',
  }),
  backchannels: count.exactOptional(),
  false_starts: count.exactOptional(),
  faults: count.exactOptional(),
  failovers: count.exactOptional(),
  latency: z.object(latencies).exactOptional(),
});
export type RecordedTurn = z.output<typeof turnSchema>;

const lineSchema = z.object({
  role: z.enum(['caller', 'agent', 'operator']),
  text: z.string(),
  start_ms: ms,
  end_ms: ms,
  interrupted: z.literal(true).exactOptional(),
  incomplete: z
    .literal(true)
    .exactOptional()
    .meta({ description: 'Not all that the agent wrote was heard; the text is what was.' }),
});
export type RecordedLine = z.output<typeof lineSchema>;

const spreadSchema = z.object({
  p50: ms,
  p90: ms,
  p95: ms,
  p99: ms,
  min: ms,
  max: ms,
  num: count,
});
export type Spread = z.output<typeof spreadSchema>;

const list = <T extends z.ZodType>(schema: T, most: number = recordLimits.entries): z.ZodArray<T> =>
  z.array(schema).max(most);

export const toolOutcomes = ['ok', 'failed', 'abandoned'] as const;

const happenings = {
  faults: list(
    z.object({
      ...at,
      stage: z.enum(['stt', 'llm', 'tts', 'call']),
      what: z.string(),
      cause: z.string().exactOptional(),
    }),
  ),
  failovers: list(z.object({ ...at, stage: z.enum(['stt', 'llm', 'tts', 'realtime']), to: z.string() })),
  takeovers: list(
    z.object({ ...at, silent_ms: ms.meta({ description: 'For how long nobody had the call.' }) }),
  ).meta({ description: 'Another worker went on with the call.' }),
  recording_pauses: list(z.object({ ...at, until_ms: ms })).meta({
    description: 'When nothing that was said was recorded, neither sound nor words.',
  }),
  hand_overs: list(z.object({ ...at, agent: z.string() })).meta({
    description: 'Agents of the same tenant that the call had behind the first one, by name.',
  }),
  tools: list(
    z.object({
      ...at,
      id: z.string(),
      name: z.string(),
      duration_ms: ms,
      outcome: z.enum(toolOutcomes),
      detail: z.string().exactOptional(),
    }),
  ),
  transfers: list(
    z.object({
      ...at,
      mode: z.enum(['cold', 'warm']),
      destination: z
        .string()
        .exactOptional()
        .meta({ description: 'A name of the agent file; never a number.' }),
      outcome: z.enum(['ok', 'refused', 'unknown', 'pending']),
      code: z.string().exactOptional(),
    }),
  ),
  dtmf: list(z.object({ ...at, keys: count })).meta({
    description: 'Keys that the caller pressed, one entry for those in a row: how many, never which.',
  }),
  operators: list(
    z.object({
      ...at,
      until_ms: ms.exactOptional(),
      role: z.enum(['listen', 'whisper', 'take_over']),
      name: z.string().exactOptional(),
    }),
  ).meta({ description: 'Operators who listened, whispered or took over.' }),
};

const qualitySchema = z.object({
  packets: count,
  lost_percent: z.number().min(0).max(100),
  jitter_ms: amount,
  mos: z
    .number()
    .min(1)
    .max(4.5)
    .meta({ description: 'By the E-model (ITU-T G.107), of what the caller said as it arrived.' }),
});

const linksSchema = z.object({
  recording: z.string().exactOptional().meta({ description: 'Name of the folder of the recording.' }),
  transcript: z.string().exactOptional(),
  replay: z.string().exactOptional(),
  trace_id: z.string().exactOptional(),
});

const modes = ['cascade', 'realtime', 'mixed'] as const;

export const callRecordSchema = z.object({
  version: z.literal(CALL_RECORD_VERSION),
  id: z.string().meta({ description: "The service's own; no other record has it." }),
  call_id: z.string().meta({ description: 'As in the log; a client may choose it.' }),
  session_id: z.string().meta({ description: 'The `sid` of the token, or an id of the service.' }),
  agent: z.object({
    name: z.string().meta({
      description: 'With its tenant: `clinic/desk`. Of a call that was refused the one that it named.',
    }),
    version: z.string().exactOptional().meta({ description: 'As in the log.' }),
  }),
  instead_of: z.string().exactOptional().meta({
    description:
      'Agent that the call came to before `[[routing.split]]` or the server before calls gave it to this one.',
  }),
  tenant: z.string().exactOptional(),
  route: z.string().exactOptional().meta({ description: 'Route of the agent link.' }),
  direction: z.enum(['inbound', 'outbound']),
  transport: z.string().meta({
    description: '`websocket`, `webrtc`, `rtvi`, `sip`, `carrier_a` or `carrier_b`.',
  }),
  mode: z.enum(modes).meta({
    description:
      '`realtime`: a model heard and spoke by itself; `mixed`: it failed, and the three stages went on.',
  }),
  from: z.string().exactOptional().meta({ description: 'Absent where numbers are redacted.' }),
  to: z.string().exactOptional().meta({ description: 'As `from`.' }),
  carrier_call_id: z.string().exactOptional(),
  metadata: z.object({
    token: textMap.meta({ description: 'Signed: by your backend, the carrier or the service.' }),
    client: textMap.meta({ description: 'What the client said.' }),
  }),
  started_at: z.iso.datetime().meta({ description: 'When `start` came, or the service began to dial.' }),
  ended_at: z.iso.datetime(),
  duration_ms: ms,
  opened_ms: ms.exactOptional().meta({
    description: 'When the conversation began; absent: the call ended before.',
  }),
  end: z.object({ code: z.enum(callEndCodes), by: z.enum(endedBy), detail: z.string().exactOptional() }),
  turns: list(turnSchema, recordLimits.turns),
  transcript: list(lineSchema, recordLimits.transcript),
  latency: z.partialRecord(z.enum(latencyParts), spreadSchema),
  interruptions: z.object({ by_caller: count, false_starts: count }),
  backchannels: count,
  speech: z.object({ caller_ms: ms, agent_ms: ms }),
  silence: z.object({ total_ms: ms, longest_ms: ms }),
  ...happenings,
  usage: usageSchema,
  cost: costSchema.exactOptional(),
  links: linksSchema,
  quality: qualitySchema.exactOptional(),
  truncated: z
    .literal(true)
    .exactOptional()
    .meta({ description: 'More happened than a record holds, or the disk took not all of it.' }),
  analysis: z
    .record(z.string(), z.unknown())
    .exactOptional()
    .meta({ description: 'What was made of the call afterwards; absent: nothing yet.' }),
});
export type CallRecord = z.output<typeof callRecordSchema>;
export type RecordedAgent = CallRecord['agent'];
