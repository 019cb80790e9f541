/**
 * STT and TTS of a call without sound: the one hears typed words, and the voice of the other is text. They
 * answer at once, from inside the methods of their sessions: the call that owns them takes facts one at a time.
 */
import type {
  SttEvent,
  SttSession,
  SttStage,
  TtsEvent,
  TtsSession,
  TtsStage,
} from '../../worker/stages/stage.ts';

/** Nobody hears it; the contract wants a rate. */
const sampleRate = 16_000;

export interface TextStt extends SttStage {
  /** What the caller says goes on like this; the final text is everything since the last one. */
  hear(text: string): void;
}

export function newTextStt(): TextStt {
  let said = '';
  const open = (_context: unknown, sink: (event: SttEvent) => void): SttSession => ({
    audio: () => true,
    finalize: () => {
      const text = said;
      said = '';
      if (text !== '')
        sink({ type: 'transcript', text, isFinal: true, speechFinal: true, fromFinalize: true });
      sink({ type: 'finalized' });
    },
    close: () => undefined,
  });
  return {
    provider: 'text',
    open,
    hear: (text) => {
      said = said === '' ? text : `${said} ${text}`;
    },
    close: () => Promise.resolve(),
  };
}

export interface TextTtsOptions {
  readonly speak: (context: number, text: string) => void;
  readonly flush: (context: number) => void;
  readonly cancel: (context: number) => void;
}

export function newTextTts({ speak, flush, cancel }: TextTtsOptions): TtsStage {
  const open = (_context: unknown, sink: (event: TtsEvent) => void): TtsSession => {
    const charsOf = new Map<number, number>();
    return {
      sampleRate,
      speak: (context, text) => {
        const chars = (charsOf.get(context) ?? 0) + text.length;
        charsOf.set(context, chars);
        speak(context, text);
        sink({ type: 'spoken', context, chars });
      },
      flush: (context) => {
        charsOf.delete(context);
        flush(context);
        sink({ type: 'flushed', context });
      },
      cancel: (context) => {
        charsOf.delete(context);
        cancel(context);
      },
      pause: () => undefined,
      resume: () => undefined,
      close: () => charsOf.clear(),
    };
  };
  return { provider: 'text', open, close: () => Promise.resolve() };
}
