/** A whole call is saved: each bound is told where it is met, and all of them together fit into the record of a call. */
import { describe, expect, it } from 'vitest';
import { vocabularyOf } from '../../../shared/languages/vocabulary.ts';
import { mostAnswerBytes } from '../../../shared/agents/before-call-answer.ts';
import { agentLinkBacklog, agentLinkLimits } from '../../../shared/agent-link/limits.ts';
import {
  callRecordBytes,
  CallRecords,
  historyBytes,
  stateBytes,
} from '../../../shared/protocol/call-record.ts';
import { noteEdit } from '../../../worker/core/answer/edits.ts';
import { newResponse, newRespelling, writeText } from '../../../worker/core/answer/response.ts';
import {
  longestAnswerChars,
  mostEditBytes,
  mostFlowBytes,
  mostToolBytes,
  savedBytes,
} from '../../../worker/core/bounds.ts';
import { longestTextChars, mostWaiting } from '../../../worker/core/commands.ts';
import { addMessages, addUser, newHistory } from '../../../worker/core/delivery/history.ts';
import { encodeHistory, encodeState } from '../../../worker/core/snapshot.ts';
import { newCall } from '../../../worker/core/state.ts';
import {
  comparable,
  newToolState,
  roomLeft,
  type ToolState,
} from '../../../worker/core/tools/tools-state.ts';
import type { RequestedCall, ToolAction, ToolRule } from '../../../worker/core/tools/tools-state.ts';
import { stepTools } from '../../../worker/core/tools/tools.ts';
import { scriptSettings } from '../../support/core/script-settings.ts';

const rule: ToolRule = {
  kind: 'side_effect',
  timeoutMs: 5_000,
  fillerAfterMs: 0,
  confirm: false,
  repeatable: true,
};
const settings = {
  maxRounds: 8,
  fillerAfterMs: 0,
  ruleOf: () => rule,
  validate: (_name: string, text: string) => ({ ok: true, canonical: text }) as const,
};

/** An answer that asks for a tool once more, and what the tool says. */
function ask(state: ToolState, calls: readonly RequestedCall[], results: readonly string[]): ToolAction[] {
  const take = (event: Parameters<typeof stepTools>[1]): ToolAction[] =>
    stepTools(state, event, { settings, now: 0 });
  const orders = take({ type: 'round.completed', epoch: 1, finish: 'tool_calls', offered: ['t'], calls });
  const keys = orders.flatMap((order) => (order.type === 'tool.run' ? [order.key] : []));
  return keys.flatMap((key, index) =>
    take({
      type: 'tool.settled',
      key,
      attempt: 1,
      outcome: { kind: 'result', text: results[index] ?? '' },
    }),
  );
}

const call = (id: string, args = '{}'): RequestedCall => ({ id, name: 't', arguments: args });

function pairsOf(orders: readonly ToolAction[]): readonly { call: RequestedCall; text: string }[] {
  const next = orders.find((order) => order.type === 'round.next');
  return next?.type === 'round.next' ? next.pairs : [];
}

describe('the tools of one answer', () => {
  it('may say as much as there is room for, and not a byte more', () => {
    for (const over of [0, 1]) {
      const state = newToolState('s');
      // Two quotation marks stand around the text, and of the call itself there is room as well.
      const text = 'r'.repeat(roomLeft(state) - savedBytes(call('c1')) - 2 + over);
      const [pair] = pairsOf(ask(state, [call('c1')], [text]));
      expect(pair?.text).toBe(
        over === 0
          ? text
          : '{"error":{"code":"results_too_large","message":"the calls of one answer and their results may have 192 KiB together; ask for less"}}',
      );
    }
  });

  it('have room for three results of the largest size in one answer, and are told of the fourth', () => {
    const state = newToolState('s');
    const large = 'r'.repeat(65_000);
    const texts = ['a', 'b', 'c', 'd'].map((id) => pairsOf(ask(state, [call(id)], [large]))[0]?.text ?? '');
    expect(texts.map((text) => (text === large ? 'whole' : 'told'))).toEqual([
      'whole',
      'whole',
      'whole',
      'told',
    ]);
  });

  it('are told of arguments that do not fit, which stand nowhere then', () => {
    const state = newToolState('s');
    const large = `{"a":"${'x'.repeat(65_000)}"}`;
    const pairs = pairsOf(
      ask(
        state,
        ['a', 'b', 'c', 'd'].map((id) => call(id, large)),
        [],
      ),
    );
    expect(
      pairs.map(({ text, call: { arguments: args } }) => [args.length, text.includes('too_large')]),
    ).toEqual([
      [large.length, false],
      [large.length, false],
      [large.length, false],
      [2, true],
    ]);
  });

  it('have their room again in the next answer', () => {
    const state = newToolState('s');
    ask(state, [call('a')], ['r'.repeat(mostToolBytes - 200)]);
    expect(roomLeft(state)).toBeLessThan(300);
    stepTools(state, { type: 'epoch.moved', epoch: 2 }, { settings, now: 0 });
    expect(roomLeft(state)).toBeGreaterThan(mostToolBytes - 10);
  });

  it('are told apart by long arguments, too', () => {
    const long = 'x'.repeat(1_000);
    expect(comparable(`${long}1`)).not.toBe(comparable(`${long}2`));
    expect(comparable(`${long}1`)).toBe(comparable(`${long}1`));
    expect(comparable(long).length).toBeLessThan(64);
  });
});

