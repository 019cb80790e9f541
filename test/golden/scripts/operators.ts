/** An operator takes a call over from the agent, speaks to the caller, and hands it back (docs/monitoring-calls.md). */
import assert from 'node:assert/strict';
import { dialogue, type Dialogue } from '../../support/core/dialogue.ts';
import {
  edit,
  end,
  handsBack,
  operatorLeaves,
  operatorSays,
  say,
  takesOver,
  typed,
} from '../../support/core/given.ts';
import type { Script } from '../../support/core/script.ts';
import { effectTool, newToolBook } from '../../support/core/tool-book.ts';

type Begin = Parameters<Dialogue['play']>[0];

const took = 'operator.took_over';
const taken =
  'note: A person of your side has taken the call over and speaks to the caller now, in your place. What follows is said without you.';
const back =
  'note: The call is yours again. Go on with the caller from here, and repeat nothing of what was said.';

/** The agent is in the middle of its first sentence of two. */
const answering = (begin: Begin): Script =>
  begin().opens().callerSays('Hm?').llmWrites('It opens at nine. It closes at five. ').botPlays(300).skips();

/** An operator speaks to a caller who has said something. */
const takenOver = (begin: Begin): Script =>
  begin().opens().callerSays('Hm?').llmAnswers('Well.').botFinishes().tell(takesOver()).ordered(took).skips();

