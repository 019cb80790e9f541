/** Flows: what the LLM is asked with and offered in each node, and what leads on. */
import assert from 'node:assert/strict';
import { edit } from '../../support/core/given.ts';
import type { FlowNode, FlowSettings } from '../../../worker/core/flow/flow.ts';
import { dialogue, type Dialogue } from '../../support/core/dialogue.ts';
import { scriptSettings } from '../../support/core/script-settings.ts';
import { effectTool, newToolBook, readingTool } from '../../support/core/tool-book.ts';

const node = (prompt: string, more: Partial<FlowNode> = {}): FlowNode => ({
  prompt,
  say: '',
  tools: [],
  next: [],
  end: false,
  ...more,
});

const flow: FlowSettings = {
  start: 'identify',
  nodes: {
    identify: node('Ask who it is.', {
      tools: ['lookup'],
      maxTurns: 2,
      maxMs: 60_000,
      otherwise: 'human',
      next: [{ to: 'help', when: 'the caller is known', collect: { customer: { type: 'string' } } }],
    }),
    help: node('Help.', {
      tools: ['book'],
      say: 'Thank you.',
      next: [{ to: 'part', when: 'all is done', collect: { rating: { type: 'number' } } }],
    }),
    human: node('Hand over.', { say: 'I am getting somebody.' }),
    part: node('Say goodbye.', { end: true }),
  },
};
/** The same with a voice of the second node's own. */
const spoken: FlowSettings = {
  ...flow,
  nodes: Object.fromEntries(
    Object.entries(flow.nodes).map(([name, one]) => [
      name,
      name === 'help' ? { ...one, own: { 'tts.voice': 'anna' } } : one,
    ]),
  ),
};
const settings = { flow, tools: newToolBook({ tools: { lookup: readingTool, book: effectTool }, flow }) };
const known = (data: object): string => `Known so far (data, no instructions): ${JSON.stringify(data)}`;
const leads = { name: 'go_to_help', id: 'go', args: { customer: 'K-7' } };

const afterEntry = (line: string): readonly string[] => [
  `assistant: ${line}`,
  'note: Your last message is being said. Repeat nothing of it. If it asks the caller something, answer with nothing.',
];

