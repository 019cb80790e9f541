/** Each row of the tables of docs/reference/agent-link.md, Agent to service, Service to agent, Errors and Limits, on the machine of the link. */
import { describe, expect, it } from 'vitest';
import { agentLinkErrors } from '../../../shared/agent-link/errors.ts';
import { conversationEventSchemas } from '../../../shared/agent-link/events.ts';
import { agentLinkBacklog, agentLinkLimits, agentLinkTimes } from '../../../shared/agent-link/limits.ts';
import { serviceMessageSchemas } from '../../../shared/agent-link/service-messages.ts';
import type { ConversationEvent } from '../../../worker/core/told.ts';
import { commandsOf, kinds, LinkDriver, written } from '../../support/link-driver.ts';

const active = () => new LinkDriver().accepted();
const refusal = (message: unknown) => written(active().says(message));
const failed = (code: string, message: string) => ({ ok: false, error: { code, message } });

/** So many arrays within one another, to be cut out of its quotes: the writer of JSON would have no stack for it. */
const deep = (levels: number): string => `DEEP${'['.repeat(levels)}${']'.repeat(levels)}DEEP`;

describe('Every command', () => {
  it('id: echoed in command.result, which is sent only when id is present', () => {
    const link = active();
    link.says({ type: 'say', text: 'a' });
    expect(link.answers('agent', 'say', 'done')).toEqual([]);
    link.says({ type: 'say', id: '', text: 'a' });
    expect(link.answers('agent:', 'say', 'done')).toMatchObject([
      { type: 'command.result', id: '', ok: true },
    ]);
  });

  it('without an id: a refusal is an error event of stage agent_link that starts with the code', () => {
    const link = active();
    link.says({ type: 'say', text: 'a' });
    expect(link.answers('agent', 'say', 'queue_full')).toMatchObject([
      {
        type: 'error',
        stage: 'agent_link',
        fatal: false,
        message: expect.stringMatching(/^queue_full: /) as string,
      },
    ]);
  });

  it('id: at most 64 bytes; a longer one cannot be echoed', () => {
    expect(refusal({ type: 'say', id: 'é'.repeat(32), text: '' })).toMatchObject([
      { id: 'é'.repeat(32), ok: false },
    ]);
    expect(refusal({ type: 'say', id: 'é'.repeat(33), text: 'a' })).toMatchObject([
      { type: 'error', message: 'invalid_message: say.id must be at most 64 bytes' },
    ]);
  });

  it('the same id is done once and answered the same each time', () => {
    const link = active();
    expect(commandsOf(link.says({ type: 'say', id: 's', text: 'a' }))).toHaveLength(1);
    expect(link.says({ type: 'say', id: 's', text: 'a' })).toEqual([]);
    const both = link.answers('agent:s', 'say', 'queue_full');
    expect(both).toHaveLength(2);
    const [again] = written(link.says({ type: 'say', id: 's', text: 'a' }));
    expect(again).toMatchObject({ id: 's', ok: false, error: both[0]?.['error'] });
    expect(commandsOf(link.orders)).toHaveLength(1);
  });

  it('outcome_unknown: the same id may be given again', () => {
    const link = active();
    const transfer = { type: 'transfer', id: 't', destination: '+15550100000' };
    for (const outcome of ['outcome_unknown', 'done'] as const) {
      expect(commandsOf(link.says(transfer))).toHaveLength(1);
      expect(link.answers('agent:t', 'transfer', outcome)).toMatchObject([
        { id: 't', ok: outcome === 'done' },
      ]);
    }
    expect(commandsOf(link.says(transfer))).toEqual([]);
  });

  it('the newest ids are remembered, and no more', () => {
    const link = active();
    for (let at = 0; at <= agentLinkLimits.rememberedCommands; at += 1) {
      link.says({ type: 'say', id: `s${at}`, text: 'a' });
      link.answers(`agent:s${at}`, 'say', 'done');
    }
    expect(commandsOf(link.says({ type: 'say', id: 's1', text: 'a' }))).toEqual([]);
    expect(commandsOf(link.says({ type: 'say', id: 's0', text: 'a' }))).toHaveLength(1);
  });

  it('re: the age of the event it reacts to is measured', () => {
    const link = active();
    link.told({ type: 'turn.user_started', epoch: 1 });
    link.now = 30;
    expect(link.says({ type: 'say', text: 'a', re: 2 })).toContainEqual({ type: 'hop', ms: 30 });
    for (const re of [0, 3, 99])
      expect(kinds(link.says({ type: 'say', text: 'a', re }))).toEqual(['command']);
  });

  it('answers to commands of others are none of the link', () => {
    expect(active().answers('client:1', 'say', 'done')).toEqual([]);
  });
});

