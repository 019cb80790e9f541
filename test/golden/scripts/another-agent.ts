/** Handing the caller over to another agent of the team, within the call (docs/agents.md, Handing a call over). */
import assert from 'node:assert/strict';
import type { CallSettings } from '../../../worker/core/settings.ts';
import { dialogue, type Dialogue } from '../../support/core/dialogue.ts';
import { takesOver } from '../../support/core/given.ts';
import type { Script } from '../../support/core/script.ts';
import { effectTool, newToolBook } from '../../support/core/tool-book.ts';

type Begin = Parameters<Dialogue['play']>[0];
type Team = NonNullable<CallSettings['team']>;

const bookOf = (...names: string[]): CallSettings['tools'] => {
  const changing = { ...effectTool, repeatable: true, timeoutMs: 30_000, outlives: true } as const;
  const tools = Object.fromEntries(names.map((name) => [name, effectTool]));
  const book = newToolBook({ tools: { transfer_to_agent: changing, ...tools } });
  return {
    ...book,
    performerOf: (name) => (name === 'transfer_to_agent' ? 'core' : book.performerOf(name)),
  };
};

const desk = (team: Partial<Team> = {}): Partial<CallSettings> => ({
  prompt: 'You are the desk.',
  tools: bookOf('look_up'),
  team: { context: 'full', farewell: '', ...team },
});
const billing = { prompt: 'You are billing.', greeting: 'Billing here.', tools: bookOf('refund') };

const call = (id = 't1', more: object = {}) => ({
  name: 'transfer_to_agent',
  id,
  args: { agent: 'billing', ...more },
});

const said = (begin: Begin, team: Partial<Team> = {}, more: object = {}): Script =>
  begin({ settings: desk(team), echoMs: 20 })
    .opens()
    .callerSays('My invoice is wrong.')
    .llmWrites('I will put you through.')
    .llmCalls(call('t1', more));

const stateOf = (script: Script) => script.agents.map(({ state }) => state);

/** The rest that stands behind the line which the other agent begins with. */
const goOn =
  'note: Your last message is being said. Repeat nothing of it. If you know what the caller wants, go on with that. If not, answer with nothing.';
const handed = 'note: Another agent has handed the caller over to you.';

