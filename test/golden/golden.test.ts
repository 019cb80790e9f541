/** The conversations that the core must hold, as scripts of who says what, and when. */
import { describe, it } from 'vitest';
import { realCore } from '../support/core/core.ts';
import { Script } from '../support/core/script.ts';
import { chapters } from './chapters.ts';

for (const [chapter, dialogues] of Object.entries(chapters)) {
  describe(chapter, () => {
    for (const { name, play } of dialogues)
      it(name, () => play((options) => new Script({ ...options, core: realCore })));
  });
}
