/**
 * Who has answered a call that the service made, by cadence: a person says a word or two and waits, a machine talks on. And the beep of a
 * machine: one steady tone, and silence behind it. Pure; times are times of audio.
 *
 * Invariant: there is one verdict, within `longestVerdictMs` of audio; behind `machine` there is one word more, that its message may begin
 * or that nobody takes one.
 */
import type { Millis } from '../../../shared/base/units.ts';

/** Voice and pauses of a person who answers take no longer (Asterisk's AMD: 1,500, Twilio: 2,400; measured in between). */
const longestHelloMs: Millis = 1_900;
/** Silence in which a person waits for an answer (Asterisk's AMD: 800, Twilio: 1,200). */
const waitsMs: Millis = 800;
/** A person who says nothing for so long waits for the other side to begin (Asterisk's AMD: 2,500). */
export const longestQuietMs: Millis = 2_500;
/** Less voice than that is a click (Asterisk's AMD: a word has 100 ms). */
const leastVoiceMs: Millis = 100;
/** Of a greeting at least so much is voice; of what crackles on the line, less. */
const leastVoiceShare = 0.5;
/** When there is a verdict, whatever is heard. */
export const longestVerdictMs: Millis = longestQuietMs + longestHelloMs + waitsMs;

/** A tone is a beep from this length on, and no longer one beyond the other. */
const shortestBeepMs: Millis = 96;
const longestBeepMs: Millis = 4_000;
/** A beep keeps its frequency; the tones of a voice glide. */
const steadyHz = 15;
/** What follows a beep, before it is taken for one. */
const afterBeepMs: Millis = 160;
/** A fax that answers says so with this tone (ITU-T T.30, CED: 2,100 Hz, 15 up or down). */
const faxHz = 2_100;
const faxWidthHz = 15;
const surelyFaxMs: Millis = 500;
/** A machine whose beep was not heard has nothing more to say (Twilio calls that `machine_end_silence`). */
export const beeplessMs: Millis = 4_000;
/** A greeting that lasts longer is none: music, or a menu. */
export const longestGreetingMs: Millis = 60_000;

export interface AnswerFrame {
  readonly ms: Millis;
  readonly isVoice: boolean;
  /** Frequency of the one tone that it consists of. */
  readonly toneHz: number | undefined;
}

/**
 * `beep`, `silence`: the machine listens now, because it beeped, or because it has long said nothing. `deaf`: it takes no message, for it is
 * a fax, or never ends.
 */
export type AnswerEvent = 'human' | 'machine' | 'unknown' | 'beep' | 'silence' | 'deaf';

export interface Answer {
  phase: 'who' | 'machine' | 'over';
  heardMs: Millis;
  /** When the voice that is heard began and was last heard; how much of it there was. */
  voice: { readonly from: Millis; to: Millis; ms: Millis } | undefined;
  tone: { hz: number; ms: Millis; isOver: boolean; quietMs: Millis } | undefined;
  /** When anything was last heard. */
  soundAt: Millis;
}

/** `isMachine`: it is known to be one, and its beep is waited for. */
export const newAnswer = ({ isMachine = false } = {}): Answer => ({
  phase: isMachine ? 'machine' : 'who',
  heardMs: 0,
  voice: undefined,
  tone: undefined,
  soundAt: 0,
});

/** Takes the next frame; tells what is known by it. */
export function hearAnswer(answer: Answer, frame: AnswerFrame): readonly AnswerEvent[] {
  if (answer.phase === 'over') return [];
  answer.heardMs += frame.ms;
  if (frame.isVoice || frame.toneHz !== undefined) answer.soundAt = answer.heardMs;
  const sign = hearBeep(answer, frame);
  if (sign !== undefined) {
    const events: readonly AnswerEvent[] = answer.phase === 'who' ? ['machine', sign] : [sign];
    answer.phase = 'over';
    return events;
  }
  const event = answer.phase === 'who' ? judge(answer, frame) : judgeGreeting(answer);
  if (event === undefined) return [];
  answer.phase = event === 'machine' ? 'machine' : 'over';
  return [event];
}

function judge(answer: Answer, { ms, isVoice }: AnswerFrame): AnswerEvent | undefined {
  const { heardMs } = answer;
  if (isVoice) {
    answer.voice ??= { from: heardMs - ms, to: heardMs, ms: 0 };
    answer.voice.to = heardMs;
    answer.voice.ms += ms;
  }
  const { voice } = answer;
  if (voice !== undefined) {
    const lastedMs = voice.to - voice.from;
    if (lastedMs > longestHelloMs) return voice.ms >= lastedMs * leastVoiceShare ? 'machine' : 'unknown';
    if (heardMs - voice.to < waitsMs) return heardMs >= longestVerdictMs ? 'unknown' : undefined;
    if (voice.ms >= leastVoiceMs) return 'human';
    answer.voice = undefined;
  }
  const beeps = answer.tone?.isOver === false && heardMs < longestVerdictMs;
  return heardMs >= longestQuietMs && !beeps ? 'unknown' : undefined;
}

function judgeGreeting({ heardMs, soundAt }: Answer): AnswerEvent | undefined {
  if (heardMs >= longestGreetingMs) return 'deaf';
  return heardMs - soundAt >= beeplessMs ? 'silence' : undefined;
}

/** A beep is over, or a fax was heard. */
function hearBeep(answer: Answer, { ms, isVoice, toneHz }: AnswerFrame): 'beep' | 'deaf' | undefined {
  const { tone } = answer;
  if (toneHz !== undefined) {
    const goesOn = tone !== undefined && !tone.isOver && Math.abs(tone.hz - toneHz) <= steadyHz;
    const next = { hz: toneHz, ms: goesOn ? tone.ms + ms : ms, isOver: false, quietMs: 0 };
    answer.tone = next;
    return isFax(next) && next.ms >= surelyFaxMs ? 'deaf' : undefined;
  }
  // The frame in which a tone ends may be taken for voice.
  if (tone === undefined || (isVoice && tone.isOver)) {
    answer.tone = undefined;
    return undefined;
  }
  tone.isOver = true;
  tone.quietMs += ms;
  const isBeep = !isFax(tone) && tone.ms >= shortestBeepMs && tone.ms <= longestBeepMs;
  if (!isBeep) answer.tone = undefined;
  return isBeep && tone.quietMs >= afterBeepMs ? 'beep' : undefined;
}

const isFax = ({ hz }: { readonly hz: number }): boolean => Math.abs(hz - faxHz) <= faxWidthHz;

/** How long ago a person's words began. */
export const wordsAgo = ({ heardMs, voice }: Answer): Millis =>
  voice === undefined ? 0 : heardMs - voice.from;
