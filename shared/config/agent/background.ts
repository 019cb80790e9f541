/** `[audio]` of the agent file: what callers hear behind the agent's voice, and while they wait for it; and what is done about the noise behind theirs. */
import * as z from 'zod';
import { present } from '../../base/present.ts';
import { noiseModes, type NoiseMode } from '../../protocol/noise-mode.ts';
import type { ProblemList } from '../problem.ts';
import { readTable } from '../table.ts';
import { aboutFile, readSound, type NamedFiles, type Sound, type SoundLimits } from './sound-file.ts';

const limits: SoundLimits = { shortestS: 1, longestS: 60, mostBytes: 6_000_000, quietestPeak: 100 };

const soundNames = ['office', 'street', 'keyboard'] as const;
/** Sounds that the service makes itself. */
export type SoundName = (typeof soundNames)[number];

const source = {
  sound: z.enum(soundNames).exactOptional().meta({
    sample: 'office',
    description:
      'A sound that the service has: voices and machines of an office, traffic of a street, or somebody who types. Exactly one of sound and file.',
  }),
  file: z
    .string()
    .min(1)
    .max(1024)
    .exactOptional()
    .meta({
      sample: 'lobby.wav',
      description: `A sound of your own, repeated without a seam: ${aboutFile(limits)} At most 6 MB.`,
    }),
  volume: z.number().min(0).max(1).default(0.2).meta({
    description:
      "Factor on the samples of the sound. Sounds of the service at 1 are about as loud as the agent's voice, at 0.2 they are 14 dB softer; a file at 1 is as loud as it was recorded. 0: off.",
  }),
};

export const backgroundKeys = z.strictObject({
  ...source,
  when: z.enum(['always', 'thinking']).default('always').meta({
    description:
      'always: for the whole call, behind the voice and in its pauses; thinking: only while the caller has waited for the agent for a second and hears nothing.',
  }),
});

export const thinkingKeys = z.strictObject(source);

const [leastLufs, mostLufs] = [-30, -14];

/** Its tables have no defaults of their own: a table that is absent is off. */
export const audioKeys = z.strictObject({
  noise: z.enum(noiseModes).default('off').meta({
    description:
      "Whether noise behind the caller is taken out before voice activity detection hears it: auto: in calls that are noisy; on: in every call; off: never. STT hears the caller's sound as it came.",
  }),
  background: backgroundKeys.exactOptional().meta({ description: "A sound behind the agent's voice." }),
  thinking: thinkingKeys
    .exactOptional()
    .meta({ description: 'A sound while the caller waits for the agent, beside or without a background.' }),
  level: z.number().min(leastLufs).max(mostLufs).exactOptional().meta({
    sample: -20,
    description:
      'Loudness that all voices of a call and its announcements are brought to, by at most 9 dB, and sounds behind them before their volume counts. Absent: they are heard as they come.',
    unit: 'LUFS',
  }),
});

/** A sound of calls. */
export interface BackgroundDefinition {
  readonly source: SoundName | Sound;
  readonly volume: number;
  readonly when: 'always' | 'thinking';
}

interface Site {
  readonly options: NamedFiles;
  readonly problems: ProblemList;
}

/** What callers hear beside the agent's words, and how loud, and what is done about the noise behind them. */
export interface AudioDefinition {
  /** Absent: off. */
  readonly noise?: NoiseMode;
  /** At least one; absent: none. */
  readonly background?: readonly BackgroundDefinition[];
  /** In LUFS; absent: what is heard is as loud as it comes. */
  readonly level?: number;
}

/** Nothing where the agent says nothing of it; undefined when something is faulty, which `problems` says. */
export function readAudio(raw: unknown, site: Site): AudioDefinition | undefined {
  if (raw === undefined) return {};
  const { value, known } = readTable(audioKeys, raw, { at: ['audio'], problems: site.problems });
  const { background, thinking } = known;
  const sounds = [
    ...(background === undefined ? [] : [definitionOf('background', background, site)]),
    ...(thinking === undefined ? [] : [definitionOf('thinking', { ...thinking, when: 'thinking' }, site)]),
  ];
  const good = sounds.filter((sound) => sound !== undefined);
  if (value === undefined || good.length < sounds.length) return undefined;
  const heard = good.filter(({ volume }) => volume > 0);
  return {
    ...(heard.length > 0 && { background: heard }),
    ...(value.noise !== 'off' && { noise: value.noise }),
    ...present({ level: value.level }),
  };
}

function definitionOf(
  name: 'background' | 'thinking',
  { sound, file, volume, when }: z.output<typeof backgroundKeys>,
  { options, problems }: Site,
): BackgroundDefinition | undefined {
  const at = ['audio', name];
  if (file === undefined) {
    if (sound === undefined) problems.missing([...at, 'sound'], `or audio.${name}.file is required`);
    return sound === undefined ? undefined : { source: sound, volume, when };
  }
  if (sound !== undefined)
    problems.keyError([...at, 'file'], `and audio.${name}.sound exclude each other; keep one of them`);
  const source = readSound(file, limits, options);
  if (typeof source === 'string') problems.error([...at, 'file'], source);
  return typeof source === 'string' ? undefined : { source, volume, when };
}
