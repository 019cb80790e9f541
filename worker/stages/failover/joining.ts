/**
 * Joins two voices within a phrase: the second says again what the first said since the last sure place, nobody hears it,
 * and where both are at the same word the second goes on aloud.
 *
 * Invariant: what the second voice says is kept in order, and as much of it as finding the place needs. Pure; milliseconds
 * of `said` and of the second voice count from their first samples.
 */
import type { SaidEvent } from './held-speech.ts';
import { KeptSpeech } from './kept-speech.ts';
import { frameAt, matchWords } from './same-words.ts';
import type { Matched } from './same-words.ts';
import { frameMs, soundOf } from './speech-sound.ts';
import type { SpeechSound } from './speech-sound.ts';

/** Behind what was heard, so much of the first voice helps to find the place. */
const aheadMs = 600;
/** How far behind what was heard the place may lie: as quiet a moment as there is. */
const choiceMs = 400;
/** The last matches of a stretch are less sure than those before. */
const unsureMs = 80;
/** The second voice is waited for until it has said this much beyond the place, to be sure that it is not further on. */
const beyondShare = 0.1;
const beyondMs = 250;
const moreMs = 400;
/** More of the second voice than this is not looked at. */
const slowestShare = 2;

/** Times of the context's audio, from where both voices begin, and of the second voice's. */
export interface JoiningPlace {
  readonly cutMs: number;
  readonly skipMs: number;
}

export interface JoiningOptions {
  readonly context: number;
  readonly sampleRate: number;
  /** What the first voice said from the sure place on. */
  readonly said: KeptSpeech;
}

export class Joining {
  readonly context: number;
  private readonly sampleRate: number;
  private readonly said: KeptSpeech;
  private readonly again: KeptSpeech;
  private readonly events: SaidEvent[] = [];
  /** A whole piece of the second voice is there. */
  private isWhole = false;
  private neededMs = 0;

  constructor({ context, sampleRate, said }: JoiningOptions) {
    this.context = context;
    this.sampleRate = sampleRate;
    this.said = said;
    this.again = new KeptSpeech(sampleRate);
  }

  /** Takes what the second voice says. */
  add(event: SaidEvent): void {
    if (event.type !== 'audio') {
      this.events.push(event);
      this.isWhole ||= event.type !== 'word';
      return;
    }
    // Who said it may use the samples for something else when this returns.
    this.events.push({ ...event, pcm: event.pcm.slice() });
    this.again.push(event.pcm);
  }

  /** Where to go over from one to the other, once it can be told; `heardMs` of the first cannot be taken back. */
  place(heardMs: number): JoiningPlace | undefined {
    const { said, again } = this;
    const endMs = Math.min(said.lengthMs, heardMs + aheadMs);
    const isAll = this.isWhole || !again.isWhole;
    const surplusMs = endMs * beyondShare + beyondMs;
    if (!isAll && again.lengthMs < Math.max(this.neededMs, endMs + surplusMs)) return undefined;
    const first = soundOf(said.until(endMs), said.rate);
    const second = soundOf(again.until(endMs * slowestShare + 2 * surplusMs), again.rate);
    const matched = matchWords(first, second);
    if (matched === undefined || isSilent(first, heardMs)) return { cutMs: heardMs, skipMs: 0 };
    const last = matched.at(-1) ?? 0;
    if (!isAll && (second.count - last) * frameMs < surplusMs) {
      this.neededMs = again.lengthMs + moreMs;
      return undefined;
    }
    return quietest(matched, { first, second, heardMs });
  }

  /** What the second voice said behind the place. */
  rest(skipMs: number): SaidEvent[] {
    let skip = Math.round((skipMs * this.sampleRate) / 1000);
    return this.events.flatMap((event): SaidEvent[] => {
      if (event.type === 'word') return event.startMs < skipMs ? [] : [event];
      if (event.type !== 'audio') return [event];
      const pcm = event.pcm.subarray(skip);
      skip = Math.max(0, skip - event.pcm.length);
      return pcm.length === 0 ? [] : [{ ...event, pcm }];
    });
  }
}

function isSilent(first: SpeechSound, heardMs: number): boolean {
  return first.quiet.subarray(0, frameAt(first, heardMs) + 1).every((isQuiet) => isQuiet === 1);
}

/** The quietest moment that can still be chosen: there the change is heard least. */
function quietest(
  matched: Matched,
  sounds: { readonly first: SpeechSound; readonly second: SpeechSound; readonly heardMs: number },
): JoiningPlace {
  const { first, second, heardMs } = sounds;
  const from = frameAt(first, heardMs);
  const surely = matched.length - 1 - Math.round(unsureMs / frameMs);
  const to = Math.max(from, Math.min(surely, from + Math.round(choiceMs / frameMs)));
  const loudnessAt = (at: number): number =>
    (first.loudness[at] ?? 0) + (second.loudness[matched[at] ?? 0] ?? 0);
  let best = from;
  for (let at = from + 1; at <= to; at += 1) if (loudnessAt(at) < loudnessAt(best)) best = at;
  const bestMs = best * frameMs + first.centreMs;
  const cutMs = Math.max(heardMs, bestMs);
  const skipMs = (matched[best] ?? 0) * frameMs + second.centreMs + cutMs - bestMs;
  return { cutMs, skipMs: Math.max(0, skipMs) };
}
