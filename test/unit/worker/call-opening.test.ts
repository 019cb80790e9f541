/** A call whose opening takes time: what is kept meanwhile, what ends it, and what another worker makes of it. */
import { describe, expect, it } from 'vitest';
import { CallRecords, callRecordBytes } from '../../../shared/protocol/call-record.ts';
import { maxUnreadFrames, vadFrameSamples } from '../../../shared/protocol/mailbox-slot.ts';
import { CallJournal, readJournal } from '../../../worker/call/journal.ts';
import { KeptAudio, type CallSetup } from '../../../worker/call/opening.ts';
import { newWorld, type PrepareCall } from './one-call.ts';

/** Somebody who is asked what a call is to be, and answers when the test says so. */
function newDesk() {
  const asked: { readonly answer: (setup: CallSetup) => void; readonly fail: () => void }[] = [];
  const ended: string[] = [];
  const prepare: PrepareCall = () =>
    new Promise((resolve, reject) => {
      asked.push({ answer: resolve, fail: () => reject(new Error('the desk broke')) });
    });
  return { prepare, asked, ended, linkEnded: (reason: string) => void ended.push(reason) };
}

const settled = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

function newJournal() {
  const records = new CallRecords([new ArrayBuffer(callRecordBytes({ slots: 1 }))], { slots: 1 });
  const record = records.record(0);
  const journal = new CallJournal(record, { offer: 7, toMachineMs: 0 });
  journal.opened();
  return { record, journal };
}

describe('a call that is prepared', () => {
  it('starts with what it was prepared with, and not before', async () => {
    const desk = newDesk();
    const call = newWorld().newCall({ prepare: desk.prepare });
    expect([call.transport.told, call.stages.tts]).toEqual([[], []]);
    desk.asked[0]!.answer({ greeting: 'Welcome back, Ada.', prompt: 'You know Ada.' });
    await settled();
    expect(call.transport.told).toEqual(['accept']);
    expect(call.tts().asked).toEqual(['speak 1 Welcome back, Ada.', 'flush 1']);
  });

  it('hears what was said and pressed meanwhile', async () => {
    const world = newWorld();
    const desk = newDesk();
    const call = world.newCall({ prepare: desk.prepare });
    for (let at = 0; at < 400; at += 20) call.enter(() => call.runner.audio(new Uint8Array(640)));
    call.enter(() => call.runner.dtmf('5'));
    call.enter(() => call.runner.dtmf('#'));
    desk.asked[0]!.answer({ greeting: '' });
    await settled();
    expect(call.llm().request.messages.at(-1)).toEqual({
      role: 'user',
      text: '[The caller pressed the keys: 5]',
    });
    call.hear(500, 0.9);
    // The turn begins with what lies before it, which came while nobody was there to hear it.
    expect(call.stt().heard).toBeGreaterThan(500 * 16);
  });

  it('keeps the newest five seconds, and no more', async () => {
    const desk = newDesk();
    const call = newWorld().newCall({ prepare: desk.prepare });
    let taken = 0;
    for (let at = 0; at < 60_000; at += 20) taken += Number(call.runner.audio(new Uint8Array(640)));
    expect(taken).toBe(3_000);
    desk.asked[0]!.answer({});
    await settled();
    expect(call.transport.told).toEqual(['accept']);
  });

  it('is cancelled by a caller who hangs up', async () => {
    const world = newWorld();
    const desk = newDesk();
    const call = world.newCall(desk);
    call.enter(() => call.runner.ended('hangup'));
    expect(desk.ended).toEqual(['hangup']);
    desk.asked[0]!.answer({});
    await settled();
    expect([call.transport.told, call.overs(), world.host.count]).toEqual([[], 1, 0]);
  });

  it('starts as its definition says when nobody answers', async () => {
    const world = newWorld();
    const desk = newDesk();
    const call = world.newCall(desk);
    world.clock.advance(9_900);
    expect(call.transport.told).toEqual([]);
    world.clock.advance(200);
    expect(call.transport.told).toEqual(['accept']);
    expect(desk.ended).toEqual(['call_ended']);
    desk.asked[0]!.answer({ greeting: 'Too late.' });
    await settled();
    expect(call.tts().asked).toEqual(['speak 1 Hello there.', 'flush 1']);
  });

  it('ends, and no other with it, when whoever prepares breaks', async () => {
    const world = newWorld();
    const other = world.newCall();
    const desk = newDesk();
    const call = world.newCall({ prepare: desk.prepare });
    desk.asked[0]!.fail();
    await settled();
    expect([call.transport.told, call.overs()]).toEqual([['fail'], 1]);
    expect(other.overs()).toBe(0);
  });
});