describe('Agent to server commands', () => {
  const given = (message: unknown) => commandsOf(active().says(message))[0]?.command;

  it('say: text at most 4 KiB, interrupt false by default', () => {
    const line = { type: 'say', text: 'Hi', interrupt: false, interruptible: true };
    expect(given({ type: 'say', text: 'Hi' })).toEqual(line);
    expect(given({ type: 'say', text: 'Hi', interrupt: true })).toEqual({ ...line, interrupt: true });
    expect(given({ type: 'say', text: 'x'.repeat(4_096) })).toBeDefined();
    for (const [text, rule] of [
      ['x'.repeat(4_097), 'must be at most 4096 bytes'],
      [' ', 'must not be empty'],
      [5, 'must be a string'],
    ] as const)
      expect(refusal({ type: 'say', id: 'a', text })).toMatchObject([
        failed('invalid_message', `say.text ${rule}`),
      ]);
  });

  it('end: the farewell that it brings, that of the agent file, or none', () => {
    expect(given({ type: 'end', say: 'Bye.', reason: 'done' })).toEqual({ type: 'end', farewell: 'Bye.' });
    expect(given({ type: 'end' })).toEqual({ type: 'end', farewell: 'Goodbye.' });
    expect(given({ type: 'end', say: '' })).toEqual({ type: 'end', farewell: '' });
    expect(refusal({ type: 'end', id: 'a', reason: 'x'.repeat(513) })).toMatchObject([
      failed('invalid_message', 'end.reason must be at most 512 bytes'),
    ]);
  });

  it('transfer: is the business of the core, cold unless it says warm', () => {
    const transfer = { type: 'transfer', destination: '+15550100000', summary: '' };
    expect(given({ type: 'transfer', destination: '+15550100000' })).toEqual({ ...transfer, mode: 'cold' });
    expect(given({ type: 'transfer', destination: '+15550100000', mode: 'warm' })).toEqual({
      ...transfer,
      mode: 'warm',
    });
  });

  it('transfer: destination is E.164, summary and reason are at most 512 bytes each', () => {
    const transfer = { type: 'transfer', id: 'a', destination: '+15550100000' };
    const rule = (fields: Readonly<Record<string, unknown>>) =>
      refusal({ ...transfer, ...fields }).map(
        (one) => Reflect.get(one['error'] as object, 'message') as string,
      );
    for (const destination of ['15550100000', '+1234567', '+1234567890123456', '+1555x'])
      expect(rule({ destination })).toEqual(['transfer.destination must be + and 8 to 15 digits']);
    for (const key of ['summary', 'reason'])
      expect(rule({ [key]: 'x'.repeat(513) })).toEqual([`transfer.${key} must be at most 512 bytes`]);
    expect(rule({ mode: 'hot' })).toEqual(['transfer.mode must be one of cold, warm']);
  });

  it('context.update: system_prompt, append; all of the command or nothing', () => {
    const append = [{ role: 'user', text: 'x' }];
    expect(given({ type: 'context.update', system_prompt: 'p', append })).toEqual({
      type: 'edit',
      edit: { systemPrompt: 'p', append },
    });
    expect(given({ type: 'context.update', append: Array(32).fill(append[0]) })).toBeDefined();
    const wrong = [
      [Array(33).fill(append[0]), 'context.update.append must have at most 32 entries'],
      [[...append, { role: 'user', text: '' }], 'context.update.append[1].text must not be empty'],
      [[{ role: 'tool', text: 'x' }], 'context.update.append[0].role must be one of system, user, assistant'],
    ] as const;
    for (const [entries, rule] of wrong) {
      const link = active();
      const orders = link.says({ type: 'context.update', id: 'a', system_prompt: 'p', append: entries });
      expect(written(orders)).toMatchObject([failed('invalid_message', rule)]);
      expect(commandsOf(orders)).toEqual([]);
    }
  });

  it('tools.set: a name that is no tool of the call is told, and the command is done', () => {
    const link = new LinkDriver().accepted();
    link.give({ type: 'tools.known', refused: [], isTool: (name) => name === 'known' });
    const orders = link.says({ type: 'tools.set', id: 't', enabled: ['known', 'typo', 'other'] });
    expect(commandsOf(orders)).toEqual([
      { id: 'agent:t', command: { type: 'edit', edit: { tools: ['known', 'typo', 'other'] } } },
    ]);
    expect(written(orders)).toMatchObject([
      {
        type: 'error',
        stage: 'agent_link',
        message: 'unknown_tool: tools.set.enabled[1], [2]: no tool of the call has this name',
      },
    ]);
  });

  it.each([
    ['end', {}],
    ['transfer', { destination: '+15550100000' }],
  ])('%s: its reason is for a log', (type, fields) => {
    const orders = new LinkDriver().accepted().says({ type, reason: 'over', ...fields });
    expect(orders[0]).toEqual({ type: 'reason', command: type, reason: 'over' });
  });

  it('tools.set: names, or null for all', () => {
    expect(given({ type: 'tools.set', enabled: ['a'] })).toEqual({ type: 'edit', edit: { tools: ['a'] } });
    expect(given({ type: 'tools.set', enabled: null })).toEqual({ type: 'edit', edit: { tools: null } });
    expect(refusal({ type: 'tools.set', id: 'a' })).toMatchObject([
      failed('invalid_message', 'tools.set.enabled must be an array'),
    ]);
  });

  it('tool.result: a string as is, other JSON in compact form, error as tool_failed', () => {
    const settled = (answer: Readonly<Record<string, unknown>>) => {
      const link = active();
      link.give({
        type: 'tool.run',
        call: {
          call_id: 'a',
          name: 't',
          arguments: {},
          kind: 'read_only',
          epoch: 1,
          idempotency_key: '0'.repeat(16),
          timeout_ms: 5,
        },
      });
      return link.says({ type: 'tool.result', id: 1, ...answer });
    };
    const outcome = (given: unknown) => [{ type: 'tool.settled', id: 1, outcome: given }];
    expect(settled({ result: 'a "b"' })).toEqual(outcome({ kind: 'result', text: 'a "b"' }));
    expect(settled({ result: { a: [1, null] } })).toEqual(
      outcome({ kind: 'result', text: '{"a":[1,null]}' }),
    );
    expect(settled({ result: null })).toEqual(outcome({ kind: 'result', text: 'null' }));
    expect(settled({ error: 'no' })).toEqual(outcome({ kind: 'failed', message: 'no', transport: false }));
    // As languages without absent fields write it.
    expect(settled({ result: 'done', error: null })).toEqual(outcome({ kind: 'result', text: 'done' }));
    expect(settled({ result: null, error: 'no' })).toEqual(
      outcome({ kind: 'failed', message: 'no', transport: false }),
    );
    for (const wrong of [{}, { result: 1, error: 'x' }])
      expect(written(settled(wrong))).toMatchObject([
        { type: 'error', message: 'invalid_message: tool.result.result must be given, or else error' },
      ]);
  });
});

