/** What a call with a speaking model is made of. */
import type { Millis } from '../../../shared/base/units.ts';
import type { Sentences } from '../../../shared/languages/vocabulary.ts';
import type { LlmStage, StageContext, SttStage, TtsStage } from '../stage.ts';
import type { Vendor } from './session-line.ts';

/** The providers beside the model: its ears for words, what answers when it does not, and the voice of scripted lines. */
export interface Cascade {
  readonly stt: SttStage;
  readonly llm: LlmStage;
  readonly tts: TtsStage;
}

export interface RealtimeCallOptions {
  readonly context: StageContext;
  readonly vendor: Vendor;
  readonly cascade: Cascade;
  readonly sampleRate: number;
  /** The model has a voice; otherwise the TTS speaks its words too. */
  readonly modelSpeaks: boolean;
  /** Where sentences end in the agent's language. */
  readonly sentences: Sentences;
  /** No pause within a turn is longer. */
  readonly maxSilenceMs: Millis;
  /** `vendor`: the model writes down what the caller says, and the STT beside it hears what is said over the agent, and where the model does not hear. */
  readonly words: 'own' | 'vendor';
  /** An STT stands beside the model, or a session of the model that writes down. */
  readonly hasStt: boolean;
}
