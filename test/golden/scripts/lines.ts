/** Lines that somebody else wants the agent to say: when they wait, what they cut, and what becomes of what they cut. */
import { dialogue, type Dialogue } from '../../support/core/dialogue.ts';
import { msPerChar } from '../../support/core/scripted-audio.ts';
import type { Script } from '../../support/core/script.ts';
import { say } from '../../support/core/given.ts';

const line = (
  call: Script,
  text: string,
  { interrupt = false, interruptible = true, sentMs = 0 } = {},
): Script => call.tell(say(text, { interrupt, interruptible, position: { context: call.context, sentMs } }));

export const lines: readonly Dialogue[] = [
  dialogue('a line is spoken when nobody speaks, as a bot turn of its own', (begin) => {
    const call = line(begin().opens(), 'Your taxi is here.');
    call.orders('playout.open 1', 'tts.speak 1 "Your taxi is here."', 'tts.flush 1').botFinishes();
    call.callerSays('Thanks.').llmIsAsked('assistant: Your taxi is here.', 'user: Thanks.');
  }),

  dialogue('lines wait for the response, and come in order', (begin) => {
    const call = begin().opens().callerSays('Hm?').llmAnswers('Well.').skips();
    line(line(call, 'First.'), 'Second.')
      .orders()
      .botFinishes()
      .botSays('First.')
      .botFinishes()
      .botSays('Second.');
  }),

  dialogue('lines wait while the caller speaks, also those that interrupt', (begin) => {
    const call = begin().opens().callerBegins().skips();
    line(call, 'Now.', { interrupt: true }).later(3_000).orders().callerStops().silenceEndsTheTurn();
    call.sttFinalizes().botSays('Now.');
  }),

  dialogue('an interrupting line cuts the response and replaces the lines that wait', (begin) => {
    const call = begin()
      .opens()
      .callerSays('Go.')
      .llmAnswers('Alpha beta gamma delta.')
      .botPlays(11 * msPerChar);
    line(call, 'Left out.').skips();
    line(call, 'Listen.', { interrupt: true, sentMs: 11 * msPerChar });
    call.ordered('playout.clear 2').botSays('Listen.').botFinishes().skips().later(5_000).orders();
    call
      .callerSays('Yes?')
      .llmIsAsked('user: Go.', 'assistant: Alpha beta', 'assistant: Listen.', 'user: Yes?');
  }),

  dialogue('a line that cuts when the caller falls silent knows how much was heard', (begin) => {
    const call = begin().opens();
    line(call, 'Alpha beta gamma delta.', { interruptible: false })
      .botPlays(11 * msPerChar)
      .callerBegins();
    line(call, 'Listen.', { interrupt: true, sentMs: 11 * msPerChar }).later(200);
    call.tell({ type: 'speech.stopped', position: { context: call.context, sentMs: 11 * msPerChar } });
    call.sttFinalizes().botSays('Listen.').botFinishes().callerSays('Yes?');
    call.llmIsAsked('assistant: Alpha beta', 'assistant: Listen.', 'user: Yes?');
  }),

  dialogue('an answer of which nobody has heard anything comes after the line that cut it', (begin) => {
    const call = line(begin().opens().callerSays('Hm?'), 'Listen.', { interrupt: true }).botSays('Listen.');
    call
      .botFinishes()
      .rounds(2)
      .llmIsAsked('user: Hm?', 'assistant: Listen.')
      .llmAnswers('Well.')
      .botSays('Well.');
  }),

  dialogue('the ninth line that waits is left out', (begin) => {
    const call = begin().opens().callerBegins().skips();
    for (let count = 1; count <= 8; count += 1) line(call, `Line ${count}.`);
    line(call.orders(), 'One too many.').orders('say refused queue_full');
  }),

  dialogue('a farewell is not cut by a line, which is said behind it', (begin) => {
    const call = begin().opens().callerSays('Bye.').llmCalls('end_call').botPlays(100).skips();
    line(call, 'Listen.', { interrupt: true, sentMs: 100 }).orders().botFinishes().ends(undefined);
    call.botSays('Listen.').botFinishes().ends('ended', 'agent');
  }),

  dialogue('a line without words is none', (begin) => {
    line(begin().opens(), '  ').orders('say refused empty');
  }),
];

/** How a call that the service made begins, once it is known who has answered. */
const greeting = 'Hello, this is Blue Door.';
const spoke = { type: 'call.opened', afterWords: true } as const;
const message = { type: 'call.opened', message: 'Please call us back.' } as const;

export const answered: readonly Dialogue[] = [
  dialogue('a person who spoke first is greeted in answer, and the next answer knows the words', (begin) => {
    const call = begin({ settings: { greeting } }).tell(spoke).orders();
    call.callerSays('Hello?').botSays(greeting).botFinishes();
    call.callerSays('What is it?').llmSees('user: Hello?', `assistant: ${greeting}`, 'user: What is it?');
  }),

  dialogue('a person in whose words VAD or STT finds none is greeted all the same', (begin) => {
    const call = begin({ settings: { greeting } }).tell(spoke);
    call.later(1_499).orders().later(1).botSays(greeting).botFinishes();
    const other = begin({ settings: { greeting } }).tell(spoke);
    other.callerBegins().callerStops().silenceEndsTheTurn().sttFinalizes().botSays(greeting);
  }),

  dialogue('a person who spoke first is answered by an agent without a greeting', (begin) => {
    begin({ settings: { greeting: '' } })
      .tell(spoke)
      .callerSays('Hello?')
      .llmSees('user: Hello?');
  }),

  dialogue('a greeting that is owed outlives the worker', (begin) => {
    const call = begin({ settings: { greeting } }).tell(spoke).later(500);
    call.workerIsLost().later(1_500).botSays(greeting);
  }),

  dialogue('a machine hears its message, which nothing interrupts, and the call ends', (begin) => {
    const call = begin({ settings: { greeting } })
      .tell(message)
      .botSays('Please call us back.')
      .botPlays(100);
    call.skips().callerBegins().callerInsists().presses('1').orders().botFinishes().ends('ended');
  }),

  dialogue('a machine whose message cannot be spoken is not talked with', (begin) => {
    const call = begin({ settings: { greeting } }).tell(message).ttsFails().ttsFails();
    call.later(60_000).ends('ended');
  }),

  dialogue('a message is said once although the worker dies over it', (begin) => {
    const call = begin().tell(message).botPlays(300).workerIsLost();
    call.botFinishes().ends('ended');
  }),
];
