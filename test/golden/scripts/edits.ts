/** Changes of the conversation from outside come into force right before a response, never while one runs. */
import assert from 'node:assert/strict';
import { dialogue, type Dialogue } from '../../support/core/dialogue.ts';
import { scriptSettings } from '../../support/core/script-settings.ts';
import { newToolBook, readingTool } from '../../support/core/tool-book.ts';
import { edit } from '../../support/core/given.ts';

const settings = {
  ...scriptSettings,
  tools: newToolBook({ tools: { weather: readingTool, news: readingTool } }),
};

const note = edit({ append: [{ role: 'assistant', text: 'On its way.' }] });
const again = edit({ append: [{ role: 'assistant', text: 'It has come.' }] });

export const edits: readonly Dialogue[] = [
  dialogue('another prompt and more messages wait until the answer is over', (begin) => {
    const call = begin().opens().callerSays('Hi.');
    const append = [{ role: 'user', text: 'The caller is Ada.' }] as const;
    call.tell(edit({ systemPrompt: 'Be kind.', append }));
    call.llmAnswers('Hello.').botFinishes().callerSays('Well?');
    assert.deepEqual(call.request[0], { role: 'system', text: 'Be kind.' });
    call.llmIsAsked('user: Hi.', 'assistant: Hello.', 'user: The caller is Ada.', 'user: Well?');
  }),

  dialogue('what comes while nobody speaks stands before what the caller says next', (begin) => {
    const call = begin().opens().callerSays('Hi.').llmAnswers('Hello.').botFinishes();
    call.tell(edit({ append: [{ role: 'assistant', text: 'The parcel is on its way.' }] }));
    call.tell(edit({ append: [{ role: 'user', text: 'It is number 5.' }] }));
    call
      .callerSays('Where is it?')
      .llmIsAsked(
        'user: Hi.',
        'assistant: Hello.',
        'assistant: The parcel is on its way.',
        'user: It is number 5.',
        'user: Where is it?',
      );
    call
      .llmAnswers('On its way.')
      .botFinishes()
      .callerSays('Fine.')
      .llmIsAsked(
        'user: Hi.',
        'assistant: Hello.',
        'assistant: The parcel is on its way.',
        'user: It is number 5.',
        'user: Where is it?',
        'assistant: On its way.',
        'user: Fine.',
      );
  }),

  dialogue('what comes while the caller speaks stands before those words, too', (begin) => {
    const call = begin().opens().callerBegins().sttHears('Where is');
    call.tell(note).callerStops().silenceEndsTheTurn();
    call
      .sttHears('my parcel?')
      .sttFinalizes()
      .llmIsAsked('assistant: On its way.', 'user: Where is my parcel?');
  }),

  dialogue('and what comes between the end of the turn and the request', (begin) => {
    const call = begin().opens().callerBegins().callerStops().silenceEndsTheTurn().tell(note);
    call.sttHears('Where is it?').sttFinalizes().llmIsAsked('assistant: On its way.', 'user: Where is it?');
  }),

  dialogue('what comes while the answer is thought about or spoken stands behind it', (begin) => {
    const call = begin().opens().callerSays('Where is it?').tell(note).rounds(1);
    call.llmAnswers('I am looking.').tell(again).botFinishes().callerSays('And?');
    const before = ['user: Where is it?', 'assistant: I am looking.'];
    call.llmIsAsked(...before, 'assistant: On its way.', 'assistant: It has come.', 'user: And?');
  }),

  dialogue('what comes into an answer that nobody heard stands before both questions', (begin) => {
    const call = begin().opens().callerSays('A table').tell(note).callerBegins().callerInsists();
    call.sttHears('for four.').callerStops().silenceEndsTheTurn().sttFinalizes();
    call.llmIsAsked('assistant: On its way.', 'user: A table', 'user: for four.');
  }),

  dialogue('keys are what a caller says: what comes before them stands before them', (begin) => {
    const call = begin().opens().tell(note).presses('7#');
    call.llmIsAsked('assistant: On its way.', 'user: [The caller pressed the keys: 7]');
  }),

  dialogue('another worker knows what has been asked and not answered', (begin) => {
    const call = begin().opens().callerSays('Where is it?').callerBegins().callerInsists();
    call.sttHears('Well?').tell(note).workerIsLost().callerStops().silenceEndsTheTurn().sttFinalizes();
    call.llmSees('assistant: On its way.', 'user: Where is it?', 'user: Well?');
  }),

  dialogue('the LLM is asked early with what came, and once', (begin) => {
    const call = begin({ settings: { turn: { ...scriptSettings.turn, speculate: true } } }).opens();
    call.tell(note).callerBegins().sttHears('Where is it?').callerStops();
    call.llmIsAsked('assistant: On its way.', 'user: Where is it?').llmAnswers('On its way.');
    call.silenceEndsTheTurn().sttFinalizes().rounds(1);
  }),

  dialogue('what comes behind an early request has it made again', (begin) => {
    const call = begin({ settings: { turn: { ...scriptSettings.turn, speculate: true } } }).opens();
    call.callerBegins().sttHears('Where is it?').callerStops().llmIsAsked('user: Where is it?').tell(note);
    call.silenceEndsTheTurn().sttFinalizes().rounds(2);
    call.llmIsAsked('assistant: On its way.', 'user: Where is it?');
  }),

  dialogue('an edit between the rounds of an answer does not come between a call and its result', (begin) => {
    const call = begin({ settings }).opens().callerSays('Hm?').llmCalls('weather');
    call.tell(edit({ append: [{ role: 'user', text: 'Note.' }] }));
    call.toolAnswers('weather', 'sun').llmSees('user: Hm?', 'assistant: -> weather', 'weather: sun');
  }),

  dialogue('tools are narrowed from the next answer on, and all come back', (begin) => {
    const call = begin({ settings }).opens();
    call
      .tell(edit({ tools: ['news'] }))
      .callerSays('Hm?')
      .offers('news');
    call
      .tell(edit({ tools: null }))
      .llmAnswers('So.')
      .botFinishes();
    call.callerSays('And?').offers('end_call', 'weather', 'news');
  }),

  dialogue('too many edits at a time are left out as a whole', (begin) => {
    const call = begin().opens();
    for (let count = 0; count < 16; count += 1)
      call.tell(edit({ systemPrompt: `Prompt ${count}.` })).orders();
    call.tell(edit({ systemPrompt: 'Too much.' })).orders('edit refused queue_full');
    call.callerSays('Hi.');
    assert.deepEqual(call.request[0], { role: 'system', text: 'Prompt 15.' });
  }),
];