describe('Errors', () => {
  const message = (code: string) => ({
    type: 'error',
    message: expect.stringMatching(`^${code}: `) as string,
  });

  it.each([
    ['unknown_type', { type: 'dance' }],
    ['unexpected_message', { type: 'session.accept', version: 1 }],
    ['invalid_json', 'x'],
    ['unknown_call', { type: 'tool.result', id: 7, result: 1 }],
    ['invalid_message', { type: 'tool.result', id: 'x', result: 1 }],
  ])('%s', (code, sent) => {
    expect(refusal(sent)).toMatchObject([message(code)]);
  });

  it('unknown_type with an id answers the command', () => {
    expect(refusal({ type: 'dance', id: 'd' })).toMatchObject([
      failed('unknown_type', agentLinkErrors.unknown_type),
    ]);
  });

  it.each([
    ['tool.result', { result: deep(2_000) }],
    ['client.send', { id: 'a', data: deep(30_000) }],
    ['context.update', { id: 'a', append: deep(65) }],
  ])('too_deep: %s, and nothing of the call breaks', (type, fields) => {
    const text = JSON.stringify({ type, id: 1, ...fields, x: 0 })
      .replaceAll('"DEEP', '')
      .replaceAll('DEEP"', '');
    const [answer] = written(active().says(text));
    const words = 'a message must nest at most 64 levels';
    expect(answer).toMatchObject(
      'id' in fields
        ? { type: 'command.result', id: 'a', ...failed('too_deep', words) }
        : { type: 'error', message: `too_deep: ${words}` },
    );
  });

  it('64 levels are within the limit', () => {
    const at = (levels: number) =>
      commandsOf(
        new LinkDriver()
          .accepted()
          .says(`{"type":"tools.set","enabled":null,"x":${'['.repeat(levels)}${']'.repeat(levels)}}`),
      );
    expect([at(63).length, at(64).length]).toEqual([1, 0]);
  });

  it('binary_frame', () => {
    expect(written(active().give({ type: 'binary.received' }))).toMatchObject([message('binary_frame')]);
  });

  it('holds nothing of what was received, wherever it stands', () => {
    const canary = 'canary-7f3a';
    const messages = [
      canary,
      { type: canary },
      { type: 'say', text: { [canary]: canary } },
      { type: 'transfer', destination: canary },
      { type: 'context.update', append: [{ role: canary, text: canary }] },
      { type: 'tool.result', id: canary },
    ];
    for (const sent of messages) expect(JSON.stringify(refusal(sent))).not.toContain(canary);
  });
});