describe('a call that another worker takes up', () => {
  it('keeps its own setup, whatever its names are', async () => {
    const { record, journal } = newJournal();
    const setup = {
      prompt: 'x'.repeat(64 * 1024),
      greeting: 'Hi.',
      flow: {
        start: 'dueAt',
        nodes: { dueAt: { prompt: '$map', say: '', tools: [], next: [], end: false } },
      },
    };
    newWorld().newCall({ journal, prepare: () => setup });
    await settled();
    expect(record.left(7)).toBe('open');
    const { call } = readJournal(record.read(), { toMachineMs: 5_000 });
    expect(call?.setup).toEqual(setup);
  });

  it('is refused where its start or its setup is not what this version writes', async () => {
    const { record, journal } = newJournal();
    newWorld().newCall({ journal, prepare: () => ({ model: 'its-own', link: { resume: true } }) });
    await settled();
    const left = record.read();
    const readAs = (change: Partial<typeof left>): unknown =>
      readJournal({ ...left, ...change }, { toMachineMs: 0 }).setup;
    expect(readAs({})).toEqual({ model: 'its-own', link: { resume: true } });
    for (const setup of ['{"model":7}', '{"link":{"resume":"yes"}}', '{"message":"Hello."}'])
      expect(() => readAs({ setup })).toThrow(TypeError);
    for (const field of ['callId', 'sampleRate', 'metadata', 'sessionId', 'encoding']) {
      const state = left.state.replace(new RegExp(`("start":\\{.*?)"${field}":`), '$1"other":');
      expect(state).not.toBe(left.state);
      expect(() => readAs({ state })).toThrow(TypeError);
    }
  });

  it('goes on with its own model', async () => {
    const { record, journal } = newJournal();
    const first = newWorld().newCall({ journal, prepare: () => ({ model: 'its-own' }) });
    await settled();
    const conversation = first.stages.llmCalls[0]?.conversation;
    expect(conversation).toBeDefined();
    expect(first.stages.llmCalls).toMatchObject([{ conversation, model: 'its-own' }]);
    const { call } = readJournal(record.read(), { toMachineMs: 0 });
    const next = newWorld().newCall({ begin: false });
    const playout = { context: 0, sentSamples: 0 };
    next.enter(() => next.runner.resume({ call: call!, playout, turnAudio: [], silentMs: 0 }));
    expect(next.stages.llmCalls).toMatchObject([{ conversation, model: 'its-own' }]);
  });

  it('hears everything that was said while nobody had it, however much comes at once', async () => {
    const { record, journal } = newJournal();
    newWorld().newCall({ journal, prepare: () => ({ greeting: '' }) });
    await settled();
    const { call } = readJournal(record.read(), { toMachineMs: 0 });
    const world = newWorld();
    const next = world.newCall({ begin: false });
    const playout = { context: 0, sentSamples: 0 };
    next.enter(() => next.runner.resume({ call: call!, playout, turnAudio: [], silentMs: 2_048 }));
    const seconds = 2;
    const frames = (seconds * 16_000) / vadFrameSamples;
    for (let name = 1; name <= frames; name += 1)
      next.enter(() => next.runner.audio(new Uint8Array(new Int16Array(vadFrameSamples).fill(name).buffer)));
    const seen: number[] = [];
    for (let turns = 0; turns < 200 && seen.length < frames; turns += 1) {
      world.clock.advance(5);
      next.enter(() => next.runner.tick(world.clock.now()));
      const { produced, consumed, base } = world.boxes.mailbox(next.slot);
      expect(produced - Math.max(base, consumed)).toBeLessThanOrEqual(maxUnreadFrames);
      seen.push(...world.inference.judge(next.slot, () => 0));
      next.enter(() => next.runner.collectSpeech());
    }
    expect(seen).toEqual(Array.from({ length: frames }, (_, i) => i + 1));
  });

  it('ends the turn of a caller who fell silent meanwhile as soon as that is heard', async () => {
    const { record, journal } = newJournal();
    const first = newWorld().newCall({ journal, prepare: () => ({ greeting: '' }) });
    await settled();
    first.hear(600, 0.9);
    const { call } = readJournal(record.read(), { toMachineMs: 0 });
    const world = newWorld();
    const next = world.newCall({ begin: false });
    const playout = { context: 0, sentSamples: 0 };
    next.enter(() => next.runner.resume({ call: call!, playout, turnAudio: [], silentMs: 2_400 }));
    for (let frame = 0; frame < 120; frame += 1) next.enter(() => next.runner.audio(new Uint8Array(640)));
    let waitedMs = 0;
    for (; waitedMs < 2_000 && next.stt().asked.length === 0; waitedMs += 5) {
      world.clock.advance(5);
      next.enter(() => next.runner.tick(world.clock.now()));
      world.inference.judge(next.slot, () => 0);
      next.enter(() => next.runner.collectSpeech());
    }
    expect(next.stt().asked).toEqual(['finalize']);
    // Of virtual time: the audio of 2.4 s is given six frames at a time.
    expect(waitedMs).toBeLessThan(200);
  });

  it('keeps no more than a mebibyte of what it has yet to hear', () => {
    const kept = new KeptAudio();
    kept.add([Buffer.alloc(1_048_575)]);
    expect(kept.isFull).toBe(false);
    kept.add([Buffer.alloc(1)]);
    expect(kept.isFull).toBe(true);
    kept.hear(() => true);
    expect([kept.isFull, kept.isEmpty]).toEqual([false, true]);
  });

  it('is not taken up when its setup does not fit', () => {
    const { record, journal } = newJournal();
    newWorld().newCall({ journal, prepare: () => ({ prompt: 'x'.repeat(200 * 1024) }) });
    expect(record.left(7)).toBe('writable');
  });

  it('is prepared again when it was being prepared', () => {
    const { record, journal } = newJournal();
    const desk = newDesk();
    newWorld().newCall({ journal, prepare: desk.prepare });
    expect(record.left(7)).toBe('open');
    const { call } = readJournal(record.read(), { toMachineMs: 0 });
    expect(call).toBeUndefined();
    const again = newWorld().newCall({ begin: false, prepare: desk.prepare });
    again.transport.onRestart = again.begin;
    again.enter(() => again.runner.resumeOpening({}));
    expect(desk.asked).toHaveLength(2);
  });
});
