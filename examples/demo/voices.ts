/**
 * What the voice server may be asked for, and how a text becomes sentences that the synthesizer reads well.
 *
 * Invariant: pure; it knows names and text, neither threads nor sound.
 */
export const voices = ['slt', 'rms', 'awb', 'kal16'] as const;
export type Voice = (typeof voices)[number];
export const defaultVoice: Voice = 'slt';

export const isVoice = (name: unknown): name is Voice => voices.some((voice) => voice === name);

/** One sentence to speak. */
export interface SpeechJob {
  readonly text: string;
  readonly voice: Voice;
  /** 0.25 to 4; 1 is the voice's own pace. */
  readonly speed: number;
}

export function isSpeechJob(job: unknown): job is SpeechJob {
  if (typeof job !== 'object' || job === null) return false;
  const speed: unknown = Reflect.get(job, 'speed');
  return (
    typeof Reflect.get(job, 'text') === 'string' &&
    isVoice(Reflect.get(job, 'voice')) &&
    typeof speed === 'number'
  );
}

const symbols: readonly (readonly [RegExp, string])[] = [
  [/[‘’]/g, "'"],
  [/[“”"*_#`~<>|\\^[\]{}]/g, ' '],
  [/[–—]/g, ', '],
  [/…/g, '.'],
  [/&/g, ' and '],
  [/%/g, ' percent'],
  [/\s*°\s*[Cc]\b/g, ' degrees Celsius'],
  [/\s*°\s*F\b/g, ' degrees Fahrenheit'],
  [/°/g, ' degrees'],
  [/[€]\s?(\d+(?:[.,]\d+)?)/g, '$1 euros'],
  [/[£]\s?(\d+(?:[.,]\d+)?)/g, '$1 pounds'],
  [/@/g, ' at '],
  [/(^|\s)-(\d)/g, '$1minus $2'],
];

const smallNumbers = ['oh', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'] as const;
const hours = ['zero', ...smallNumbers.slice(1), 'ten', 'eleven', 'twelve'] as const;

/** Clock times, letters and symbols as words; accents are dropped, because the synthesizer reads ASCII only. */
export function speakable(text: string): string {
  let out = text.normalize('NFKC');
  for (const [pattern, words] of symbols) out = out.replace(pattern, words);
  out = out
    .replace(/\b(\d{1,2}):(\d{2})\b/g, (_, hour: string, minute: string) => {
      if (minute === '00') return /^0?0$/.test(hour) ? 'midnight' : `${Number(hour)} o'clock`;
      const small = minute.startsWith('0') ? smallNumbers[Number(minute)] : undefined;
      // An hour of two digits is a word: the synthesizer reads "12 16" as "one two sixteen".
      return `${hours[Number(hour)] ?? Number(hour)} ${small === undefined ? minute : `oh ${small}`}`;
    })
    .replace(/\b([ap])\.\s?m\b\.?/gi, '$1m')
    .replace(/\s*o'clock\s*(?=[ap]m\b)/gi, ' ')
    .replace(
      /(\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve))\s*([ap])m\b/gi,
      (_, hour, half) => `${String(hour)} ${String(half).toLowerCase()} m`,
    );
  return out
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\x20-\x7e]/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}

const maxSentenceChars = 400;

/** Cuts a text at the ends of sentences, so that the first one can be heard while the next is made. */
export function sentences(text: string): string[] {
  const parts = text.match(/[^.!?\n]+(?:[.!?]+(?=\s|$)|[.!?]+(?=\S)[^.!?\n]*)*[.!?]*\s*/g) ?? [];
  return parts
    .flatMap(
      (part) =>
        part.match(new RegExp(`.{1,${maxSentenceChars}}(?:\\s|$)|.{${maxSentenceChars}}`, 'gs')) ?? [],
    )
    .map((part) => part.trim())
    .filter((part) => /[\p{L}\p{N}]/u.test(part));
}