describe('Events', () => {
  const times = { endOfTurnMs: 1.4, sttFinalMs: 2, llmTtftMs: 3, ttsTtfbMs: 4, wireMs: 5, responseMs: 15 };
  const events: readonly ConversationEvent[] = [
    { type: 'turn.user_started', epoch: 1 },
    { type: 'turn.user_ended', epoch: 1 },
    { type: 'user.transcript', text: 'a', final: false },
    { type: 'user.text', epoch: 1, text: 'a' },
    { type: 'bot.llm_started', epoch: 1 },
    { type: 'bot.text', epoch: 1, text: 'a' },
    { type: 'bot.llm_stopped', epoch: 1 },
    { type: 'bot.tts_text', epoch: 1, text: 'a' },
    {
      ...{ type: 'bot.heard', epoch: 1, text: ' half' },
      end: { how: 'interrupted', complete: false, heard: 'The first half' },
    },
    { type: 'bot.tts_stopped', epoch: 1 },
    { type: 'turn.bot_started', epoch: 1 },
    { type: 'turn.bot_ended', epoch: 1 },
    { type: 'turn.interrupted', epoch: 1 },
    { type: 'agent.changed', agent: 'billing' },
    { type: 'turn.measured', epoch: 1, times: { ...times, filled: false } },
  ];

  it('every conversation event is told as its schema says, in the order in which it happened', () => {
    const link = active();
    const sent = events.flatMap((event) => link.told(event));
    const told = Object.keys(conversationEventSchemas).filter((type) => type !== 'client.message');
    expect(sent.map(({ type }) => type)).toEqual(told);
    for (const { seq: _seq, t_ms: _tMs, ...fields } of sent) {
      const schema = serviceMessageSchemas[fields.type as keyof typeof serviceMessageSchemas];
      expect(schema.strict().parse(fields)).toEqual(fields);
    }
  });

  it('nineteen types besides the handshake, and three of extensions', () => {
    const others = ['session.start', 'client.message', 'bot.heard', 'agent.changed'];
    expect(Object.keys(serviceMessageSchemas).filter((type) => !others.includes(type))).toHaveLength(19);
  });

  it('bot.heard: what was heard of an answer in all, once it is over', () => {
    const link = active();
    expect(link.told({ type: 'bot.heard', epoch: 1, text: 'The first' })).toEqual([]);
    const end = { how: 'interrupted', complete: false, heard: 'The first half' } as const;
    expect(link.told({ type: 'bot.heard', epoch: 1, text: ' half', end })).toMatchObject([
      { type: 'bot.heard', epoch: 1, text: 'The first half', complete: false, ended: 'interrupted' },
    ]);
    const other = new LinkDriver().accepted({ events: ['turn.interrupted'] });
    expect(other.told({ type: 'bot.heard', epoch: 1, text: '', end })).toEqual([]);
  });

  it('what is no business of an agent is not told', () => {
    expect(active().told({ type: 'node.entered', node: 'a' })).toEqual([]);
    expect(active().told({ type: 'tools.answered', pairs: [] })).toEqual([]);
    const call = { id: 'a', name: 'look', arguments: '{}' };
    expect(active().told({ type: 'tool.started', call })).toEqual([]);
    expect(active().told({ type: 'tool.ended', call, end: 'failed' })).toEqual([]);
  });
});

