/** Tools that need the caller's word: asked once it was heard, run on a clear yes, and never on a yes to anything else. */
import assert from 'node:assert/strict';
import { dialogue, type Dialogue } from '../../support/core/dialogue.ts';
import type { Script } from '../../support/core/script.ts';
import { effectTool, newToolBook, readingTool } from '../../support/core/tool-book.ts';
import { say } from '../../support/core/given.ts';

const tools = newToolBook({
  tools: {
    pay: { ...effectTool, confirm: true },
    weather: readingTool,
    send: { ...effectTool, confirm: true },
  },
});
const settings = { tools };
type Begin = Parameters<Dialogue['play']>[0];

const asks = (begin: Begin): Script =>
  begin({ settings }).opens().callerSays('Pay it.').llmWrites('Ten euros.').llmCalls('pay').running();
/** The caller has heard the question. */
const asked = (begin: Begin): Script => asks(begin).botFinishes();

const question = 'assistant: Ten euros. Shall I do that?';

export const confirmations: readonly Dialogue[] = [
  dialogue('a yes runs the call', (begin) => {
    const call = asks(begin).botSays('Ten euros. Shall I do that?').botFinishes().rounds(1).running();
    call.callerSays('Yes, please.').running('pay').rounds(1).toolAnswers('pay', 'paid').rounds(2);
    call.llmSees('user: Pay it.', question, 'user: Yes, please.', 'assistant: -> pay', 'pay: paid');
    call.llmAnswers('Paid.').botFinishes().callerSays('Thanks.');
    call.llmSees(
      'user: Pay it.',
      question,
      'user: Yes, please.',
      'assistant: -> pay',
      'pay: paid',
      'assistant: Paid.',
      'user: Thanks.',
    );
  }),

  dialogue('a no and an unclear answer do not, and the LLM is told which it was', (begin) => {
    for (const [said, code] of [
      ['No, wait.', 'declined'],
      ['What does it cost?', 'not_confirmed'],
    ] as const) {
      const call = asked(begin).callerSays(said).running().rounds(2);
      call.llmSees('user: Pay it.', question, `user: ${said}`, 'assistant: -> pay', `pay: !${code}`);
    }
  }),

  dialogue(
    'a caller who never answers is asked again, and then the call ends without running it',
    (begin) => {
      const call = asked(begin).later(10_000).botSays('Shall I do that?').botFinishes().later(10_000);
      call.botSays('Shall I do that?').botFinishes().later(10_000).botSays('Goodbye.').botFinishes();
      call.ends('ended').running();
      assert.deepEqual(call.tools.orders('pay'), []);
    },
  ),

  dialogue('a yes to the question that was asked again counts', (begin) => {
    const call = asked(begin).later(10_000).botSays('Shall I do that?').botFinishes().callerSays('Yes.');
    call.running('pay');
  }),

  dialogue('without an answer for a minute the call is given up', (begin) => {
    const idle = { askAfterMs: 0, ask: '', endAfter: 1 };
    const call = begin({ settings: { ...settings, idle } })
      .opens()
      .callerSays('Pay it.')
      .llmCalls('pay');
    call.botFinishes().later(59_499).rounds(1).later(1_000).rounds(2).running();
    call.llmSees('user: Pay it.', 'assistant: Shall I do that?', 'assistant: -> pay', 'pay: !not_confirmed');
  }),

  dialogue('a caller who speaks before the question was heard has not answered it', (begin) => {
    const call = asks(begin).botPlays(300).callerSays('Yes and hurry.').running().rounds(2);
    call.llmSees(
      'user: Pay it.',
      'assistant: Ten euros.',
      'assistant: -> pay',
      'pay: !not_confirmed',
      'user: Yes and hurry.',
    );
    assert.deepEqual(call.tools.orders('pay'), []);
  }),

  dialogue('a caller who answers before the question is quite over has answered it', (begin) => {
    const call = asks(begin).botPlays(1_300).callerSays('Yes.').running('pay');
    call.toolAnswers('pay').rounds(2);
  }),

  dialogue('a yes to something else that the bot said since does not count', (begin) => {
    const call = asked(begin).tell(say('Any more?')).botSays('Any more?').botFinishes();
    call.callerSays('Yes.').running().rounds(2);
    call.llmSees(
      'user: Pay it.',
      question,
      'assistant: Any more?',
      'user: Yes.',
      'assistant: -> pay',
      'pay: !not_confirmed',
    );
  }),

  dialogue('keys are no answer, and what they lead to can call tools again', (begin) => {
    const call = asked(begin).presses('1#').running().rounds(2);
    call.llmSees(
      'user: Pay it.',
      question,
      'user: [The caller pressed the keys: 1]',
      'assistant: -> pay',
      'pay: !not_confirmed',
    );
    call.llmCalls({ name: 'pay', id: 'p2' }).botSays('Shall I do that?').botFinishes().callerSays('Yes.');
    call.running('pay').toolAnswers('pay').rounds(3);
  }),

  dialogue('a noise and words without a sense leave the question open', (begin) => {
    const call = asked(begin).callerBegins().callerInsists().later(2_000).callerStops().silenceEndsTheTurn();
    call.sttFinalizes().botSays('Sorry, what was that?').botFinishes().callerSays('Yes.').running('pay');
  }),

  dialogue('what only reads runs at once beside a question', (begin) => {
    const call = begin({ settings }).opens().callerSays('Pay.').llmCalls('weather', 'pay').running('weather');
    call.toolAnswers('weather', 'fog').botFinishes().callerSays('Yes.').toolAnswers('pay', 'paid').rounds(2);
    call.llmSees(
      'user: Pay.',
      'assistant: Shall I do that?',
      'user: Yes.',
      'assistant: -> weather, pay',
      'weather: fog',
      'pay: paid',
    );
  }),

  dialogue('two calls are asked about once', (begin) => {
    const both = (): Script =>
      begin({ settings }).opens().callerSays('Both.').llmCalls('pay', 'send').running().botFinishes();
    both().callerSays('Yes.').running('pay', 'send').rounds(1);
    both()
      .callerSays('No.')
      .running()
      .rounds(2)
      .llmSees(
        'user: Both.',
        'assistant: Shall I do that?',
        'user: No.',
        'assistant: -> pay, send',
        'pay: !declined',
        'send: !declined',
      );
  }),

  dialogue('the answer is read by the calls that were asked about', (begin) => {
    const answerOf: typeof tools.answerOf = (text, asked) =>
      text === `Do ${asked.map(({ name }) => name).join()}.` ? 'yes' : 'no';
    const call = (name: string): Script =>
      begin({ settings: { tools: { ...tools, answerOf } } })
        .opens()
        .callerSays('Please.')
        .llmCalls(name)
        .botFinishes()
        .callerSays('Do send.');
    call('send').running('send');
    call('pay').running();
  }),

  dialogue('nobody hangs up on a question', (begin) => {
    const call = begin({ settings }).opens().callerSays('Pay, bye.').llmCalls('end_call', 'pay');
    call.botSays('Shall I do that?').botFinishes().ends(undefined).callerSays('Yes.').running('pay');
    call.toolAnswers('pay').rounds(2).llmAnswers('Paid.').botFinishes().ends(undefined);
  }),

  dialogue('what a provider wants back outlasts the question', (begin) => {
    const call = begin({ settings }).opens().callerSays('Pay.');
    call.llmEnds('tool_calls', ['pay'], { provider: 'p', data: 'thought' }).botFinishes();
    call.callerSays('Yes.').toolAnswers('pay');
    call.llmSees(
      'user: Pay.',
      'assistant: Shall I do that?',
      'user: Yes.',
      'assistant: -> pay (thought)',
      'pay: fine',
    );
  }),

  dialogue('another worker still knows that the caller was asked', (begin) => {
    const call = asked(begin).workerIsLost().callerSays('Yes.').running('pay').toolAnswers('pay').rounds(2);
    call.llmAnswers('Paid.').botSays('Paid.');
  }),

  dialogue('a confirmed call that the caller speaks into goes on', (begin) => {
    const call = asked(begin).callerSays('Yes.').running('pay').callerSays('And be quick.').running('pay');
    call.toolAnswers('pay', 'paid').llmAnswers('I am.').botFinishes();
    assert.equal(call.tools.orders('pay').length, 1);
    call.llmSees(
      'user: Pay it.',
      question,
      'user: Yes.',
      'assistant: -> pay',
      'pay: still running',
      'user: And be quick.',
      'assistant: I am.',
      'note: The earlier call of pay has ended: paid',
    );
  }),
];
