/**
 * What the callback listener is asked and answers, as schemas: they check requests, and its OpenAPI document is made of them. No message
 * holds a value of a request.
 */
import * as z from 'zod';
import { withoutNulls } from '../base/present.ts';
import { fail, ok, type Result } from '../base/result.ts';
import { mostOverrides } from '../agents/overrides.ts';
import { isTable } from '../config/table.ts';
import { callFieldLimits, utf8Bytes } from '../protocol/call.ts';
import { carrierNames } from './call-control.ts';

const mostMetadata = 16;
const mostValueBytes = callFieldLimits.metadataValueBytes;

export const machineDetections = ['off', 'carrier', 'own'] as const;
export type MachineDetection = (typeof machineDetections)[number];

/** A call that is to be made. */
export const outboundRequest = z.strictObject({
  to: z
    .string('must be a text')
    .regex(/^\+[0-9]{8,15}$/, 'must be an E.164 number: + and 8 to 15 digits')
    .meta({ description: 'Who is called.', example: '+15550100077' }),
  carrier: z
    .enum(carrierNames, `must be one of ${carrierNames.join(', ')}`)
    .exactOptional()
    .meta({ description: 'By which carrier; needed where calls can be made by more than one.' }),
  route: z
    .string('must be a text')
    .regex(/^[A-Za-z0-9_-]{1,32}$/, 'must be 1 to 32 letters, digits, _ or -')
    .exactOptional()
    .meta({ description: 'Route of the agent link for this call.' }),
  agent: z
    .string('must be a text')
    .regex(
      /^[A-Za-z0-9_-]{1,64}(\/[A-Za-z0-9_-]{1,64})?$/,
      'must be the name of an agent, with its tenant and / before it where it has one',
    )
    .exactOptional()
    .meta({
      description:
        'Agent of this call in a service of many (SVC_AGENTS_DIR); absent: that of SVC_AGENT_FILE.',
    }),
  voicemail: z
    .string('must be a text')
    .min(1, 'must not be empty')
    .regex(/\S/, 'must not be empty')
    .max(1000, 'must have at most 1000 characters')
    .exactOptional()
    .meta({
      description:
        "Said to an answering machine after its beep, in a voice of the carrier, or the agent's where the service listens itself. Absent: the call ends.",
    }),
  machine_detection: z
    .enum(machineDetections, `must be one of ${machineDetections.join(', ')}`)
    .exactOptional()
    .meta({
      description:
        'Who finds out whether a person or a machine has answered: nobody, the carrier, or the service by listening. Absent: the carrier, and nobody by sip.',
    }),
  language: z
    .string('must be a text')
    .regex(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$/, 'must be a language tag such as en-US')
    .default('en-US')
    .meta({ description: 'Language of that message.' }),
  ring_s: z
    .int('must be an integer from 5 to 120')
    .min(5, 'must be an integer from 5 to 120')
    .max(120, 'must be an integer from 5 to 120')
    .default(30)
    .meta({ description: 'How long it rings, in seconds.' }),
  metadata: z
    .record(
      z.string().regex(/^[A-Za-z0-9_.-]{1,64}$/),
      z
        .string('must be a text')
        .refine((text) => utf8Bytes(text) <= mostValueBytes, `must have at most ${mostValueBytes} bytes`),
      'must be an object of texts, with names of 1 to 64 letters, digits, _, . or -',
    )
    .refine((given) => Object.keys(given).length <= mostMetadata, `must have at most ${mostMetadata} entries`)
    .default({})
    .meta({ description: 'Becomes metadata of the call: {{metadata.NAME}} in texts of the agent file.' }),
  overrides: z
    .record(z.string().min(1).max(100), z.unknown(), 'must be an object')
    .refine(
      (given) => Object.keys(given).length <= mostOverrides,
      `must have at most ${mostOverrides} entries`,
    )
    .exactOptional()
    .meta({
      description:
        'What the call has otherwise than the agent file says, by the paths of its keys, as far as its [overrides] allows.',
    }),
});
export type OutboundRequest = z.infer<typeof outboundRequest>;

export const outboundPhases = [
  ...['dialing', 'ringing', 'listening', 'person', 'machine', 'message', 'over'],
] as const;
export const outboundEnds = [
  ...['talked', 'message_left', 'voicemail', 'busy', 'no_answer', 'canceled', 'failed', 'refused', 'unknown'],
] as const;

export const outboundView = z.object({
  id: z.string().meta({ description: 'Names the call at this listener.' }),
  carrier: z.enum(carrierNames),
  phase: z.enum(outboundPhases).meta({
    description:
      '`listening`: the service finds out who has answered; `person`: the agent talks; `machine`: its greeting is waited for; `message`: the message is said.',
  }),
  end: z
    .string()
    .exactOptional()
    .meta({ description: `Once it is over: ${outboundEnds.join(', ')}.` }),
  call: z.string().exactOptional().meta({ description: "The carrier's id of the call." }),
});
export type OutboundView = z.infer<typeof outboundView>;

export const transferView = z.object({
  handle: z.string().meta({ description: 'Names the transfer at this listener.' }),
  call: z.string().meta({ description: "The carrier's id of the caller's call." }),
  carrier: z.enum(carrierNames),
  phase: z.string().meta({
    description: '`answered`: a person is on the line; `parked` and `unsure`: a step had an unknown outcome.',
  }),
  summary: z
    .string()
    .meta({ description: 'What the destination should know; it hears it before it is joined.' }),
  destination: z
    .string()
    .exactOptional()
    .meta({ description: 'Its name in the agent file; absent: the agent gave a number.' }),
});
export type TransferView = z.infer<typeof transferView>;

export const callbackError = z.object({
  code: z.string().meta({ description: 'For programs.' }),
  message: z.string().meta({ description: 'For people.' }),
});

/** A request to make a call, or the field that is wrong and its rule. */
export function readOutboundRequest(body: string): Result<OutboundRequest, string> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return fail('the body must be JSON');
  }
  const read = outboundRequest.safeParse(isTable(parsed) ? withoutNulls(parsed) : parsed);
  if (read.success) return ok(read.data);
  const [issue] = read.error.issues;
  const [field] = issue?.path ?? [];
  if (field === undefined || issue === undefined) {
    const isStrange = issue?.code === 'unrecognized_keys';
    return fail(isStrange ? 'the body has a field that is not known' : 'the body must be a JSON object');
  }
  return fail(
    `${String(field)}: ${issue.code === 'invalid_key' ? 'has a name that it may not have' : issue.message}`,
  );
}
