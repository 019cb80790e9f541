/** What a call is set up with; it never changes, and is saved beside the state and not in it. */
import { newRespelling, type Respelling } from './answer/response.ts';
import type { CallSettings } from './settings.ts';

export interface Setup {
  readonly settings: CallSettings;
  readonly pronounce: Respelling;
}

export const newSetup = (settings: CallSettings): Setup => ({
  settings,
  pronounce: newRespelling(settings.pronounce),
});
