/**
 * What loudness says about an echo: the last second and a half of what was heard beside what was sent. Where the agent was loud, its echo was
 * as well, so a microphone that was quiet under the agent's voice does not bring it back, and a voice that speaks into it is a caller's.
 * Loudness alone never makes an echo: all voices rise and fall, and a caller may speak beside one.
 */
import type { SoundLevels } from './levels.ts';
import { echoThresholds as limits } from './thresholds.ts';

/** Levels that are compared as one, 32 ms, and how many of those. */
const stretch = 4;
const stretches = 47;
/** The loudness of an echo is taken from so many of the newest. */
const telling = 8;
/** Shifts are tried in steps of two levels. */
const shiftStep = 2;

/** Share of an echo's energy that is left after 32 ms: from none to that of a room that needs a second to fall silent. */
const decays = [0, 0.15, 0.3, 0.45, 0.6] as const;
const typicalDecay = 0.45;
/** How loud it is now is taken from so many stretches, and compared with the others, if they are enough. */
const newest = 3;
const fewestOthers = 10;

const expected = new Float64Array(stretches);

export interface EchoHistory {
  readonly heard: SoundLevels;
  readonly played: SoundLevels;
  /** The end of what was heard, in whole levels. */
  readonly end: number;
}

/** Whether what was heard last may be what was played `shift` levels further on its own line. */
export function mayBeEcho({ heard, played, end }: EchoHistory, shift: number): boolean {
  const newestFrom = end - telling * stretch;
  const gain =
    heard.mean(newestFrom, telling * stretch) / (played.mean(newestFrom + shift, telling * stretch) + 1);
  let loud = 0;
  let missing = 0;
  for (let i = 0; i < stretches; i += 1) {
    const from = end - (i + 1) * stretch;
    const due = gain * played.mean(from + shift, stretch);
    if (due < limits.audible) continue;
    loud += 1;
    if (heard.mean(from, stretch) < limits.presentShare * due) missing += 1;
    if (missing > limits.mostMissing * stretches) return false;
  }
  return missing < limits.fewMissing || missing <= limits.mostMissing * loud;
}

/** Whether that is so for any shift from one to another. */
export function mayBeAnyEcho(history: EchoHistory, from: number, to: number): boolean {
  for (let shift = from; shift <= to; shift += shiftStep) if (mayBeEcho(history, shift)) return true;
  return false;
}

/** How what was heard follows an echo in a room that echoes as this one seems to. */
export interface Following {
  /** Standard deviation, in dB; 0 where too little was heard to tell. */
  readonly spreadDb: number;
  /** How much louder what is heard now is than before; infinite where too little was heard to tell. */
  readonly excessDb: number;
}

/** The share of what was heard, by energy, when nothing was played that could have come back `shift` levels further. */
export function strayShare(history: EchoHistory, shift: number): number {
  const least = limits.leastOfLoudest * expectInRoom(history, shift, typicalDecay);
  const { heard, end } = history;
  let stray = 0;
  let sum = 0;
  for (let i = 0; i < stretches; i += 1) {
    const energy = heard.mean(end - (i + 1) * stretch, stretch);
    sum += energy;
    if ((expected[i] ?? 0) <= least) stray += energy;
  }
  return stray / (sum + 1);
}

/** What was heard beside what it would be if it were what was played `shift` levels further. */
export function following(history: EchoHistory, shift: number): Following {
  let [spreadDb, excessDb] = [Infinity, Infinity];
  for (const decay of decays) {
    const least = limits.leastOfLoudest * expectInRoom(history, shift, decay);
    const others = compare(history, { from: newest, least });
    if (others.count < fewestOthers) return { spreadDb: 0, excessDb: Infinity };
    if (others.spreadDb >= spreadDb) continue;
    spreadDb = others.spreadDb;
    excessDb = Math.max(overDb(history, newest), overDb(history, telling)) - others.meanDb;
  }
  return { spreadDb, excessDb };
}

/** Fills in how loud an echo would be, but for its gain, and gives its loudest. */
function expectInRoom({ played, end }: EchoHistory, shift: number, decay: number): number {
  let energy = 0;
  let loudest = 0;
  for (let i = stretches - 1; i >= 0; i -= 1) {
    energy = energy * decay + played.mean(end - (i + 1) * stretch + shift, stretch);
    expected[i] = energy;
    loudest = Math.max(loudest, energy);
  }
  return loudest;
}

const ratioDb = (energy: number, other: number): number => 10 * Math.log10((energy + 1) / (other + 1));

/** What was heard over what was expected, where at least something was. */
function compare(
  { heard, end }: EchoHistory,
  { from, least }: { from: number; least: number },
): { count: number; meanDb: number; spreadDb: number } {
  let count = 0;
  let sum = 0;
  let squares = 0;
  for (let i = from; i < stretches; i += 1) {
    const due = expected[i] ?? 0;
    if (due < least) continue;
    const db = ratioDb(heard.mean(end - (i + 1) * stretch, stretch), due);
    count += 1;
    sum += db;
    squares += db * db;
  }
  const meanDb = sum / Math.max(1, count);
  return { count, meanDb, spreadDb: Math.sqrt(Math.max(0, squares / Math.max(1, count) - meanDb ** 2)) };
}

/** The same for the newest together. */
function overDb({ heard, end }: EchoHistory, count: number): number {
  let due = 0;
  for (let i = 0; i < count; i += 1) due += expected[i] ?? 0;
  return ratioDb(heard.mean(end - count * stretch, count * stretch) * count, due);
}
