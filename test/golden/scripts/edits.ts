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

export const edits: readonly Dialogue[] = [
  dialogue('another prompt and more messages wait until the answer is over', (begin) => {
    const call = begin().opens().callerSays('Hi.');
    const append = [{ role: 'user', text: 'The caller is Ada.' }] as const;
    call.tell(edit({ systemPrompt: 'Be kind.', append }));
    call.llmAnswers('Hello.').botFinishes().callerSays('Well?');
    assert.deepEqual(call.request[0], { role: 'system', text: 'Be kind.' });
    call.llmIsAsked('user: Hi.', 'assistant: Hello.', 'user: Well?', 'user: The caller is Ada.');
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
