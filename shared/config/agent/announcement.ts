/**
 * `[agent.announcement]` of the agent file: a recording for callers whose agent has lost its voice. The file is read with the
 * agent file and checked like a key, because the moment in which it is needed is too late to find out.
 */
import * as z from 'zod';
import type { ProblemList } from '../problem.ts';
import { aboutFile, readSound, type NamedFiles, type Sound, type SoundLimits } from './sound-file.ts';
import { shippedAnnouncement } from './texts.ts';

const limits: SoundLimits = {
  shortestS: 0.3,
  longestS: 20,
  // Room for the longest recording at the highest rate, and for what editors write beside it.
  mostBytes: 2_000_000,
  quietestPeak: 1_000,
};

export const announcementKeys = z.strictObject({
  file: z
    .string()
    .min(1)
    .max(1024)
    .exactOptional()
    .meta({
      sample: 'announcement.wav',
      description: aboutFile(limits),
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
  readonly recording?: Sound;
}

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
  const recording = readSound(file, limits, site.options);
  if (typeof recording === 'string') problems.error([...at, 'file'], recording);
  return typeof recording === 'string' || text === undefined ? undefined : { text, recording };
}
