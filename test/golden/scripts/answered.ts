/** How a call that the service made begins, once it is known who has answered: a person who spoke first, or a machine that listens. */
import { dialogue, type Dialogue } from '../../support/core/dialogue.ts';

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
    call.skips().callerBegins().callerInsists().presses('1').orders('stt.listen').botFinishes().ends('ended');
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