describe('An agent that reads slowly', () => {
  const delta = { type: 'bot.text', epoch: 1, text: 'a' } as const;
  const interim = { type: 'user.transcript', text: 'a', final: false } as const;
  const final = { type: 'user.transcript', text: 'a', final: true } as const;
  const error = { type: 'fault.noticed', stage: 'stt', what: 'failed' } as const;

  it('loses interim transcripts and deltas first, then other events, never control messages', () => {
    const link = active();
    link.bufferedBytes = agentLinkBacklog.dropDeltasBytes;
    expect(link.told(delta)).toHaveLength(1);
    link.bufferedBytes += 1;
    expect([link.told(delta), link.told(interim)]).toEqual([[], []]);
    expect(link.told(final)).toMatchObject([{ type: 'events.lost', count: 2 }, { type: 'user.transcript' }]);
    link.bufferedBytes = agentLinkBacklog.dropEventsBytes + 1;
    expect(link.told(final)).toEqual([]);
    expect(link.told(error)).toMatchObject([{ type: 'events.lost', count: 1 }, { type: 'error' }]);
    link.bufferedBytes = 0;
    expect(link.told(delta)).toMatchObject([{ type: 'bot.text' }]);
  });

  it('is left when the backlog is beyond its bound: the call goes on alone', () => {
    const link = active();
    link.bufferedBytes = agentLinkBacklog.closeBytes + 1;
    expect(link.at(1)).toEqual([
      { type: 'close', code: 1013, reason: 'too_slow' },
      { type: 'news', news: 'gone', why: 'too_slow: the agent does not read fast enough' },
    ]);
  });
});

describe('Limits', () => {
  it('message size: a larger one of the service is left out and counted, a call of a tool fails', () => {
    const link = active();
    const text = 'x'.repeat(agentLinkLimits.messageBytes);
    expect(link.told({ type: 'user.text', epoch: 1, text })).toEqual([]);
    const call = { call_id: 'a', name: 't', kind: 'read_only', epoch: 1, timeout_ms: 1 } as const;
    const orders = link.give({
      type: 'tool.run',
      call: { ...call, arguments: { text }, idempotency_key: '0'.repeat(16) },
    });
    expect(written(orders)).toMatchObject([{ type: 'events.lost', count: 1 }]);
    expect(orders.at(-1)).toMatchObject({ type: 'tool.settled', id: 1, outcome: { transport: false } });
  });

  it('the table', () => {
    expect(agentLinkLimits).toMatchObject({
      messageBytes: 64 * 1024,
      tools: 64,
      systemPromptBytes: 64 * 1024,
      contextMessages: 32,
      sayBytes: 4 * 1024,
      commandIdBytes: 64,
      reasonBytes: 512,
      waitingLines: 8,
    });
    expect(agentLinkTimes).toMatchObject({
      connectMs: 2_000,
      handshakeMs: 2_000,
      pingIntervalMs: 10_000,
      downAfterMs: 30_000,
      endGraceMs: 30_000,
      toolTimeoutDefaultMs: 5_000,
      toolTimeoutMaxMs: 30_000,
      fillerAfterDefaultMs: 700,
    });
  });
});
