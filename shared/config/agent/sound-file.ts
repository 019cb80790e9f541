/** Sound files that the agent file names: read with it and checked like a key. */
import { SAMPLE_RATES } from '../../base/units.ts';
import { parseWav, WavError, type Wav } from '../../audio/wav.ts';

export type Sound = Pick<Wav, 'pcm' | 'sampleRate'>;

export interface SoundLimits {
  /** Of the shortest and the longest sound, in seconds. */
  readonly shortestS: number;
  readonly longestS: number;
  readonly mostBytes: number;
  /** Peak of a sound that can be heard, of 32,768. */
  readonly quietestPeak: number;
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

/** What a key that names such a file is described by. */
export const aboutFile = ({ shortestS, longestS }: SoundLimits): string =>
  `WAV file relative to this file, ${shortestS} to ${longestS} s at 8000 to 48000 Hz: PCM of 16 bits, 32-bit float or mu-law, mono or stereo.`;

/** The sound in a file, or the rule that the file breaks. */
export function readSound(file: string, limits: SoundLimits, options: NamedFiles): Sound | string {
  const { shortestS, longestS, mostBytes, quietestPeak } = limits;
  const bytes = options.readBytes(file, mostBytes);
  if (bytes === undefined) return unreadableFile(file, options);
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
