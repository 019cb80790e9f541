/** The audio of one response in a script: what TTS was given, what of it exists, and how far it was played. */

export const msPerChar = 50;

export interface Audio {
  context: number;
  text: string;
  pieces: { endSaid: number; endMs: number; reported: boolean }[];
  /** Placed marks; `dueMs` is the length of audio before them. */
  marks: { id: string; dueMs: number }[];
  sentMs: number;
  flushed: boolean;
  started: boolean;
  held: boolean;
  /** It goes on for so long before it is held. */
  yieldMs: number;
  /** Everything that exists has gone out, and more is to come. */
  dry: boolean;
}

export const noAudio = (context: number): Audio => ({
  context,
  text: '',
  pieces: [],
  marks: [],
  sentMs: 0,
  flushed: false,
  started: false,
  held: false,
  yieldMs: 0,
  dry: false,
});

/** TTS is given a piece of text. */
export function addSpeech(audio: Audio, text: string): void {
  const before = audio.pieces.at(-1) ?? { endSaid: 0, endMs: 0 };
  audio.text += text;
  audio.pieces.push({
    endSaid: before.endSaid + text.length,
    endMs: before.endMs + text.length * msPerChar,
    reported: false,
  });
}

/** The output gives way meanwhile: it goes on for a while before it stands. */
export function giveWay(audio: Audio, ms: number): void {
  const playedMs = Math.min(ms, audio.yieldMs);
  audio.yieldMs -= playedMs;
  audio.sentMs = Math.min(audio.sentMs + playedMs, audio.pieces.at(-1)?.endMs ?? 0);
}

/** A mark behind the audio that exists now. */
export function addMark(audio: Audio, id: string): void {
  audio.marks.push({ id, dueMs: audio.pieces.findLast(({ reported }) => reported)?.endMs ?? 0 });
}