export const operators: readonly Dialogue[] = [
  dialogue('the agent comes to the end of its sentence, and says no more', (begin) => {
    const call = answering(begin).tell(takesOver()).orders();
    call.botPlays(600).ordered(took).ordered('playout.clear 2 unheard').ordered('llm.cancel').skips();
    call.later(60_000).orders();
    call.tell(handsBack()).llmSees('user: Hm?', 'assistant: It opens at nine.', taken, back);
  }),

  dialogue('at once it is cut, and the caller hears the operator', (begin) => {
    const call = answering(begin);
    const position = { context: call.context, sentMs: 300 };
    call
      .tell(takesOver({ atOnce: true, position }))
      .ordered(took)
      .ordered('playout.clear 2')
      .skips();
    call.tell(handsBack()).llmSees('user: Hm?', 'assistant: It', taken, back);
  }),

  dialogue('of an answer that nobody has heard yet nothing is said', (begin) => {
    const call = begin().opens().callerSays('Hm?').llmWrites('It opens at nine. ').tell(takesOver());
    call.ordered(took).ordered('llm.cancel').skips().later(30_000).orders();
    call.tell(handsBack()).llmSees('user: Hm?', taken, back);
  }),

  dialogue('a sentence without an end is cut after six seconds', (begin) => {
    const text = 'and then we go on and on and on and on, '.repeat(10);
    const call = begin().opens().callerSays('Hm?').llmWrites(text).botPlays(300).skips().tell(takesOver());
    call.orders().botPlays(5_900).without(took).botPlays(200).ordered(took);
  }),

  dialogue('a caller who cuts in does not keep the operator waiting', (begin) => {
    const call = answering(begin).tell(takesOver()).callerBegins().callerInsists().sttHears('But');
    call.ordered(took).skips().callerStops().silenceEndsTheTurn().sttFinalizes().without('llm.start');
  }),

  dialogue('turns of the caller end, are kept, and nobody answers them', (begin) => {
    const call = takenOver(begin).callerSays('Are you a person?').callerSays('Good.').rounds(1);
    call.without('llm.start', 'playout.open', 'tts.speak').later(120_000).orders();
    call
      .tell(operatorSays('Yes, I am.'))
      .callerSays('My order is late.')
      .tell(handsBack({ note: 'Look it up.' }));
    call.llmSees(
      'user: Hm?',
      'assistant: Well.',
      taken,
      'user: Are you a person?',
      'user: Good.',
      'note: The person of your side said to the caller: "Yes, I am."',
      'user: My order is late.',
      `${back} Note of the person: Look it up.`,
    );
  }),

  dialogue('a line takes the place of an answer when the call is handed back', (begin) => {
    const call = takenOver(begin)
      .tell(handsBack({ say: 'I am back.' }))
      .ordered('operator.handed_back handed_back');
    call.botSays('I am back.').rounds(1).botFinishes().callerSays('Fine.').rounds(2);
  }),

  dialogue('a caller who speaks as the call is handed back is answered then', (begin) => {
    const call = takenOver(begin).callerBegins().sttHears('So what now?').tell(handsBack()).rounds(1);
    call.callerStops().silenceEndsTheTurn().sttFinalizes().rounds(2);
    call.llmSees('user: Hm?', 'assistant: Well.', taken, back, 'user: So what now?');
  }),

  dialogue('lines, keys, typed words and results of tools wait for the agent', (begin) => {
    const tools = newToolBook({ tools: { book: effectTool } });
    const call = begin({ settings: { tools } }).opens().callerSays('Hm?').llmCalls('book');
    call.tell(takesOver()).ordered(took).skips().toolAnswers('book', 'found');
    call
      .tell(say('News.', { id: 'news' }))
      .presses('12#')
      .tell(typed('Hello?', 'typed'));
    call.ordered('typed done').without('llm.start', 'playout.open').later(60_000).orders();
    call
      .tell(handsBack({ say: 'Back.' }))
      .botSays('Back.')
      .botFinishes();
    call.llmAnswers('It is booked.').botFinishes().botSays('News.').ordered('news done').botFinishes();
    call.callerSays('And?');
    const seen = call.request.map(({ text }) => text).join('\n');
    for (const part of ['found', '12', 'Hello?']) assert.ok(seen.includes(part), part);
  }),

  dialogue('a tool that still runs when the call is handed back is told of when it is done', (begin) => {
    const tools = newToolBook({ tools: { book: effectTool } });
    const call = begin({ settings: { tools } }).opens().callerSays('Hm?').llmCalls('book');
    call.tell(takesOver()).ordered(took).skips().callerSays('Hello?');
    call
      .tell(handsBack({ note: 'Wait for it.' }))
      .rounds(2)
      .llmAnswers('One moment.')
      .botFinishes();
    call.toolAnswers('book', 'found').llmAnswers('It is booked.').botFinishes();
    const seen = call.request.map(({ text }) => text).join('\n');
    for (const part of ['found', 'Hello?', 'Wait for it.']) assert.ok(seen.includes(part), part);
  }),

  dialogue('a whisper while the operator speaks is known to the agent when it goes on', (begin) => {
    const call = takenOver(begin).tell(edit({ append: [{ role: 'system', text: 'Offer tea.' }] }));
    call.orders().tell(handsBack());
    const seen = call.request.map(({ text }) => text).join('\n');
    assert.ok(seen.includes('Offer tea.'), seen);
  }),

  dialogue('a caller who is silent is not asked whether anybody is there', (begin) => {
    takenOver(begin).later(300_000).orders().ends(undefined);
  }),

  dialogue('an operator who is gone for two seconds leaves the caller to the agent', (begin) => {
    const call = takenOver(begin).tell(operatorLeaves()).later(1_900).orders();
    call.later(200).ordered('operator.handed_back lost').botSays('I am with you again.').rounds(1);
    call.botFinishes().callerSays('Good.').rounds(2);
  }),

  dialogue('an operator who is back in time goes on', (begin) => {
    const call = takenOver(begin).tell(operatorLeaves()).later(1_500).tell(takesOver()).orders();
    call.later(60_000).orders().tell(handsBack()).rounds(2);
  }),

  dialogue('an operator who leaves before the sentence has ended has changed nothing', (begin) => {
    const call = answering(begin).tell(takesOver()).tell(operatorLeaves());
    call.llmIsDone().botFinishes().without(took).later(5_000).orders().callerSays('Good.').rounds(2);
  }),

  dialogue('the call stays with the operator when its worker is lost', (begin) => {
    const call = takenOver(begin).callerSays('One.').workerIsLost().skips();
    call.callerSays('Two.').without('llm.start', 'playout.open').tell(takesOver()).later(30_000).orders();
    call.tell(handsBack()).llmSees('user: Hm?', 'assistant: Well.', taken, 'user: One.', 'user: Two.', back);
  }),

  dialogue('the agent goes on in another worker where no operator comes back', (begin) => {
    const call = takenOver(begin).workerIsLost().skips().later(1_900).orders();
    call.later(200).ordered('operator.handed_back lost').botSays('I am with you again.');
  }),

  dialogue('who had only asked for the call asks again in another worker', (begin) => {
    const call = answering(begin).tell(takesOver()).workerIsLost().skips();
    call.llmIsAsked('user: Hm?').llmAnswers('It opens at nine. It closes at five.').botFinishes();
    call.without(took).callerSays('Good.').rounds(3);
  }),

  dialogue('the agent takes leave when the time of the call is over', (begin) => {
    const call = begin({ settings: { maxCallMs: 20_000 } })
      .opens()
      .tell(takesOver())
      .ordered(took);
    call.later(20_000).ordered('operator.handed_back ending').botSays('Goodbye.').botFinishes();
    call.ends('ended', 'time_limit');
  }),

  dialogue('the call can be ended while an operator speaks', (begin) => {
    const call = takenOver(begin).tell(end('So long.', 'a')).botSays('So long.').botFinishes();
    call.ordered('a done').ends('ended', 'command');
  }),

  dialogue('a greeting that is owed is the operator’s', (begin) => {
    const call = begin({ settings: { greeting: 'Hello!' } });
    call.callerBegins().tell({ type: 'call.opened' }).tell(takesOver()).ordered(took).skips();
    call.sttHears('Hello?').callerStops().silenceEndsTheTurn().sttFinalizes();
    call.without('playout.open', 'tts.speak').tell(handsBack()).llmSees(taken, 'user: Hello?', back);
  }),

  dialogue('a farewell that the operator cuts ends no call', (begin) => {
    const call = begin({ settings: { tools: newToolBook({ endCall: true }) } })
      .opens()
      .callerSays('Bye.');
    call
      .llmWrites('Goodbye, then. ')
      .llmCalls('end_call')
      .botPlays(200)
      .tell(takesOver({ atOnce: true }));
    call.ordered(took).later(60_000).ends(undefined).tell(handsBack()).rounds(2);
  }),

  dialogue('nothing is handed back that was not taken, and nobody takes a call that ends', (begin) => {
    const call = begin().opens().tell(handsBack()).orders('operator refused already_done');
    call.tell(operatorSays('  ')).orders('operator refused empty');
    answering(begin).tell(end('Bye.')).tell(takesOver()).orders('operator refused call_ending');
  }),
];
