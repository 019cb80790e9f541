/**
 * Stages that an agent does without, because a model hears and speaks by itself. When the model fails and they are asked, they answer as a
 * provider that is down: the call apologises, and ends when that lasts.
 */
import type { LlmStage, StageContext, StageError, SttStage, TtsStage } from './stage.ts';
import { Soon } from './timers.ts';

const provider = 'none';
const failure: { readonly type: 'error'; readonly error: StageError } = {
  type: 'error',
  error: { kind: 'rejected', status: 404, retryable: false },
};
const nothing = (): void => undefined;
const close = (): Promise<void> => Promise.resolve();

/** Sessions tell nothing from inside their methods. */
const failing = (context: StageContext, sink: (event: typeof failure) => void): Soon =>
  new Soon(context, () => sink(failure));

export const absentStt: SttStage = {
  provider,
  open: (context, sink) => {
    const soon = failing(context, sink);
    soon.ask();
    return { audio: () => true, finalize: nothing, close: () => soon.close() };
  },
  close,
};

export const absentLlm: LlmStage = {
  provider,
  open: (context) => ({
    start: (_request, sink) => {
      const soon = failing(context, sink);
      soon.ask();
      return { cancel: () => soon.close() };
    },
    close: nothing,
  }),
  close,
};

export const absentTts: TtsStage = {
  provider,
  open: (context, sink) => {
    const soon = failing(context, sink);
    return {
      sampleRate: 24_000,
      speak: () => soon.ask(),
      flush: nothing,
      cancel: nothing,
      pause: nothing,
      resume: nothing,
      close: () => soon.close(),
    };
  },
  close,
};
