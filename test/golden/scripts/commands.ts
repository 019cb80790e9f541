/** Commands from outside, and what they are answered with (docs/reference/agent-link.md, How a call goes). */
import { dialogue, type Dialogue } from '../../support/core/dialogue.ts';
import { edit, end, say, typed } from '../../support/core/given.ts';
import type { Script } from '../../support/core/script.ts';
import { effectTool, newToolBook } from '../../support/core/tool-book.ts';

type Begin = Parameters<Dialogue['play']>[0];

/** The agent is in the middle of an answer. */
const answering = (begin: Begin): Script =>
  begin().opens().callerSays('Hm?').llmAnswers('Well then.').botPlays(100).skips();
/** The caller is in the middle of a turn. */
const speaking = (begin: Begin): Script => begin().opens().callerBegins().sttHears('A table').skips();
const nothing = (call: Script): Script => call.without('command.answered');

export const commands: readonly Dialogue[] = [
  dialogue('a line is done when the bot begins to speak it', (begin) => {
    const call = nothing(
      answering(begin)
        .tell(say('One.', { id: 'a' }))
        .tell(say('Two.', { id: 'b' })),
    );
    nothing(call.botFinishes().botSays('One.').ordered('a done').skips());
    call.botFinishes().botSays('Two.').ordered('b done');
  }),

  dialogue('an interrupting line drops the lines before it, and no others', (begin) => {
    const call = speaking(begin)
      .tell(say('One.', { id: 'a' }))
      .tell(say('Two.', { id: 'b' }))
      .orders();
    call.tell(say('Now.', { id: 'c', interrupt: true })).orders('a dropped', 'b dropped');
    call
      .tell(say('Later.', { id: 'd' }))
      .callerStops()
      .silenceEndsTheTurn()
      .sttFinalizes();
    call.botSays('Now.').ordered('c done').skips();
    nothing(call.llmAnswers('At eight.'));
  }),

  dialogue('the ninth line is refused unless it takes the place of the others', (begin) => {
    const call = speaking(begin);
    for (let count = 1; count <= 8; count += 1) call.tell(say(`Line ${count}.`));
    call
      .orders()
      .tell(say('Nine.', { id: 'nine' }))
      .orders('nine refused queue_full');
    call.tell(say('Now.', { id: 'now', interrupt: true })).orders();
  }),

  dialogue('lines that wait are said before the farewell when the time of the call is over', (begin) => {
    const call = begin({ settings: { maxCallMs: 5_000 } })
      .opens()
      .callerBegins();
    call.tell(say('One.', { id: 'a' })).tell(say('Two.', { id: 'b' }));
    nothing(call.skips().later(6_000));
    call
      .tell(say('Three.', { id: 'c' }))
      .ordered('c refused call_ending')
      .skips();
    call.callerStops().silenceEndsTheTurn().sttFinalizes().botSays('One.').ordered('a done').botFinishes();
    call.botSays('Two.').ordered('b done').botFinishes().botSays('Goodbye.').rounds(0);
    call.botFinishes().ends('ended', 'time_limit');
  }),

  dialogue('a caller who hangs up leaves nobody without an answer', (begin) => {
    const call = speaking(begin)
      .tell(say('One.', { id: 'a' }))
      .tell(typed('Hello', 'b'));
    call.skips().tell(end('', 'c')).orders('b dropped');
    call.tell({ type: 'call.closed' }).orders('a dropped', 'c dropped');
    call.tell(say('Two.', { id: 'd' })).orders('d refused call_over');
    call.tell(edit({}, 'e')).orders('e refused call_over');
    call.tell(end('', 'f')).orders('f refused call_over');
    call.tell(typed('Hello?', 'g')).orders('g refused call_over');
  }),

  dialogue('what waits goes on waiting in another worker', (begin) => {
    const call = answering(begin).tell(say('One.', { id: 'a' }));
    nothing(call.workerIsLost());
    call.llmAnswers('Well then.').botFinishes().botSays('One.').ordered('a done');
  }),

  // ---- edits ----

  dialogue('an edit is done when it is taken, and in force from the next response on', (begin) => {
    const call = answering(begin)
      .tell(edit({ systemPrompt: 'Be kind.' }, 'a'))
      .orders('a done');
    call.prompted('Be brief.').botFinishes().callerSays('So?').prompted('Be kind.');
  }),

  dialogue('an edit of the conversation comes before the line that is spoken next', (begin) => {
    const append = [{ role: 'user', text: 'Note.' }] as const;
    const call = begin().opens().tell(edit({ append })).tell(say('Hello.')).botFinishes();
    call.callerSays('Hm?').llmIsAsked('user: Note.', 'assistant: Hello.', 'user: Hm?');
  }),

  // ---- end ----

  dialogue('the call is ended behind the response that runs and the farewell', (begin) => {
    const call = answering(begin).tell(end('So long.', 'a')).orders().botFinishes().botSays('So long.');
    nothing(call.skips()).botPlays(Infinity).drains().later(499).ends(undefined).skips();
    call.later(1).orders('a done', 'call.end ended').ends('ended');
  }),

  dialogue('an end without a farewell ends the call as soon as nobody speaks', (begin) => {
    begin().opens().tell(end('', 'a')).orders('a done', 'call.end ended');
    const call = answering(begin).tell(end('  ', 'a')).orders().botFinishes();
    call.ordered('a done').ordered('call.end ended').without('playout.open');
  }),

  dialogue('a caller who speaks is heard out, and answered with the farewell', (begin) => {
    const call = speaking(begin).tell(end('So long.', 'a')).orders().callerStops().silenceEndsTheTurn();
    nothing(call.sttFinalizes().botSays('So long.').rounds(0)).botFinishes().ordered('a done');
  }),

  dialogue('lines that wait are said in order before the farewell', (begin) => {
    const call = begin()
      .opens()
      .tell(say('One.', { id: 'a' }))
      .tell(say('Two.', { id: 'b' }))
      .tell(end('So long.', 'c'));
    call.botSays('One.').botFinishes().botSays('Two.').ordered('b done').botFinishes();
    nothing(call.botSays('So long.').skips()).botFinishes().ordered('c done').ends('ended', 'command');
    const silent = begin().opens().tell(say('One.')).tell(end('', 'c'));
    nothing(silent.botSays('One.').skips()).botFinishes().ordered('c done').ends('ended');
  }),

  dialogue('who interrupts the farewell is answered, and then hears the rest of it', (begin) => {
    const call = begin().opens().tell(end('So long, and thank you very much.', 'a')).botPlays(700).skips();
    nothing(call.callerSays('Wait, when do you open?').ordered('playout.clear 2'));
    call.rounds(1).llmIsAsked('assistant: So long, and thank', 'user: Wait, when do you open?');
    call.llmAnswers('At nine.').botSays('At nine.').botFinishes().botSays('you very much.').botPlays(300);
    call.callerSays('On Sundays?').rounds(2).llmAnswers('No.').botFinishes().botSays('much.');
    nothing(call.skips()).botFinishes().ordered('a done').ends('ended', 'command');
  }),

  dialogue('a goodbye into the farewell is not answered, and the rest of it ends the call', (begin) => {
    const call = begin().opens().tell(end('So long, and thank you.', 'a')).botPlays(700).callerBegins();
    call.callerInsists().callerStops().silenceEndsTheTurn().sttHears('Bye.').sttFinalizes().rounds(0);
    call.botSays('you.').botFinishes().ordered('a done').ends('ended', 'command');
  }),

  dialogue('who begins to speak as the farewell ends is answered before the call is ended', (begin) => {
    const call = begin().opens().tell(end('So long.', 'a')).botPlays(Infinity).drains().later(300);
    call.callerBegins().skips().later(200).ends(undefined).callerInsists().sttHears('One question.');
    call.callerStops().silenceEndsTheTurn().sttFinalizes().rounds(1).llmAnswers('Yes?').botFinishes();
    call.ordered('a done').ends('ended', 'command');
  }),

  dialogue('what seemed to be said as the farewell ended keeps no call open', (begin) => {
    const call = begin().opens().tell(end('So long.', 'a')).botPlays(Infinity).drains().later(300);
    call.callerBegins().callerStops().silenceEndsTheTurn().sttFinalizes().rounds(0);
    call.ordered('a done').ends('ended', 'command');
  }),

  dialogue('a key that interrupts the farewell begins an entry, which is answered', (begin) => {
    const call = begin().opens().tell(end('So long, and thank you.', 'a')).botPlays(700).skips();
    nothing(call.presses('4')).ends(undefined).presses('2#').rounds(1).llmAnswers('Thanks.').botFinishes();
    call.botSays('thank you.').botFinishes().ends('ended', 'command');
  }),

  dialogue('who types into the farewell is answered, and then hears the rest of it', (begin) => {
    const call = begin().opens().tell(end('So long, and thank you.', 'a')).botPlays(700).skips();
    call.tell(typed('When do you open?', 'b', { context: 1, sentMs: 700 })).ordered('b done');
    call.rounds(1).llmIsAsked('assistant: So long, and', 'user: When do you open?');
    call.llmAnswers('At nine.').botFinishes().botSays('thank you.').callerBegins().callerInsists();
    call.tell(typed('On Sundays?', 'c')).sttHears('And').callerStops().silenceEndsTheTurn().sttFinalizes();
    call.ordered('c done').rounds(2).llmAnswers('No.').botFinishes().botSays('thank you.').botFinishes();
    call.ordered('a done').ends('ended', 'command');
  }),

  dialogue('who interrupts a line before the farewell is answered, and hears the others', (begin) => {
    const call = begin()
      .opens()
      .tell(say('One, two, three.'))
      .tell(say('Four.', { id: 'b' }));
    call.tell(end('So long.', 'c')).botPlays(200).callerSays('What is two?').rounds(1);
    call.llmAnswers('A number.').botFinishes().botSays('Four.').ordered('b done').botFinishes();
    call.botSays('So long.').botFinishes().ordered('c done').ends('ended', 'command');
  }),

  dialogue(
    'the farewell of the agent comes behind an answer in which the LLM ends the call as well',
    (begin) => {
      const call = begin().opens().callerSays('Bye.').tell(end('So long.', 'a')).llmCalls('end_call');
      nothing(call.botSays('So long.').skips()).botFinishes().ordered('a done').ends('ended', 'command');
      const late = begin().opens().callerSays('Bye.').llmWrites('See you.').llmCalls('end_call');
      late.botPlays(100).tell(end('So long.', 'a')).botFinishes().botSays('So long.');
      late.botFinishes().ordered('a done').ends('ended', 'command');
      const none = begin().opens().callerSays('Bye.').tell(end('', 'a')).llmCalls('end_call');
      none.ordered('a done').without('tts.speak').ends('ended', 'command');
    },
  ),

  dialogue(
    'lines wait behind the goodbye of the LLM, and before the farewell where it said none',
    (begin) => {
      const said = begin().opens().callerSays('Bye.').tell(say('One.')).llmWrites('See you.');
      said.llmCalls('end_call').botSays('See you.').botFinishes().botSays('One.').botFinishes();
      said.ends('ended', 'agent');
      const wordless = begin().opens().callerSays('Bye.').tell(say('One.')).llmCalls('end_call');
      wordless.botSays('One.').botFinishes().botSays('Goodbye.').botFinishes().ends('ended', 'agent');
      const cut = begin().opens().callerSays('Bye.').tell(say('One, two.')).llmWrites('See you.');
      cut
        .llmCalls('end_call')
        .botFinishes()
        .botPlays(100)
        .callerSays('What is two?')
        .rounds(2)
        .ends(undefined);
      cut.llmAnswers('A number.').botFinishes().botSays('Goodbye.').botFinishes().ends('ended', 'agent');
    },
  ),

  dialogue('lines wait behind the farewell of an idle call, and the call ends behind them', (begin) => {
    const idle = { askAfterMs: 5_000, endAfter: 0, ask: 'Still there?' };
    const call = begin({ settings: { idle } }).opens().later(5_000).botSays('Goodbye.').botPlays(100);
    call.tell(say('One.')).botFinishes().botSays('One.').botFinishes().ends('ended', 'silence');
  }),

  dialogue('another worker knows what is left of a farewell', (begin) => {
    const call = begin().opens().tell(end('So long, and thank you.', 'a')).botPlays(700).callerSays('Wait.');
    call.workerIsLost().llmAnswers('Yes?').botFinishes().botSays('you.').botFinishes();
    call.ordered('a done').ends('ended', 'command');
  }),

  dialogue('a call is ended after 30 s, whoever speaks', (begin) => {
    const call = speaking(begin).tell(end('So long.', 'a')).later(29_999).skips();
    call.later(1).orders('a done', 'call.end ended').waitsForNothing();
  }),

  dialogue('an end is not forgotten by another worker', (begin) => {
    const call = speaking(begin).tell(end('So long.', 'a')).workerIsLost().skips();
    call.silenceEndsTheTurn().sttFinalizes().botSays('So long.').botFinishes().ordered('a done');
  }),

  dialogue('a call that is being ended takes no more commands', (begin) => {
    const call = speaking(begin)
      .tell(say('Wait.', { id: 'a' }))
      .tell(end('So long.', 'b'));
    call.orders().tell(end('', 'c')).orders('c refused call_ending');
    call.tell(say('Listen.', { id: 'd', interrupt: true })).orders('d refused call_ending');
    call.tell(edit({}, 'e')).tell(typed('Hm', 'f'));
    call.orders('e refused call_ending', 'f refused call_ending');
  }),

  dialogue('a farewell without sound ends the call all the same', (begin) => {
    const call = begin({ linesReady: false }).opens().tell(end('So long.', 'a')).botSays('So long.');
    call.tell({ type: 'playout.drained', context: 1, sentMs: 0 }).ordered('a done').ends('ended');
  }),

  dialogue('the service that stops ends the call before its farewell', (begin) => {
    const call = answering(begin).tell(end('So long.', 'a'));
    call.tell({ type: 'call.shutdown' }).orders('a done', 'call.end shutdown');
  }),

  // ---- typed text ----

  dialogue('typed text is a turn that is answered', (begin) => {
    const call = begin().opens().tell(typed('A table for two', 'a')).ordered('a done');
    call.llmIsAsked('user: A table for two').llmAnswers('At eight?').botSays('At eight?');
  }),

  dialogue('typed text interrupts the bot, and the context keeps what was heard', (begin) => {
    const call = begin()
      .opens()
      .callerSays('Go.')
      .llmAnswers('Alpha beta gamma delta.')
      .botPlays(550)
      .skips();
    call.tell(typed('Stop', 'a', { context: call.context, sentMs: 550 })).ordered('playout.clear 2');
    call.ordered('a done').llmIsAsked('user: Go.', 'assistant: Alpha beta', 'user: Stop');
  }),

  dialogue('what is typed while the caller speaks is part of that turn', (begin) => {
    const call = speaking(begin).tell(typed('for Kowalczyk', 'a')).orders().callerStops();
    call.silenceEndsTheTurn().sttFinalizes().ordered('a done').llmIsAsked('user: A table for Kowalczyk');
  }),

  dialogue('what is typed is answered although the noise beside it was none', (begin) => {
    const call = begin().opens().callerBegins().tell(typed('Hello', 'a')).callerStops();
    call.silenceEndsTheTurn().sttFinalizes().ordered('a done').llmIsAsked('user: Hello').rounds(1);
  }),

  dialogue('typed text waits for a line that may not be cut', (begin) => {
    const call = begin()
      .opens()
      .tell(say('This is recorded.', { interruptible: false }))
      .botPlays(100);
    nothing(call.tell(typed('Fine', 'a')))
      .botFinishes()
      .ordered('a done');
    call.llmIsAsked('assistant: This is recorded.', 'user: Fine');
  }),

  dialogue('the bot waits for the text of who speaks into it, and for what is typed', (begin) => {
    const call = answering(begin).callerBegins().callerInsists().sttGuesses('mm-hmm');
    nothing(call.tell(typed('Two people', 'a')))
      .sttHears('No,')
      .callerStops()
      .silenceEndsTheTurn();
    call.sttFinalizes().ordered('a done').llmIsAsked('user: Hm?', 'assistant: Well', 'user: No, Two people');
  }),

  dialogue('a typed yes answers the question of a tool', (begin) => {
    const tools = newToolBook({ tools: { pay: { ...effectTool, confirm: true } } });
    const call = begin({ settings: { tools } }).opens().callerSays('Pay.').llmCalls('pay').botFinishes();
    call.tell(typed('Yes', 'a')).running('pay').ordered('a done');
  }),

  dialogue('text without words, too long, or beyond eight is refused', (begin) => {
    const call = speaking(begin)
      .tell(typed(' ', 'a'))
      .tell(typed('x'.repeat(4_097), 'b'));
    for (let count = 1; count <= 8; count += 1) call.tell(typed(`Word ${count}`));
    call.tell(typed('Nine', 'c'));
    call.orders('a refused empty', 'b refused too_long', 'c refused queue_full');
  }),

  dialogue('a turn that is answered with the LLM asked early is asked again with what was typed', (begin) => {
    const turn = { ...speculative };
    const call = begin({ settings: { turn } }).opens().callerBegins().sttHears('One').callerStops().rounds(1);
    call.tell(typed('two', 'a')).silenceEndsTheTurn().sttFinalizes().rounds(2).llmIsAsked('user: One two');
  }),
];

const speculative = {
  minSpeechMs: 100,
  stopMs: 200,
  askEarlyMs: Infinity,
  silenceEndMs: 700,
  maxSilenceMs: 2_500,
  model: false,
  completeAt: 0.5,
  speculate: true,
} as const;
