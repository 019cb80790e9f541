/** What `openai_realtime` makes of errors, closes and silence: a dead session, a failed answer, or nothing. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { causeOf } from '../../../worker/stages/failure.ts';
import type { StageError } from '../../../worker/stages/stage.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';
import { newStageContext } from '../../support/core/stage-context.ts';
import { FakeOpenAiRealtime } from '../../support/fakes/fake-openai-realtime.ts';
import { openReady, openSession, speak, takeTurn, told } from './openai-driver.ts';

let server: FakeOpenAiRealtime;
beforeEach(async () => {
  server = new FakeOpenAiRealtime();
  await server.start();
});
afterEach(() => server.close());

const refuse = (type: string, code: string | null, message = 'no', kind?: string): void => {
  server.refusals.set(type, [{ code, message, ...(kind !== undefined && { type: kind }) }]);
};
const sendError = (code: string | null, type = 'invalid_request_error'): void =>
  server.last.send({ type: 'error', error: { type, code, message: 'no', param: null, event_id: null } });

describe('a session that cannot be had', () => {
  it.each([401, 403, 404, 429, 500])('fails with the status %i of the server', async (status) => {
    server.refuseWith = status;
    const { events } = openSession(server);
    await events.seen('error');
    expect(events.all).toEqual([{ type: 'error', error: { kind: 'rejected', status } }]);
  });

  it.each([
    ['invalid_value', 400],
    ['unknown_parameter', 400],
    ['missing_required_parameter', 400],
    ['model_not_found', 404],
    ['invalid_api_key', 401],
    ['insufficient_quota', 429],
  ])('is refused with %s', async (code, status) => {
    refuse('session.update', code);
    const { session, events } = openSession(server);
    takeTurn(session, 1);
    await events.seen('error');
    expect(events.of('error')[0]!.error).toMatchObject({ kind: 'rejected', status });
    expect(causeOf(events.of('error')[0]!.error, []).code).toBe(code);
    expect(server.last.of('input_audio_buffer.append')).toEqual([]);
  });

  it('fails after five seconds without a word of the server', async () => {
    server.updates = false;
    const clock = newVirtualClock();
    const { events } = openSession(server, { context: newStageContext(clock) });
    await server.until(() => server.sessions[0]?.heard.length === 1);
    clock.advance(4_999);
    expect(events.all).toEqual([]);
    clock.advance(1);
    expect(events.all).toEqual([{ type: 'error', error: { kind: 'timeout', what: 'connect' } }]);
  });

  it('never sends a key where anybody can read it', () => {
    expect(() => openSession(server, { baseUrl: 'ws://models.example', apiKey: 'key-1' })).toThrow(
      'api_key_env: a key is only sent over TLS or to a loopback host',
    );
  });
});

describe('a session that ends', () => {
  it('at its limit is no fault of anybody', async () => {
    const { events } = await openReady(server);
    sendError('session_expired');
    server.last.end(1001, 'Your session hit the maximum duration of 60 minutes.');
    await events.seen('error');
    expect(events.of('error')).toEqual([{ type: 'error', error: { kind: 'disconnected' } }]);
    expect(causeOf(events.of('error')[0]!.error, []).code).toBe('session_expired');
  });

  it.each<[number, StageError]>([
    [1000, { kind: 'disconnected' }],
    [1001, { kind: 'disconnected' }],
    [1011, { kind: 'disconnected' }],
    [1013, { kind: 'disconnected' }],
    [1007, { kind: 'protocol', rule: 'the provider takes what it is sent' }],
    [1008, { kind: 'rejected', status: 403 }],
  ])('by close code %i', async (code, error) => {
    const { events } = await openReady(server);
    server.last.end(code, 'why');
    await events.seen('error');
    expect(events.of('error')).toEqual([{ type: 'error', error }]);
    expect(causeOf(events.of('error')[0]!.error, []).code).toBe(String(code));
  });

  it('without a word tells so once, in the middle of an answer', async () => {
    server.replies.push({ items: [{ speech: 'A story.', ms: 400 }], holds: true });
    const { session, events } = await openReady(server);
    session.respond(1);
    await events.seen('audio', 2);
    server.last.vanish();
    await events.seen('error');
    session.respond(2);
    session.cancel();
    takeTurn(session, 3);
    expect(events.of('error')).toEqual([{ type: 'error', error: { kind: 'disconnected' } }]);
    expect(events.of('done')).toEqual([]);
  });

  it.each(['nonsense', '[1]', '"text"'])('says %s and is not understood', async (text) => {
    const { events } = await openReady(server);
    server.last.sendText(text);
    await events.seen('error');
    expect(events.of('error')[0]!.error).toEqual({ kind: 'protocol', rule: 'a message is a JSON object' });
  });

  it('when its owner leaves, politely, and tells nothing any more', async () => {
    const { session, events } = await openReady(server);
    session.respond(1);
    session.close();
    session.close();
    session.respond(2);
    await server.until(() => server.last.closed === 1000);
    expect(events.all.map(({ type }) => type)).toEqual(['ready']);
  });

  it('when nothing comes for twenty seconds, and one of them was asked whether it lives', async () => {
    const clock = newVirtualClock();
    const { events } = await openReady(server, { context: newStageContext(clock) });
    clock.advance(10_000);
    await server.until(() => server.last.pings === 1);
    server.last.goDeaf();
    clock.advance(10_000);
    clock.advance(10_000);
    expect(events.of('error')).toEqual([{ type: 'error', error: { kind: 'timeout', what: 'progress' } }]);
  });
});

describe('an error within a session', () => {
  it.each([
    ['insufficient_quota', 'insufficient_quota', 429],
    ['credit_balance_exhausted', 'insufficient_quota', 429],
    [null, 'insufficient_quota', 429],
    ['billing_hard_limit_reached', 'invalid_request_error', 429],
    ['invalid_api_key', 'invalid_request_error', 401],
    ['account_deactivated', 'invalid_request_error', 403],
  ])('with the code %s and the type %s ends it for good', async (code, type, status) => {
    const { events } = await openReady(server);
    sendError(code, type);
    await events.seen('error');
    const { error } = events.of('error')[0]!;
    expect(error).toEqual({ kind: 'rejected', status, ...(status === 429 && { retryable: false }) });
  });

  it.each(['response_cancel_not_active', 'item_delete_invalid_item_id', 'decoder_error', null])(
    'with the code %s is about what is no longer there',
    async (code) => {
      const { session, events } = await openReady(server);
      sendError(code);
      session.respond(1);
      await events.seen('done');
      expect(events.of('error')).toEqual([]);
    },
  );

  it('of the server itself is borne once, and once again after an answer', async () => {
    const { session, events } = await openReady(server);
    sendError(null, 'server_error');
    session.respond(1);
    await events.seen('done');
    sendError(null, 'server_error');
    session.respond(2);
    await events.seen('done', 2);
    sendError(null, 'server_error');
    sendError(null, 'server_error');
    await events.seen('error');
    expect(events.of('error')[0]!.error).toEqual({ kind: 'disconnected' });
  });

  it.each([
    ['server_error', null, { kind: 'rejected', status: 500 }],
    ['rate_limit_error', 'rate_limit_exceeded', { kind: 'rejected', status: 429 }],
    ['invalid_request_error', 'invalid_value', { kind: 'rejected', status: 400 }],
    ['odd', 'odd', { kind: 'protocol', rule: 'the provider takes what it is sent' }],
  ])('of type %s about an answer fails that answer alone', async (type, code, failed) => {
    refuse('response.create', code, 'no', type);
    const { session, events } = await openReady(server);
    session.respond(1);
    await events.seen('done');
    expect(events.of('done')[0]).toEqual({ type: 'done', answer: 1, finish: 'failed', failed });
    session.respond(2);
    await events.seen('done', 2);
    expect(events.of('done')[1]!.finish).toBe('completed');
  });

  it.each([false, true])(
    'of another answer that runs delays this one until that is over (names no message: %s)',
    async (forgetsIds) => {
      const { session, events } = await openReady(server);
      server.forgetsIds = forgetsIds;
      server.replies.push({ items: [{ speech: 'By myself.' }], holds: true, isStubborn: true });
      session.respond(1);
      server.last.begin();
      await server.until(() => server.last.of('response.create').length === 1);
      expect(events.of('done')).toEqual([]);
      server.last.release();
      await events.seen('done');
      expect(server.last.of('response.create')).toHaveLength(2);
      expect(told(events).at(-1)).toBe('done 1 completed');
      expect(told(events).join()).not.toContain('myself');
    },
  );

  it('about what was added ends it, because a new session is told everything', async () => {
    refuse('conversation.item.create', 'invalid_value');
    const { session, events } = await openReady(server);
    session.append([{ role: 'user', text: 'Five.' }]);
    await events.seen('error');
    expect(events.of('error')[0]!.error).toEqual({
      kind: 'protocol',
      rule: 'the provider takes what is added to its history',
    });
  });

  it('about an item that is there already is none', async () => {
    refuse('conversation.item.create', 'item_create_duplicate_item_id');
    const { session, events } = await openReady(server);
    session.append([{ role: 'user', text: 'Five.' }]);
    session.respond(1);
    await events.seen('done');
    expect(events.of('error')).toEqual([]);
  });

  it('about new instructions ends it', async () => {
    const { session, events } = await openReady(server);
    refuse('session.update', 'invalid_value');
    session.update({ instructions: 'Be long.', tools: [] });
    await events.seen('error');
    expect(events.of('error')[0]!.error).toEqual({
      kind: 'protocol',
      rule: 'the provider takes its configuration',
    });
  });
});

describe('what waits for a session', () => {
  it('is not more than a session recovers from', async () => {
    server.updates = false;
    const { session, events } = openSession(server);
    await server.until(() => server.sessions[0]?.heard.length === 1);
    for (let at = 0; at < 40; at += 1) session.append([{ role: 'user', text: 'x'.repeat(65_000) }]);
    expect(events.all).toEqual([]);
    await events.seen('error');
    expect(events.all).toEqual([{ type: 'error', error: { kind: 'timeout', what: 'send' } }]);
  });

  it('of a call that has ended is nothing', async () => {
    const context = newStageContext();
    const { session, events } = await openReady(server, { context });
    context.end();
    session.beginTurn();
    speak(session, 200);
    session.respond(1);
    await server.until(() => server.last.of('response.create').length === 1);
    expect(events.all).toHaveLength(1);
  });
});
