/**
 * What the local speech server and its engine processes say to each other. Audio travels as typed arrays, so the channel
 * must be opened with `serialization: 'advanced'`.
 */

/** A streaming recogniser, by the kind of its files; the values are paths. */
export type RecognizerFiles =
  | {
      readonly kind: 'transducer';
      readonly encoder: string;
      readonly decoder: string;
      readonly joiner: string;
      readonly tokens: string;
    }
  | { readonly kind: 'zipformer2-ctc' | 'nemo-ctc'; readonly model: string; readonly tokens: string };

/** A voice, by the kind of its files; the values are paths. */
export type VoiceFiles =
  | {
      readonly kind: 'kokoro';
      readonly model: string;
      readonly voices: string;
      readonly tokens: string;
      readonly dataDir: string;
      /** Pronunciations of the languages of a voice that knows several. */
      readonly lexicons: readonly string[];
    }
  | {
      readonly kind: 'vits';
      readonly model: string;
      readonly tokens: string;
      readonly dataDir?: string;
      readonly lexicon?: string;
    };

export interface EngineSetup<Files> {
  readonly type: 'setup';
  readonly files: Files;
  readonly threads: number;
}

export type ToRecognizer =
  | EngineSetup<RecognizerFiles>
  | { readonly type: 'audio'; readonly stream: number; readonly samples: Float32Array }
  | { readonly type: 'finish'; readonly stream: number }
  | { readonly type: 'drop'; readonly stream: number }
  | { readonly type: 'ping' };

/** A result as the wire has it; see the recogniser's server. */
export interface Recognition {
  readonly text: string;
  readonly tokens: readonly string[];
  /** Seconds from `startTimeS`, one for each token. */
  readonly timestamps: readonly number[];
  readonly segment: number;
  readonly startTimeS: number;
  readonly isFinal: boolean;
  readonly isEof: boolean;
}

export type FromRecognizer =
  | { readonly type: 'ready' }
  | { readonly type: 'pong' }
  /** So many samples of a stream need no more room. */
  | { readonly type: 'taken'; readonly stream: number; readonly samples: number }
  | { readonly type: 'heard'; readonly stream: number; readonly result: Recognition }
  | { readonly type: 'finished'; readonly stream: number };

export interface SpeechJob {
  readonly text: string;
  readonly speaker: number;
  readonly speed: number;
}

export type ToVoice =
  | EngineSetup<VoiceFiles>
  | { readonly type: 'speak'; readonly job: number; readonly speech: SpeechJob }
  | { readonly type: 'ping' };

export type FromVoice =
  | { readonly type: 'ready'; readonly speakers: number }
  | { readonly type: 'pong' }
  /** Mono at 24 kHz. */
  | { readonly type: 'spoken'; readonly job: number; readonly pcm: Int16Array }
  | { readonly type: 'failed'; readonly job: number };