describe('the history of a call', () => {
  it('is what is saved, however much was said: the oldest go, and calls with their results', () => {
    const history = newHistory();
    for (let turn = 0; turn < 40; turn += 1) {
      addUser(history, `question ${turn}`);
      addMessages(history, [
        { role: 'assistant', text: '', toolCalls: [call(`c${turn}`)] },
        { role: 'tool', callId: `c${turn}`, name: `t`, text: 'r'.repeat(20_000) },
        { role: 'assistant', text: `answer ${turn}` },
      ]);
    }
    const saved = JSON.parse(encodeHistory(history, historyBytes)) as unknown[];
    expect(saved).toEqual(history.messages);
    expect(history.messages.length).toBeGreaterThan(45);
    expect(history.messages[0]?.role).not.toBe('tool');
    expect(history.messages.at(-1)).toEqual({ role: 'assistant', text: 'answer 39' });
    expect(history.bytes).toBeLessThanOrEqual(historyBytes);
  });

  it('loses nothing up to its bound, and the oldest message one byte above', () => {
    const history = newHistory();
    addUser(history, 'the first');
    const message = { role: 'user', text: '' } as const;
    // With the comma behind it.
    addUser(history, 'x'.repeat(historyBytes - history.bytes - savedBytes(message) - 1));
    expect([history.messages.length, history.bytes]).toEqual([2, historyBytes]);
    addUser(history, '');
    expect(history.messages.map(({ text }) => text === 'the first')).toEqual([false, false]);
  });
});

describe('what a call is made with', () => {
  it('is saved, also where everybody who may say something of it says as much as may be', () => {
    const memory = new ArrayBuffer(callRecordBytes({ slots: 1 }));
    const record = new CallRecords([memory], { slots: 1 }).record(0);
    record.begin(7);
    record.opened();
    const order = 32 * 1024;
    // For each tool of an agent process, what a file would say of it.
    const filledIn = agentLinkLimits.tools * 256;
    const setup = 'x'.repeat(agentLinkLimits.messageBytes + mostAnswerBytes + order + filledIn);
    record.keepSetup(setup);
    record.save('state', '[]');
    expect([record.left(7), record.read().setup.length]).toEqual(['open', setup.length]);
  });
});

describe('edits that wait', () => {
  it('have a bound in bytes beside that of their number', () => {
    const edits = newCall(scriptSettings).conversation.edits;
    const edit = { systemPrompt: 'p'.repeat(mostEditBytes / 2 - 19) };
    expect([noteEdit(edits, edit), noteEdit(edits, edit), noteEdit(edits, { systemPrompt: '' })]).toEqual([
      true,
      true,
      false,
    ]);
  });
});

describe('a call that holds all that it may', () => {
  it('fits into its record', () => {
    const state = newCall({
      ...scriptSettings,
      flow: { start: 'a', nodes: { a: { prompt: '', say: '', tools: [], next: [], end: false } } },
    });
    const { edits, flow } = state.conversation;
    edits.prompt = 'ü'.repeat(agentLinkLimits.systemPromptBytes / 2);
    edits.pending.push({ systemPrompt: 'x'.repeat(mostEditBytes) });
    Object.assign(flow?.data ?? {}, { collected: 'x'.repeat(mostFlowBytes) });
    for (let line = 0; line < mostWaiting; line += 1) {
      state.commands.lines.push({
        id: undefined,
        text: '語'.repeat(longestTextChars),
        interruptible: true,
        cuts: false,
      });
      state.commands.texts.push({ id: undefined, text: '語'.repeat(longestTextChars) });
    }
    state.tools.cutPairs.push({ call: call('c'), text: 'r'.repeat(mostToolBytes) });
    const response = newResponse({
      ...{ epoch: 1, context: 1, source: 'answer', interruptible: true, owedSince: 0, msPerChar: 60 },
      ...{ isSilent: false, now: 0 },
    });
    const sentence = `${'語'.repeat(60)}。`;
    const voice = { pronounce: newRespelling({}), sentences: vocabularyOf(['en']).sentences, actions: [] };
    for (let said = 0; said < 2 * longestAnswerChars; said += sentence.length)
      writeText(response, sentence, voice);
    response.writing.expected = response.writing.text;
    state.delivery.response = response;
    expect(response.writing.text.length).toBeGreaterThan(longestAnswerChars - sentence.length);
    expect(response.writing.text.length).toBeLessThanOrEqual(longestAnswerChars);
    // Beside it stand the agent link's messages that are kept, as text in JSON, and what the call came with.
    const link = 2 * agentLinkBacklog.replayBytes;
    const start = 16_384;
    expect(Buffer.byteLength(encodeState(state)) + link + start).toBeLessThan(stateBytes);
  });
});