export const anotherAgent: readonly Dialogue[] = [
  dialogue('the other agent is made ready once the sentence was heard, and not before', (begin) => {
    const script = said(begin).botPlays(500);
    assert.deepEqual(stateOf(script), []);
    script.botFinishes();
    assert.deepEqual(stateOf(script), ['asked']);
    script.rounds(1);
  }),

  dialogue('the other agent greets and goes on, with its prompt and tools and all that was said', (begin) => {
    const script = said(begin).botFinishes().agentIsReady(billing);
    assert.deepEqual(stateOf(script), ['entered']);
    script.prompted('You are billing.').offers('end_call', 'transfer_to_agent', 'refund').rounds(2);
    script.llmSees(
      'user: My invoice is wrong.',
      'assistant: I will put you through.',
      handed,
      'assistant: Billing here.',
      goOn,
    );
    script.llmWrites('Which invoice is it?').llmIsDone().botSays('Billing here. Which invoice is it?');
    script.botFinishes().callerSays('Number seven.');
    script
      .prompted('You are billing.')
      .llmSees(
        'user: My invoice is wrong.',
        'assistant: I will put you through.',
        handed,
        'assistant: Billing here. Which invoice is it?',
        'user: Number seven.',
      );
  }),

  dialogue('summary: the other agent knows what the first one sums up, and nothing else', (begin) => {
    const script = said(begin, { context: 'summary' }, { summary: 'Invoice 7 is too high.' });
    script.botFinishes().agentIsReady({ ...billing, greeting: '' });
    script.llmSees(`${handed} It says of the conversation: Invoice 7 is too high.`);
  }),

  dialogue('none: the other agent greets, and waits for the caller', (begin) => {
    const script = said(begin, { context: 'none' }).botFinishes().agentIsReady(billing);
    script.rounds(1).botFinishes().botSays('Billing here.');
    script.callerSays('Hello?').llmSees('assistant: Billing here.', 'user: Hello?');
  }),

  dialogue('the farewell of the first agent is heard before', (begin) => {
    const script = said(begin, { farewell: 'My colleague takes over.' });
    script.botSays('I will put you through. My colleague takes over.').botPlays(1_300).later(100);
    assert.deepEqual(stateOf(script), []);
    script.botFinishes();
    assert.deepEqual(stateOf(script), ['asked']);
  }),

  dialogue('a caller who speaks before it stays with the agent, which may try again', (begin) => {
    const script = said(begin).botPlays(400).callerBegins().callerInsists().sttGuesses('No wait please.');
    script.callerStops().silenceEndsTheTurn().sttHears('No wait please.').sttFinalizes().later(1_000);
    assert.deepEqual(stateOf(script), []);
    script.prompted('You are the desk.').llmCalls(call('t2'));
    assert.deepEqual(stateOf(script), ['asked']);
  }),

  dialogue('a caller who speaks while the other one is made ready is answered by the first', (begin) => {
    const script = said(begin).botFinishes().callerBegins().callerInsists().sttGuesses('No wait please.');
    script.callerStops().silenceEndsTheTurn().sttHears('No wait please.').sttFinalizes();
    assert.deepEqual(stateOf(script), ['dismissed']);
    script.prompted('You are the desk.').agentIsReady(billing);
    assert.deepEqual(stateOf(script), ['dismissed']);
    script.llmWrites('Of course.').llmIsDone().botSays('Of course.').botFinishes();
  }),

  dialogue('an operator who takes the call keeps it, and the other agent does not come', (begin) => {
    const ways: readonly ((one: Script) => Script)[] = [
      (one) => one.tell(takesOver()).agentIsReady(billing),
      (one) =>
        one
          .tell(takesOver({ atOnce: true }))
          .later(8_000)
          .agentIsReady(billing),
      (one) => one.callerBegins().tell(takesOver()).agentIsReady(billing),
      (one) => one.callerBegins().tell(takesOver()).callerStops().silenceEndsTheTurn().agentIsReady(billing),
    ];
    for (const way of ways) {
      const script = way(said(begin).botFinishes().skips()).later(30_000);
      assert.deepEqual(stateOf(script), ['dismissed']);
      script.without('playout.open', 'tts.speak').rounds(1);
    }
  }),

  dialogue('an agent that is not there, or not ready in time: the first one is told and goes on', (begin) => {
    for (const miss of [(one: Script) => one.agentIsMissing(), (one: Script) => one.later(8_000)]) {
      const script = miss(said(begin).botFinishes());
      script.prompted('You are the desk.').rounds(2).llmWrites('Sorry, nobody is there.').llmIsDone();
      script.botFinishes().callerSays('Fine.').ends(undefined);
    }
  }),

  dialogue('what other tools of the round have found goes along', (begin) => {
    const script = begin({ settings: desk(), echoMs: 20 }).opens().callerSays('My invoice is wrong.');
    script.llmCalls({ name: 'look_up', id: 'l1' }, call());
    assert.deepEqual(stateOf(script), []);
    script.toolAnswers('look_up', 'seven').later(10);
    assert.deepEqual(stateOf(script), ['asked']);
    script.agentIsReady({ ...billing, greeting: '' });
    script.llmSees('user: My invoice is wrong.', 'assistant: -> look_up#l1', 'l1: seven', handed);
  }),

  dialogue(
    'a transition of a flow leads to the other agent, with what it collects as its summary',
    (begin) => {
      const next = [{ to: 'billing', isAgent: true, when: 'it is about money', collect: {} }] as const;
      const node = { prompt: 'You welcome.', say: '', tools: [], next, end: false };
      const flow = { start: 'welcome', nodes: { welcome: node } };
      const leading = { ...effectTool, repeatable: true, timeoutMs: 30_000, outlives: true } as const;
      const book = newToolBook({ tools: { hand_over_to_billing: leading } });
      const tools = { ...book, performerOf: () => 'core' as const };
      const team = { context: 'summary', farewell: '' } as const;
      const script = begin({ settings: { flow, tools, team }, echoMs: 20 }).opens().callerSays('Money.');
      script.prompted('You welcome.');
      script.llmCalls({ name: 'hand_over_to_billing', id: 'h1', args: { summary: 'It is about money.' } });
      assert.equal(script.agents[0]?.agent, 'billing');
      script.agentIsReady({ ...billing, greeting: '' }).prompted('You are billing.');
      script.llmSees(`${handed} It says of the conversation: It is about money.`);
    },
  ),

  dialogue('back again is possible, and loops are bounded', (begin) => {
    const script = said(begin).botFinishes();
    for (let count = 1; count < 12; count += 1) {
      script
        .agentIsReady({ ...desk(), greeting: '' })
        .llmCalls(call(`t${count + 1}`))
        .later(20);
      assert.equal(script.agents.length, count + 1);
    }
    script
      .agentIsReady({ ...desk(), greeting: '' })
      .llmCalls(call('t13'))
      .later(20);
    assert.equal(script.agents.length, 12);
    script.llmWrites('Then I help you.').llmIsDone().botFinishes().ends(undefined);
  }),

  dialogue('another worker asks for the agent again, and the call goes on with it', (begin) => {
    const script = said(begin).botFinishes().workerIsLost();
    assert.deepEqual(stateOf(script), ['asked', 'asked']);
    script.agentIsReady(billing).prompted('You are billing.');
    script.workerIsLost().prompted('You are billing.').llmWrites('Which one?').llmIsDone().botFinishes();
    script
      .callerSays('Seven.')
      .prompted('You are billing.')
      .offers('end_call', 'transfer_to_agent', 'refund');
  }),
];
