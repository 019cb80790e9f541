/**
 * Answers of an LLM in the place of a model that speaks: the core passes words of such a call on as they come, because the model says them already. A
 * TTS is given sentences. Pure.
 */
import { addText, finishText, newSplitter, wholeSentence } from '../../core/answer/sentences.ts';
import type { Sentences } from '../../../shared/languages/vocabulary.ts';
import type { LlmEvent } from '../stage.ts';

/** Passes on text by the sentence, and of an answer that breaks off no half of one. */
export function wholeSentences(
  sentences: Sentences,
  sink: (event: LlmEvent) => void,
): (event: LlmEvent) => void {
  const splitter = newSplitter();
  return (event) => {
    if (event.type === 'text') {
      for (const text of addText(splitter, event.text, sentences)) sink({ type: 'text', text });
      return;
    }
    if (event.type !== 'tool-call') {
      const rest = finishText(splitter);
      const isHalf = event.type === 'error' && !wholeSentence.test(rest ?? '');
      if (rest !== undefined && !isHalf) sink({ type: 'text', text: rest });
    }
    sink(event);
  };
}
