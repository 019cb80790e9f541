/** An agent that listens aloud: where it says "mm-hm" in the caller's turn, and that nothing of it counts. */
import { dialogue, type Dialogue } from '../../support/core/dialogue.ts';
import type { Script } from '../../support/core/script.ts';
import { scriptSettings } from '../../support/core/script-settings.ts';

const aloud = { settings: { turn: { ...scriptSettings.turn, murmurs: ['Mm-hm.', 'I see.'] } } };

/** The caller has spoken for so long, and pauses behind these words. */
const tells = (call: Script, text: string, ms: number): Script =>
  call.callerBegins().sttGuesses(text).later(ms).skips().callerStops();

export const murmurs: readonly Dialogue[] = [
  dialogue('it murmurs at a short pause of a long turn, and answers the whole of it', (begin) => {
    const call = tells(begin(aloud).opens(), 'So I ordered the table and', 5_000);
    // The pause is 200 ms long when it is told.
    call.later(149).orders().later(1).orders('playout.murmur Mm-hm.');
    call.callerBegins().sttGuesses('So I ordered the table and it came without legs.').skips();
    call.callerStops().silenceEndsTheTurn();
    call.sttHears('So I ordered the table and it came without legs.').sttFinalizes();
    call.llmIsAsked('user: So I ordered the table and it came without legs.');
    call.llmAnswers('I am sorry.').botSays('I am sorry.').botFinishes();
  }),

  dialogue('it keeps silent in a short turn, and behind words that may be whole', (begin) => {
    tells(begin(aloud).opens(), 'So I ordered the table and', 3_000).later(400).without('playout.murmur');
    tells(begin(aloud).opens(), 'I would like to know where my order is.', 6_000)
      .later(400)
      .without('playout.murmur');
  }),

  dialogue('it keeps silent where STT has told no words', (begin) => {
    const call = begin(aloud).opens().callerBegins().later(6_000).callerStops();
    call.later(500).without('playout.murmur');
  }),

  dialogue('it says each line in turn, no more than one in eight seconds', (begin) => {
    const call = tells(begin(aloud).opens(), 'So I ordered the table and', 5_000);
    call.later(150).ordered('playout.murmur Mm-hm.').skips();
    call.callerBegins().later(3_000).callerStops().later(300).without('playout.murmur');
    call.callerBegins().later(5_000).skips().callerStops().later(150).ordered('playout.murmur I see.');
  }),

  dialogue('it keeps silent over a voice that is coming back', (begin) => {
    const call = tells(begin(aloud).opens(), 'So I ordered the table and', 5_000);
    call.later(100).tell({ type: 'voice.resumed' }).later(350).without('playout.murmur');
  }),

  dialogue('it keeps silent while a response of its own waits', (begin) => {
    const call = begin(aloud).opens().callerSays('Go.').llmAnswers('It comes today, at four.').botPlays(300);
    call.callerBegins().later(6_000).skips().callerStops().later(400).without('playout.murmur');
  }),

  dialogue('by default it listens in silence', (begin) => {
    tells(begin().opens(), 'So I ordered the table and', 6_000).later(500).without('playout.murmur');
  }),
];
