/** What a call is set up with; another agent brings another one. It is saved beside the state and not in it. */
import { vocabularyOf, type Vocabulary } from '../../shared/languages/vocabulary.ts';
import { newRespelling, type Respelling } from './answer/response.ts';
import type { CallSettings } from './settings.ts';
import { listeningOf, type Listening } from './turn/backchannels.ts';

export interface Setup {
  readonly settings: CallSettings;
  readonly pronounce: Respelling;
  /** The words of the languages that callers may speak. */
  readonly vocabulary: Vocabulary;
  readonly listening: Listening;
  /** The same where a farewell is spoken: its return is listening. */
  readonly parting: Listening;
  /** What recognisers make of a noise. */
  readonly invented: Listening;
}

export function newSetup(settings: CallSettings): Setup {
  const vocabulary = vocabularyOf(settings.languages);
  const { backchannels } = settings.interrupt;
  return {
    settings,
    pronounce: newRespelling(settings.pronounce),
    vocabulary,
    ...listeningOf(backchannels, vocabulary),
  };
}
