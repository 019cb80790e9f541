/** Interruptions over `openai_realtime`: an answer that is stopped, the next one, and what was heard of the first. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';
import { newStageContext } from '../../support/core/stage-context.ts';
import { FakeOpenAiRealtime, usage } from '../../support/fakes/fake-openai-realtime.ts';
import { openReady, takeTurn, told } from './openai-driver.ts';

let server: FakeOpenAiRealtime;
beforeEach(async () => {
  server = new FakeOpenAiRealtime();
  await server.start();
});
afterEach(() => server.close());

describe('an interruption', () => {
  it('stops the answer, and the next one waits until the server has let go of it', async () => {
    server.replies.push({ items: [{ speech: 'A long story.', ms: 800 }], holds: true, isStubborn: true });
    const { session, events } = await openReady(server);
    session.respond(1);
    await events.seen('audio', 4);
    session.cancel();
    takeTurn(session, 2);
    session.respond(2);
    await server.until(() => server.last.turnsMs.length === 1);
    expect(server.last.of('response.create')).toHaveLength(1);
    const before = events.all.length;
    const place = { response_id: 'resp_1', item_id: 'item_2', output_index: 0, content_index: 0 };
    server.last.send({ type: 'response.output_audio.delta', ...place, delta: 'AAAA' });
    server.last.send({ type: 'response.output_audio_transcript.delta', ...place, delta: 'late' });
    server.last.release();
    await events.seen('done', 2);
    expect(told(events).slice(before - 1)[0]).toBe('done 1 cancelled');
    expect(events.of('done').map(({ answer, finish }) => [answer, finish])).toEqual([
      [1, 'cancelled'],
      [2, 'completed'],
    ]);
    expect(events.of('done')[0]!.usage!.outputTokens).toBe(usage.output_tokens);
    expect(events.of('text').map(({ text }) => text)).not.toContain('late');
  });

  it('of an answer that was not begun, or that waits, is told as well', async () => {
    server.replies.push({ items: [{ speech: 'One.' }], holds: true, isStubborn: true });
    const { session, events } = await openReady(server);
    session.respond(1);
    session.cancel();
    session.respond(2);
    session.cancel();
    await events.seen('done');
    expect(events.of('done').map(({ answer }) => answer)).toEqual([2]);
    server.last.release();
    await events.seen('done', 2);
    expect(told(events)).toEqual(['done 2 cancelled', 'done 1 cancelled']);
    expect(server.last.of('response.create')).toHaveLength(1);
  });

  it('waits a second for the end of what it stopped', async () => {
    server.replies.push({ items: [{ speech: 'One.' }], holds: true, isStubborn: true });
    const clock = newVirtualClock();
    const { session, events } = await openReady(server, { context: newStageContext(clock) });
    session.respond(1);
    await events.seen('audio');
    session.cancel();
    session.respond(2);
    clock.advance(999);
    expect(events.of('done')).toEqual([]);
    clock.advance(1);
    expect(told(events).at(-1)).toBe('done 1 cancelled');
    // The server still makes the first one: it refuses the second until that is over.
    await server.until(() => server.last.of('response.create').length === 2);
    server.last.release();
    await events.seen('done', 3);
    // A stopped answer tells its cost when it ends.
    expect(
      events.of('done').map(({ answer, finish, usage }) => [answer, finish, usage !== undefined]),
    ).toEqual([
      [1, 'cancelled', false],
      [1, 'cancelled', true],
      [2, 'completed', true],
    ]);
  });

  it.each([false, true])(
    'is no error when the answer was over already (names no message: %s)',
    async (forgetsIds) => {
      server.forgetsIds = forgetsIds;
      const { session, events } = await openReady(server);
      session.respond(1);
      session.cancel();
      await events.seen('done');
      session.respond(2);
      await events.seen('done', 2);
      expect(events.of('done').map(({ finish }) => finish)).toEqual(['cancelled', 'completed']);
      expect(events.of('error')).toEqual([]);
    },
  );

  it.each([
    ['what was heard', 150.7, { type: 'conversation.item.truncate', audio_end_ms: 150 }],
    ['no more than has come', 9_999, { type: 'conversation.item.truncate', audio_end_ms: 400 }],
    ['nothing at all', 0, { type: 'conversation.item.delete' }],
    ['less than nothing', -3, { type: 'conversation.item.delete' }],
  ])('leaves %s of an item', async (_, ms, message) => {
    server.replies.push({ items: [{ speech: 'A story.', ms: 400 }], holds: true });
    const { session, events } = await openReady(server);
    session.respond(1);
    await events.seen('audio', 2);
    session.cancel();
    session.truncate('item_2', ms);
    await events.seen('done');
    await server.until(() => server.last.heard.at(-1)!.type.startsWith('conversation.item'));
    expect(server.last.heard.at(-1)).toEqual({
      ...message,
      event_id: 'cut_3',
      item_id: 'item_2',
      ...('audio_end_ms' in message && { content_index: 0 }),
    });
    await server.until(() =>
      ['conversation.item.truncated', 'conversation.item.deleted'].includes(server.last.said.at(-1)!.type),
    );
  });

  it.each([
    ['of an item that came as text', 'item_2', 100],
    ['of an item of another session', 'item_77', 100],
    ['by no number', 'item_2', Number.NaN],
  ])('cuts nothing %s', async (_, item, ms) => {
    server.replies.push({ items: [{ text: 'Written.' }] });
    const { session, events } = await openReady(server);
    session.respond(1);
    await events.seen('done');
    session.truncate(item, ms);
    session.respond(2);
    await events.seen('done', 2);
    expect(server.last.of('conversation.item.truncate')).toEqual([]);
  });

  it.each([
    ['item_truncate_invalid_item_id', 'There is no such item.'],
    ['invalid_value', 'Audio content of 300ms is already shorter than 400ms'],
    ['unsupported_content_type', 'Only model output audio messages can be truncated'],
  ])('goes on when a cut is refused with %s', async (code, message) => {
    server.refusals.set('conversation.item.truncate', [{ code, message }]);
    const { session, events } = await openReady(server);
    session.respond(1);
    await events.seen('done');
    session.truncate('item_2', 50);
    session.respond(2);
    await events.seen('done', 2);
    expect(events.of('error')).toEqual([]);
  });
});

it('what was heard takes the place of an answer that was written', async () => {
  server.replies.push({ items: [{ text: 'In writing.' }] });
  const { session, events } = await openReady(server, { output: 'text' });
  session.respond(1);
  await events.seen('done');
  session.truncate('item_2', 0);
  session.append([{ role: 'assistant', text: 'In' }]);
  await server.until(() => server.last.of('conversation.item.create').length === 1);
  const texts = [...server.last.items.values()].map(({ item }) => ('content' in item ? item.content : []));
  expect(texts).toEqual([[{ type: 'output_text', text: 'In' }]]);
});
