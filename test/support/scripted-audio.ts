/** The audio of one response in a script: what TTS was given, what of it exists, and how far it was played. */

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
  dry: false,
});
