/**
 * `[recording]` of the agent file: what is kept of calls, for how long, and what is taken out of it. Where it is kept is a matter of the
 * machine (SVC_RECORDING_DIR). Without the section nothing is kept, and nothing of it costs anything.
 */
import * as z from 'zod';
import { ruleBrokenBy } from '../calls/privacy/agent-file.ts';
import { checkVariables } from '../config/agent/call-variables.ts';
import type { ProblemList } from '../config/problem.ts';
import { readTable } from '../config/table.ts';

const longestPattern = 200;

export const recordingKeys = z.strictObject({
  audio: z
    .boolean()
    .default(false)
    .meta({
      description: 'Whether the sound of calls is kept: one stereo file, caller left, what was played right.',
      examples: [true],
    }),
  audio_format: z.enum(['wav', 'opus']).default('wav').meta({
    description:
      'wav: PCM16, 64 KB a second at 16 kHz. opus: Opus in Ogg, about 3 KB a second, for 0.6 % of a core per call.',
  }),
  transcript: z
    .boolean()
    .default(false)
    .meta({
      description: 'Whether texts, times of turns and tool calls are kept, as lines of JSON.',
      examples: [true],
    }),
  facts: z.boolean().default(false).meta({
    description:
      'Whether everything is kept that a call was told and decided, unredacted: svc-supervisor replay runs it again.',
  }),
  consent: z.string().min(1).max(1000).exactOptional().meta({
    sample: 'This call is recorded.',
    description: 'Spoken before the greeting; absent: callers are told nothing.',
  }),
  redact_dtmf: z.boolean().default(true).meta({
    description: 'Whether digits that the caller pressed are taken out of transcripts.',
  }),
  redact: z
    .array(z.string().min(1).max(longestPattern))
    .max(32)
    .default([])
    .meta({
      sample: ['([0-9][ -]?){12,18}[0-9]'],
      description:
        'Regular expressions without look-around and back-references, in which case matters; what they match in texts and tool calls becomes [redacted], and all behind 256 matches of one text. Sound is not changed. Not with facts.',
    }),
  keep_days: z.int().min(1).max(36_500).exactOptional().meta({
    sample: 30,
    description:
      'Recordings on this machine are deleted after so many days; absent: only when room is needed.',
  }),
});

export type AudioFormat = z.infer<typeof recordingKeys>['audio_format'];

export interface RecordingDefinition {
  readonly audio: boolean;
  readonly audioFormat: AudioFormat;
  readonly transcript: boolean;
  readonly facts: boolean;
  /** Empty: none. */
  readonly consent: string;
  readonly redactDtmf: boolean;
  /** Sources of regular expressions that compile. */
  readonly redact: readonly string[];
  readonly keepDays?: number;
}

/** Whether recordings can be paused: facts leave nothing out. */
export const canPause = (
  recording: Pick<RecordingDefinition, 'audio' | 'transcript' | 'facts'> | undefined,
): boolean => recording !== undefined && (recording.audio || recording.transcript) && !recording.facts;

/** What becomes of a recording when its call is over. */
export type RecordingPolicy = Pick<RecordingDefinition, 'keepDays' | 'audioFormat'>;

/** Reads `[recording]`; undefined without the section, and for one that keeps nothing. */
export function readRecording(raw: unknown, problems: ProblemList): RecordingDefinition | undefined {
  if (raw === undefined) return undefined;
  const at = ['recording'];
  const { value, known } = readTable(recordingKeys, raw, { at, problems });
  checkVariables(known.consent ?? '', [...at, 'consent'], problems);
  known.redact?.forEach((pattern, index) => {
    const rule = ruleBrokenBy(pattern);
    if (rule !== undefined) problems.error([...at, 'redact', index], rule);
  });
  if (value === undefined) return undefined;
  const { audio, audio_format: audioFormat, transcript, facts, consent, redact, keep_days: keepDays } = value;
  if (facts && redact.length > 0)
    problems.error([...at, 'facts'], 'and recording.redact exclude each other: facts are kept word for word');
  if (!audio && !transcript && !facts) {
    problems.warning(at, 'keeps nothing: set audio, transcript or facts');
    return undefined;
  }
  return {
    audio,
    audioFormat,
    transcript,
    facts,
    redact,
    redactDtmf: value.redact_dtmf,
    consent: consent ?? '',
    ...(keepDays !== undefined && { keepDays }),
  };
}