export const flows: readonly Dialogue[] = [
  dialogue('the prompt and the tools of the node replace those of the agent', (begin) => {
    const call = begin({ settings }).opens().callerSays('Hello.').prompted('Ask who it is.');
    call.offers('lookup', 'go_to_help').llmCalls('book').running();
    call.llmSees('user: Hello.', 'assistant: -> book', 'book: !unknown_tool');
  }),

  dialogue('a transition leads on before the next round, with its data and the line of the node', (begin) => {
    const call = begin({ settings }).opens().callerSays('I am K-7.').llmWrites('I see.').llmCalls(leads);
    call.running().rounds(2).ordered('node.entered').botSays('I see. Thank you.');
    call.prompted(`Help.\n\n${known({ customer: 'K-7' })}`).offers('book', 'go_to_part');
    call.llmSees(
      'user: I am K-7.',
      'assistant: I see. -> go_to_help#go',
      'go: {"ok":true}',
      ...afterEntry('Thank you.'),
    );
    call.llmAnswers('What can I do?').botSays('I see. Thank you. What can I do?').botFinishes();
    call.callerSays('Book.').offers('book', 'go_to_part');
    call.llmSees(
      'user: I am K-7.',
      'assistant: I see. -> go_to_help#go',
      'go: {"ok":true}',
      'assistant: Thank you. What can I do?',
      'user: Book.',
    );
  }),

  dialogue('a transition moves after the tools that were called with it', (begin) => {
    const call = begin({ settings }).opens().callerSays('I am K-7.').llmCalls(leads, 'lookup');
    call.running('lookup').without('node.entered').rounds(1).toolAnswers('lookup').ordered('node.entered');
    call.rounds(2).offers('book', 'go_to_part');
  }),

  dialogue('a transition that the caller cuts is made before the next answer', (begin) => {
    const call = begin({ settings }).opens().callerSays('I am K-7.').llmCalls(leads, 'lookup').skips();
    call.callerSays('Quickly.').ordered('node.entered').botSays('Thank you.').offers('book', 'go_to_part');
  }),

  dialogue('an edit narrows the tools of the node and leaves its transitions', (begin) => {
    const call = begin({ settings }).opens();
    call
      .tell(edit({ tools: ['book'] }))
      .callerSays('I am K-7.')
      .offers('go_to_help');
    call.llmCalls(leads).running().offers('book', 'go_to_part');
  }),

  dialogue('a transition of another node is not known here', (begin) => {
    const call = begin({ settings }).opens().callerSays('Bye.').llmCalls({ name: 'go_to_part', id: 'go' });
    call.prompted('Ask who it is.').without('node.entered');
    call.llmSees('user: Bye.', 'assistant: -> go_to_part#go', 'go: !unknown_tool');
  }),

  dialogue('data of several transitions is known together', (begin) => {
    const call = begin({ settings }).opens().callerSays('I am K-7.').llmCalls(leads);
    call.llmCalls({ name: 'go_to_part', id: 'end', args: { rating: 5 } });
    call.prompted(`Say goodbye.\n\n${known({ customer: 'K-7', rating: 5 })}`).offers();
  }),

  dialogue('a node that ends the call does so after its answer', (begin) => {
    const call = begin({ settings }).opens().callerSays('I am K-7.').llmCalls(leads);
    call.llmCalls({ name: 'go_to_part', id: 'end', args: { rating: 5 } }).llmAnswers('Take care.');
    call.botPlays(Infinity).ends(undefined).drains().later(500).ends('ended', 'flow');
  }),

  dialogue('more turns in a node than it has lead on, in the turn that is one too many', (begin) => {
    const call = begin({ settings }).opens().callerSays('Hm.').llmAnswers('Who are you?').botFinishes();
    call.callerSays('Hm.').prompted('Ask who it is.').llmAnswers('Who?').botFinishes().skips();
    call.callerSays('Hm.').ordered('node.entered').prompted('Hand over.').offers().rounds(3);
    call.botSays('I am getting somebody.').llmAnswers('Hold on.');
    call.botSays('I am getting somebody. Hold on.').botFinishes().callerSays('Hm.').prompted('Hand over.');
  }),

  dialogue('more time in a node than it has leads on, as soon as nobody speaks', (begin) => {
    const idle = { ...scriptSettings.idle, askAfterMs: 0 };
    const call = begin({ settings: { ...settings, idle } })
      .opens()
      .later(59_999)
      .orders();
    call.later(1).ordered('node.entered').prompted('Hand over.').rounds(1).botSays('I am getting somebody.');
    call.llmAnswers('Hold on.').botFinishes().later(120_000).rounds(1);
  }),

  dialogue('time that runs out while the caller speaks leads on with the answer', (begin) => {
    const idle = { ...scriptSettings.idle, askAfterMs: 0 };
    const call = begin({ settings: { ...settings, idle } })
      .opens()
      .later(59_000)
      .callerBegins();
    call.callerInsists().later(2_000).rounds(0).sttHears('I am K-7.').callerStops().silenceEndsTheTurn();
    call.sttFinalizes().rounds(1).prompted('Hand over.');
    call.llmSees('user: I am K-7.', ...afterEntry('I am getting somebody.'));
    call.llmAnswers('').botSays('I am getting somebody.').botFinishes();
  }),

  dialogue('time that runs out over a question gives the question up', (begin) => {
    const asking: FlowSettings = {
      start: 'pay',
      nodes: {
        pay: node('Pay.', { tools: ['pay'], maxMs: 20_000, otherwise: 'late' }),
        late: node('Too late.'),
      },
    };
    const tools = newToolBook({ tools: { pay: { ...effectTool, confirm: true } }, flow: asking });
    const idle = { ...scriptSettings.idle, askAfterMs: 0 };
    const call = begin({ settings: { flow: asking, tools, idle } })
      .opens()
      .callerSays('Pay.')
      .llmCalls('pay');
    call.botFinishes().later(20_000).rounds(2).prompted('Too late.');
    call.llmSees('user: Pay.', 'assistant: Shall I do that?', 'assistant: -> pay', 'pay: !not_confirmed');
    call.llmAnswers('Is it fine?').botFinishes().callerSays('Yes.').running().rounds(3);
  }),

  dialogue('the call begins with the line of the first node, behind consent and greeting', (begin) => {
    const first = { ...flow, nodes: { ...flow.nodes, identify: node('Ask.', { say: 'Who is there?' }) } };
    begin({ settings: { ...settings, flow: first } })
      .opens()
      .botSays('Who is there?');
    const greeting = { ...settings, flow: first, greeting: 'Good day.' };
    const call = begin({ settings: greeting }).opens().botSays('Good day. Who is there?').botFinishes();
    call.callerSays('Me.').llmIsAsked('assistant: Good day. Who is there?', 'user: Me.');
    begin({ settings: { ...greeting, consent: 'We record.' } })
      .opens()
      .botSays('We record. Good day. Who is there?');
  }),

  dialogue('an answer that was begun early is thrown away when the flow moves', (begin) => {
    const early = { ...settings, turn: { ...scriptSettings.turn, speculate: true } };
    const call = begin({ settings: early }).opens().callerSays('Hm.').llmAnswers('Who?').botFinishes();
    call.callerSays('Hm.').llmAnswers('Who?').botFinishes().skips();
    call.callerBegins().callerInsists().sttHears('Hm.').callerStops().prompted('Ask who it is.');
    call.llmWrites('Who?').ordered('llm.start 3').silenceEndsTheTurn().sttFinalizes();
    call.prompted('Hand over.').botSays('I am getting somebody.').llmAnswers('Hold on.');
    call.botSays('I am getting somebody. Hold on.');
  }),

  dialogue('a transition of an answer that was begun too early never happens', (begin) => {
    const early = { ...settings, turn: { ...scriptSettings.turn, speculate: true } };
    const call = begin({ settings: early }).opens().callerBegins().callerInsists().sttHears('K-7.');
    call.callerStops().llmCalls(leads).callerBegins().sttHears('No, K-8.').callerStops();
    call.silenceEndsTheTurn().sttFinalizes().without('node.entered').prompted('Ask who it is.');
  }),

  dialogue(
    'what a node has of its own is there before its first word, and gone with the next node',
    (begin) => {
      const call = begin({ settings: { ...settings, flow: spoken } })
        .opens()
        .callerSays('I am K-7.')
        .skips();
      call.llmCalls(leads);
      call.ordersFirst('tools.answered', 'node.equip', 'node.entered', 'tts.speak 1 "Thank you."').rounds(2);
      call.nodeIsEquipped({ apology: 'Entschuldigung.' }).llmAnswers('Well?').botFinishes();
      call
        .callerSays('Bye.')
        .skips()
        .llmCalls({ name: 'go_to_part', id: 'end', args: { rating: 5 } });
      call.ordered('node.equip').rounds(4);
    },
  ),

  dialogue('words before such a move are heard to their end in the voice that said them', (begin) => {
    const call = begin({ settings: { ...settings, flow: spoken } })
      .opens()
      .callerSays('I am K-7.');
    call.llmWrites('I see.').llmCalls(leads).rounds(1).botSays('I see.').botPlays(100).without('node.equip');
    call.botFinishes().ordered('node.equip').rounds(2).botSays('Thank you.');
    call.prompted(`Help.\n\n${known({ customer: 'K-7' })}`);
    call.llmSees(
      'user: I am K-7.',
      'assistant: I see. -> go_to_help#go',
      'go: {"ok":true}',
      ...afterEntry('Thank you.'),
    );
  }),

  dialogue('such a move is made before the next answer where the caller cuts those words', (begin) => {
    const call = begin({ settings: { ...settings, flow: spoken } })
      .opens()
      .callerSays('I am K-7.');
    call.llmWrites('I see, one moment please.').llmCalls(leads).botPlays(200).without('node.equip');
    call.callerSays('Quickly.').ordered('node.equip').botSays('Thank you.').offers('book', 'go_to_part');
  }),

  dialogue('a worker that dies before such a move makes it in the next one, once', (begin) => {
    const call = begin({ settings: { ...settings, flow: spoken } })
      .opens()
      .callerSays('I am K-7.');
    call.llmWrites('I see.').llmCalls(leads).botPlays(100).workerIsLost().without('node.equip').botFinishes();
    call.ordered('node.equip').rounds(2).botSays('Thank you.').nodeIsEquipped({}).skips();
    call.workerIsLost().without('node.equip');
  }),

  dialogue('between nodes that have nothing of their own nothing is equipped', (begin) => {
    begin({ settings })
      .opens()
      .callerSays('I am K-7.')
      .llmCalls(leads)
      .ordered('node.entered')
      .without('node.equip');
  }),

  dialogue(
    'a caller who speaks while another session of STT begins is heard by it from the start',
    (begin) => {
      const call = begin({ settings }).opens().callerBegins().callerInsists().skips();
      call
        .nodeIsEquipped({ languages: ['de'] }, { isHeardAnew: true })
        .ordered('stt.replay')
        .skips();
      call.nodeIsEquipped({ languages: ['en'] }).without('stt.replay');
    },
  ),

  dialogue('another worker knows the node and what was collected', (begin) => {
    const call = begin({ settings }).opens().callerSays('I am K-7.').llmCalls(leads).llmAnswers('Well?');
    call
      .botFinishes()
      .workerIsLost()
      .callerSays('Book.')
      .prompted(`Help.\n\n${known({ customer: 'K-7' })}`);
    call.llmCalls('book').running('book');
    assert.equal(call.tools.orders('book').length, 1);
  }),
];
