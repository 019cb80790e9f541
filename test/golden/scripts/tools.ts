/** What tools do in a conversation: rounds, results, refusals, and how often anything runs. */
import assert from 'node:assert/strict';
import { dialogue, type Dialogue } from '../../support/core/dialogue.ts';
import { scriptSettings } from '../../support/core/script-settings.ts';
import { effectTool, newToolBook, readingTool } from '../../support/core/tool-book.ts';

const tools = newToolBook({
  tools: {
    weather: readingTool,
    news: readingTool,
    book: effectTool,
    hasty: { ...readingTool, timeoutMs: 1_000 },
    pay: { ...effectTool, timeoutMs: 1_000 },
    ring: { ...effectTool, repeatable: true },
    slow: { ...readingTool, fillerAfterMs: 700 },
    slower: { ...readingTool, fillerAfterMs: 4_000 },
  },
});
const settings = { tools };
const toolNames = ['end_call', 'weather', 'news', 'book', 'hasty', 'pay', 'ring', 'slow', 'slower'];

export const toolRounds: readonly Dialogue[] = [
  dialogue('the words before a call are spoken while the tool runs, and the answer follows them', (begin) => {
    const call = begin({ settings }).opens().callerSays('Is it warm?').llmWrites('Let me look.');
    call
      .llmCalls({ name: 'weather', args: { city: 'Rome' } })
      .running('weather')
      .rounds(1);
    call.botSays('Let me look.').toolAnswers('weather', '22 degrees').rounds(2);
    call.llmSees('user: Is it warm?', 'assistant: Let me look. -> weather', 'weather: 22 degrees');
    call.llmAnswers('Yes, 22 degrees.').botFinishes().callerSays('Thanks.');
    call.llmSees(
      'user: Is it warm?',
      'assistant: Let me look. -> weather',
      'weather: 22 degrees',
      'assistant: Yes, 22 degrees.',
      'user: Thanks.',
    );
  }),

  dialogue('calls of one round run side by side and are answered together, in their order', (begin) => {
    const call = begin({ settings }).opens().callerSays('What is on?');
    call.llmCalls('weather', { name: 'book', id: 'b1' }, 'news').running('weather', 'book', 'news');
    call.toolAnswers('news', 'calm').toolAnswers('book', 'booked').rounds(1);
    call.toolAnswers('weather', 'sunny').rounds(2);
    call.llmSees(
      'user: What is on?',
      'assistant: -> weather, book#b1, news',
      'weather: sunny',
      'b1: booked',
      'news: calm',
    );
  }),

  dialogue('arguments that break the rules are answered so, and nothing runs', (begin) => {
    const call = begin({ settings }).opens().callerSays('Hm?').llmCalls({ name: 'book', args: '{"a":' });
    call.running().rounds(2).llmSees('user: Hm?', 'assistant: -> book', 'book: !invalid_arguments');
  }),

  dialogue('a tool that is not offered is answered so, and its neighbour runs', (begin) => {
    const call = begin({ settings }).opens().callerSays('Hm?').llmCalls('fly', 'weather').running('weather');
    call.toolAnswers('weather', 'fog');
    call.llmSees('user: Hm?', 'assistant: -> fly, weather', 'fly: !unknown_tool', 'weather: fog');
  }),

  dialogue('arguments of a response that was cut are never run', (begin) => {
    for (const finish of ['length', 'content_filter'] as const) {
      const call = begin({ settings }).opens().callerSays('Hm?').llmEnds(finish, ['weather', 'book']);
      call.running().rounds(2);
      const results = ['weather: !arguments_cut', 'book: !arguments_cut'];
      call.llmSees('user: Hm?', 'assistant: -> weather, book', ...results);
    }
  }),

  dialogue(
    'a tool that does not answer in time is given up, and its late answer changes nothing',
    (begin) => {
      const call = begin({ settings }).opens().callerSays('Hm?').llmCalls('hasty').later(999).rounds(1);
      call.later(1).rounds(2).running();
      assert.equal(call.tools.givenUp('hasty'), 'timeout');
      call.toolAnswers('hasty', 'late').rounds(2);
      call.llmSees('user: Hm?', 'assistant: -> hasty', 'hasty: !timeout');
    },
  ),

  dialogue('an effect that does not answer in time may have happened, and is not repeated', (begin) => {
    const call = begin({ settings }).opens().callerSays('Do it.').llmCalls({ name: 'pay', id: 'b1' });
    call.later(1_000).rounds(2);
    call.llmCalls({ name: 'pay', id: 'b2' }).running().rounds(3);
    call.llmSees(
      'user: Do it.',
      'assistant: -> pay#b1',
      'b1: !outcome_unknown',
      'assistant: -> pay#b2',
      'b2: !outcome_unknown',
    );
    assert.equal(call.tools.orders('pay').length, 1);
  }),

  dialogue('a tool that only reads is tried once more when nothing answered, with the same key', (begin) => {
    const call = begin({ settings }).opens().callerSays('Hm?').llmCalls('weather');
    call.toolFails('weather', { transport: true }).running().later(200).running('weather').rounds(1);
    call.toolFails('weather', { transport: true }).running().rounds(2);
    call.llmSees('user: Hm?', 'assistant: -> weather', 'weather: !tool_failed');
    const [first, second] = call.tools.orders('weather');
    assert.equal(first?.idempotencyKey, second?.idempotencyKey);
    assert.match(first?.idempotencyKey ?? '', /^[0-9a-f]{16}$/);
    // The observer was told of one run and of its end.
    call.tell({ type: 'call.closed' });
  }),

  dialogue('an effect is never tried again, nor is a tool that said itself that it failed', (begin) => {
    const call = begin({ settings }).opens().callerSays('Hm?').llmCalls('book', 'weather');
    call.toolFails('book', { transport: true }).toolFails('weather').later(1_000).rounds(2);
    call.llmSees(
      'user: Hm?',
      'assistant: -> book, weather',
      'book: !outcome_unknown',
      'weather: !tool_failed',
    );
  }),

  dialogue('an effect that succeeded is not repeated in the turn, and is in the next', (begin) => {
    const call = begin({ settings }).opens().callerSays('Book it.').llmCalls({ name: 'book', id: 'b1' });
    call.toolAnswers('book').llmCalls({ name: 'book', id: 'b2' }).running().rounds(3);
    call.llmSees(
      'user: Book it.',
      'assistant: -> book#b1',
      'b1: fine',
      'assistant: -> book#b2',
      'b2: !already_done',
    );
    call.llmAnswers('Done.').botFinishes().callerSays('And another.').llmCalls({ name: 'book', id: 'b3' });
    call.running('book');
  }),

  dialogue('other arguments, a failure before, or the same round are no repetition', (begin) => {
    const call = begin({ settings }).opens().callerSays('Book two.');
    call.llmCalls({ name: 'book', id: 'b1' }, { name: 'book', id: 'b2' }).running('book', 'book');
    call.toolFails('book').toolFails('book').llmCalls({ name: 'book', id: 'b3' }).running('book');
    call
      .toolAnswers('book')
      .llmCalls({ name: 'book', id: 'b4', args: { for: 2 } })
      .running('book');
  }),

  dialogue('a repeatable effect may be repeated', (begin) => {
    const call = begin({ settings }).opens().callerSays('Ring.').llmCalls({ name: 'ring', id: 'r1' });
    call.toolAnswers('ring').llmCalls({ name: 'ring', id: 'r2' }).running('ring');
  }),

  dialogue('a call id runs once in a turn, even of a repeatable tool', (begin) => {
    const call = begin({ settings }).opens().callerSays('Ring.').llmCalls('ring', 'ring').running('ring');
    call.toolAnswers('ring').llmCalls('ring').running();
    call.llmSees(
      'user: Ring.',
      'assistant: -> ring, ring',
      'ring: fine',
      'ring: !repeated_call_id',
      'assistant: -> ring',
      'ring: !repeated_call_id',
    );
  }),

  dialogue('of two calls with one id in a round the first is run, whatever the tool does', (begin) => {
    const call = begin({ settings }).opens().callerSays('Hm?');
    call.llmCalls('weather', { name: 'weather', args: { city: 'Rome' } }, { name: 'news', id: 'weather' });
    call.running('weather').toolAnswers('weather', 'fog').rounds(2);
    call.llmSees(
      'user: Hm?',
      'assistant: -> weather, weather, news#weather',
      'weather: fog',
      'weather: !repeated_call_id',
      'weather: !repeated_call_id',
    );
    call.llmCalls('weather').running('weather');
  }),

  dialogue('a tool that answers twice is believed once', (begin) => {
    const call = begin({ settings })
      .opens()
      .callerSays('Hm?')
      .llmCalls('weather')
      .toolAnswers('weather', 'a');
    call.toolAnswers('weather', 'b').rounds(2).llmSees('user: Hm?', 'assistant: -> weather', 'weather: a');
  }),

  dialogue('a slow tool is bridged once by its filler, and by more when the silence goes on', (begin) => {
    const call = begin({ settings }).opens().callerSays('Hm?').llmCalls('slow').later(699).botSays('');
    call.later(1).botSays('One moment. ').botPlays(Infinity).later(2_400);
    call.botSays('One moment. Let me see. ').toolAnswers('slow', 'yes').llmAnswers('Yes.');
    call.botFinishes().callerSays('Ok.');
    call.llmSees(
      'user: Hm?',
      'assistant: One moment. Let me see. -> slow',
      'slow: yes',
      'assistant: Yes.',
      'user: Ok.',
    );
  }),

  dialogue('without fillers a slow tool is waited for in silence, until it is late', (begin) => {
    const call = begin({ settings: { ...settings, fillers: [] } })
      .opens()
      .callerSays('Hm?')
      .llmCalls('slow');
    call.later(1_999).botSays('').later(1).botSays('Bear with me. ').botPlays(Infinity);
    call.later(1_000).botSays('Bear with me. ').toolAnswers('slow', 'yes').llmAnswers('Yes.');
    call.botSays('Bear with me. Yes.');
  }),

  dialogue('a filler is no part of what the LLM is asked with', (begin) => {
    const call = begin({ settings }).opens().callerSays('Hm?').llmCalls('slow').later(700);
    call.toolAnswers('slow', 'yes').llmSees('user: Hm?', 'assistant: -> slow', 'slow: yes');
  }),

  dialogue('a filler is left out while the bot is still speaking', (begin) => {
    const call = begin({ settings }).opens().callerSays('Hm?').llmWrites('I am looking that up for you. ');
    call.llmCalls('slow').botPlays(1_000).botSays('I am looking that up for you. ');
  }),

  dialogue(
    'while a tool without a filler time runs nothing is said, and the LLM has its own time behind it',
    (begin) => {
      const call = begin({ settings }).opens().callerSays('Hm?').llmCalls('weather').later(5_000).botSays('');
      call.toolAnswers('weather').later(1_499).botSays('').later(1).botSays('One moment. ');
    },
  ),

  dialogue('a filler time beyond that of any other silence holds', (begin) => {
    for (const fillers of [scriptSettings.fillers, []]) {
      const call = begin({ settings: { ...settings, fillers } })
        .opens()
        .callerSays('Hm?')
        .llmCalls('slower');
      call
        .later(3_999)
        .botSays('')
        .later(1)
        .botSays(fillers.length > 0 ? 'One moment. ' : 'Bear with me. ');
      call
        .botPlays(Infinity)
        .later(2_400)
        .botSays(fillers.length > 0 ? 'One moment. Let me see. ' : 'Bear with me. Still at it. ');
    }
  }),

  dialogue('of tools side by side the one that wants a filler first has it', (begin) => {
    const call = begin({ settings })
      .opens()
      .callerSays('Hm?')
      .llmCalls('weather', 'slower', 'slow')
      .later(699);
    call.botSays('').later(1).botSays('One moment. ');
    const late = begin({ settings }).opens().callerSays('Hm?').llmCalls('weather', 'slower').later(3_999);
    late.botSays('').later(1).botSays('One moment. ');
  }),

  dialogue('the filler time of a tool that is tried again counts from its first try', (begin) => {
    const call = begin({ settings }).opens().callerSays('Hm?').llmCalls('slower').later(2_000);
    call.toolFails('slower', { transport: true }).later(1_999).botSays('').later(1).botSays('One moment. ');
  }),

  dialogue('another worker keeps the silence that a tool wants', (begin) => {
    const call = begin({ settings }).opens().callerSays('Hm?').llmCalls('slower').later(500).workerIsLost();
    call.later(3_400).botSays('').later(700).botSays('One moment. ');
  }),

  dialogue(
    'the last round has no tools, and one that asks for them all the same ends in an apology',
    (begin) => {
      const call = begin({ settings: { ...settings, maxToolRounds: 2 } })
        .opens()
        .callerSays('Hm?');
      call
        .llmCalls({ name: 'ring', id: 'r1' })
        .toolAnswers('ring')
        .offers(...toolNames);
      call.llmCalls({ name: 'ring', id: 'r2' }).toolAnswers('ring').offers().rounds(3);
      call.llmCalls({ name: 'ring', id: 'r3' }).running().rounds(3).botSays('Sorry, say that again.');
      call
        .botFinishes()
        .callerSays('Once more.')
        .offers(...toolNames);
      call.llmSees(
        'user: Hm?',
        'assistant: -> ring#r1',
        'r1: fine',
        'assistant: -> ring#r2',
        'r2: fine',
        'assistant: -> ring#r3',
        'r3: !tool_limit',
        'assistant: Sorry, say that again.',
        'user: Once more.',
      );
    },
  ),

  dialogue('what a provider wants back stands with the round that it made', (begin) => {
    const call = begin({ settings }).opens().callerSays('Hm?');
    call.llmEnds('tool_calls', ['weather'], { provider: 'p', data: 'thought' }).toolAnswers('weather', 'fog');
    call.llmSees('user: Hm?', 'assistant: -> weather (thought)', 'weather: fog').llmAnswers('Fog.');
    call.botFinishes().callerSays('So?');
    call.llmSees(
      'user: Hm?',
      'assistant: -> weather (thought)',
      'weather: fog',
      'assistant: Fog.',
      'user: So?',
    );
  }),

  dialogue('the LLM that fails between tools is apologised for, and what tools did is kept', (begin) => {
    const call = begin({ settings }).opens().callerSays('Book.').llmCalls('book').toolAnswers('book');
    call.llmFails().botSays('Sorry, say that again.').botFinishes().callerSays('Did it work?');
    call.llmSees(
      'user: Book.',
      'assistant: -> book',
      'book: fine',
      'assistant: Sorry, say that again.',
      'user: Did it work?',
    );
  }),

  dialogue('what tools did is kept when TTS makes no sound of the answer', (begin) => {
    const call = begin({ settings }).opens().callerSays('Book.').llmCalls('book').toolAnswers('book');
    call.llmAnswers('Booked.').drains().botSays('Sorry, say that again.').botFinishes().callerSays('Well?');
    call.llmSees(
      'user: Book.',
      'assistant: -> book',
      'book: fine',
      'assistant: Sorry, say that again.',
      'user: Well?',
    );
  }),

  dialogue('TTS that dies while a tool runs does not lose the round', (begin) => {
    const call = begin({ settings }).opens().callerSays('Book.').llmWrites('I am on it. ').llmCalls('book');
    call.ttsFails().botSays('I am on it. ').toolAnswers('book').rounds(2).llmAnswers('Booked.');
    call.botFinishes().callerSays('Good.');
    call.llmSees(
      'user: Book.',
      'assistant: I am on it. -> book',
      'book: fine',
      'assistant: Booked.',
      'user: Good.',
    );
  }),
];
