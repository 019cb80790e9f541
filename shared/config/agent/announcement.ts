/**
 * `[agent.announcement]` of the agent file: a recording for callers whose agent has lost its voice. The file is read with the
 * agent file and checked like a key, because the moment in which it is needed is too late to find out.
 */
import * as z from 'zod';
import { SAMPLE_RATES } from '../../audio/resampler.ts';
import { parseWav, WavError, type Wav } from '../../audio/wav.ts';
import type { ProblemList } from '../problem.ts';
import { shippedAnnouncement } from './texts.ts';

/** Longest and shortest recording, in seconds. */
const longestS = 20;
const shortestS = 0.3;
/** Room for the longest recording at the highest rate, and for what editors write beside it. */
const mostBytes = 2_000_000;
/** Peak of a recording that can be heard, of 32,768. */
const quietestPeak = 1_000;

export const announcementKeys = z.strictObject({
  file: z
    .string()
    .min(1)
    .max(1024)
    .exactOptional()
    .meta({
      sample: 'announcement.wav',
      description: `WAV file relative to this file, ${shortestS} to ${longestS} s at 8000 to 48000 Hz: PCM of 16 bits, 32-bit float or mu-law, mono or stereo.`,
    }),
  text: z.string().min(1).max(1000).exactOptional().meta({
    sample: 'Sorry, I have lost my voice. Please wait, or call again later.',
    description: 'What the recording says, word for word: so the conversation knows what the caller heard.',
  }),
});

/** What callers hear when TTS cannot be heard and no line was made ahead of time. */
export interface AnnouncementDefinition {
  /** What it says; empty for the signal without words. */
  readonly text: string;
  /** Absent: the recording that ships for the language, or the signal. */
  readonly recording?: Pick<Wav, 'pcm' | 'sampleRate'>;
}

/** Reads the first bytes of a file named in the agent file, at most `most` and one more; `undefined` when it cannot be read. */
export type ReadBytes = (path: string, most: number) => Uint8Array | undefined;

/** How the files that an agent file names are read; paths begin in its folder. */
export interface NamedFiles {
  readonly readBytes: ReadBytes;
  /** Why a file cannot be read, as a clause. */
  readonly whyUnreadable?: (path: string) => string;
}

/** The rule that such a file breaks. */
export const unreadableFile = (file: string, { whyUnreadable }: Pick<NamedFiles, 'whyUnreadable'>): string =>
  `names a file that cannot be read: ${whyUnreadable?.(file) ?? 'it is not there'} (a path begins in the folder of the agent file)`;

/** The announcement of the agent; undefined when the file is faulty, which `problems` says. */
export function readAnnouncement(
  { file, text }: z.output<typeof announcementKeys>,
  site: { readonly language: string; readonly options: NamedFiles; readonly problems: ProblemList },
): AnnouncementDefinition | undefined {
  const { problems } = site;
  const at = ['agent', 'announcement'];
  if (file === undefined && text === undefined) return { text: shippedAnnouncement(site.language) };
  if (text === undefined) problems.missing([...at, 'text'], 'is required beside agent.announcement.file');
  if (file === undefined) {
    problems.missing([...at, 'file'], 'is required beside agent.announcement.text');
    return undefined;
  }
  const bytes = site.options.readBytes(file, mostBytes);
  const recording = bytes === undefined ? unreadableFile(file, site.options) : readRecording(bytes);
  if (typeof recording === 'string') problems.error([...at, 'file'], recording);
  return typeof recording === 'string' || text === undefined ? undefined : { text, recording };
}

/** The recording, or the rule that it breaks. */
function readRecording(bytes: Uint8Array): Pick<Wav, 'pcm' | 'sampleRate'> | string {
  if (bytes.length > mostBytes) return `names a file of more than ${mostBytes} bytes`;
  let wav: Wav;
  try {
    wav = parseWav(bytes);
  } catch (error) {
    if (error instanceof WavError)
      return `names a file that is not the WAV file it should be: ${error.message}`;
    throw error;
  }
  const { pcm, sampleRate } = wav;
  if (!SAMPLE_RATES.includes(sampleRate))
    return `names a recording whose sample rate is not one of ${SAMPLE_RATES.join(', ')} Hz`;
  if (pcm.length < shortestS * sampleRate) return `names a recording of less than ${shortestS} s`;
  if (pcm.length > longestS * sampleRate) return `names a recording of more than ${longestS} s`;
  if (!pcm.some((sample) => Math.abs(sample) >= quietestPeak))
    return 'names a recording that is silent or too quiet to be heard';
  return { pcm, sampleRate };
}
