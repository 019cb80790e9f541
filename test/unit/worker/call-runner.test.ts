/** One call from its start to its end, with everything around it in memory. */
import { describe, expect, it } from 'vitest';
import { CallRecords, callRecordBytes } from '../../../shared/protocol/call-record.ts';
import { newRouteOf } from '../../../worker/agent-link/routes.ts';
import { admitCall, type AdmittedStart } from '../../../worker/call/admission.ts';
import { CallJournal } from '../../../worker/call/journal.ts';
import { newWorld, type OneCall } from './one-call.ts';

/** Speaks the greeting to its end. */
function greet({ clock }: { clock: { advance(ms: number): void } }, call: OneCall): void {
  call.say(1, 400);
  clock.advance(1_500);
}

/** The caller says something, and STT understands it. */
function ask(call: OneCall, text: string): void {
  call.hear(500, 0.9);
  call.hear(700, 0.01);
  call.stt().emit({ type: 'transcript', text, isFinal: true, speechFinal: true, fromFinalize: true });
  call.stt().emit({ type: 'finalized' });
}

describe('a call', () => {
  it('goes from the greeting over a question and its answer to the goodbye', () => {
    const world = newWorld();
    const call = world.newCall();
    expect(call.transport.told).toEqual(['accept']);
    expect(call.tts().asked).toEqual(['speak 1 Hello there.', 'flush 1']);
    greet(world, call);
    expect(call.transport.frames).toHaveLength(20);
    expect(call.transport.frames.every(({ frame, rate }) => frame.length === 640 && rate === 16_000)).toBe(
      true,
    );
    ask(call, 'What time is it?');
    expect(call.stt().asked).toEqual(['finalize']);
    expect(call.stt().heard).toBeGreaterThan(500 * 16);
    const { messages } = call.llm().request;
    expect(messages.at(-2)).toEqual({ role: 'assistant', text: 'Hello there.' });
    expect(messages.at(-1)).toEqual({ role: 'user', text: 'What time is it?' });
    call.llm().emit({ type: 'text', text: 'It is noon.' });
    call.llm().emit({ type: 'tool-call', index: 0, id: 'x', name: 'end_call', arguments: '{}' });
    call.llm().emit({ type: 'done', finish: 'tool_calls', usage: undefined });
    call.say(2, 600);
    world.clock.advance(3_000);
    expect(call.transport.told.at(-1)).toBe('end ended');
    expect(call.transport.frames).toHaveLength(20 + 30);
    call.enter(() => call.runner.ended('engine'));
    expect([call.overs(), world.host.count, world.emptied(), world.clock.pending]).toEqual([1, 0, 1, 0]);
  });

  it('is interrupted: the agent gets softer, the client is told to drop, and the rest never comes', () => {
    const world = newWorld();
    const call = world.newCall();
    call.say(1, 5_000, false);
    world.clock.advance(300);
    call.hear(100, 0.9);
    const loudnessOf = (frame: Buffer): number => Math.abs(frame.readInt16LE(frame.length - 2));
    const loud = loudnessOf(call.transport.frames[0]!.frame);
    call.hear(40, 0.9);
    expect(loudnessOf(call.transport.frames.at(-1)!.frame)).toBeLessThan(loud / 4);
    call.hear(160, 0.9);
    expect(call.transport.told).toContain('clear 2');
    expect(call.tts().asked).toContain('cancel 1');
    const sent = call.transport.frames.length;
    call.say(1, 5_000);
    world.clock.advance(200);
    expect(call.transport.frames).toHaveLength(sent);
  });

  it('goes on with the next sample, and as loud as before, when the voice was no interruption', () => {
    const world = newWorld();
    const call = world.newCall();
    const pcm = Int16Array.from({ length: 48_000 }, (_, i) => i % 30_000);
    call.tts().emit({ type: 'audio', context: 1, pcm });
    call.tts().emit({ type: 'flushed', context: 1 });
    world.clock.advance(200);
    call.hear(120, 0.9);
    call.hear(900, 0.01);
    world.clock.advance(2_000);
    const wire = Buffer.concat(call.transport.frames.map(({ frame }) => frame));
    // It was softer meanwhile, and nothing was left out.
    expect(wire.length).toBe(pcm.byteLength);
    expect(wire.subarray(-8_000).equals(Buffer.from(pcm.buffer).subarray(-8_000))).toBe(true);
    expect(wire.equals(Buffer.from(pcm.buffer))).toBe(false);
    expect(call.transport.pauses).toBe(0);
    expect(call.transport.told.filter((what) => what.startsWith('clear'))).toEqual([]);
  });

  it('writes an answer down within 100 ms of its text, and everything else at once', () => {
    const world = newWorld();
    const record = new CallRecords([new ArrayBuffer(callRecordBytes({ slots: 1 }))], { slots: 1 }).record(0);
    const call = world.newCall({ journal: new CallJournal(record, { offer: 1, toMachineMs: 0 }) });
    record.opened();
    greet(world, call);
    ask(call, 'What time is it?');
    expect(record.read().history).toContain('What time is it?');
    call.llm().emit({ type: 'text', text: 'It is noon, and' });
    expect(record.read().state).not.toContain('It is noon');
    world.clock.advance(80);
    call.llm().emit({ type: 'text', text: ' quite late' });
    world.clock.advance(40);
    expect(record.read().state).toContain('It is noon, and quite late');
  });

  it('asks TTS to wait while 8 s of audio do, and to go on when there is room', () => {
    const world = newWorld();
    const call = world.newCall();
    for (let i = 0; i < 10; i += 1) call.say(1, 1_000, false);
    expect(call.tts().asked.filter((what) => what === 'pause')).toHaveLength(1);
    world.clock.advance(5_000);
    expect(call.tts().asked).not.toContain('resume');
    world.clock.advance(1_500);
    expect(call.tts().asked.filter((what) => what === 'resume')).toHaveLength(1);
  });

  it('survives the failure of each stage, with a new session and an apology', () => {
    const world = newWorld();
    const call = world.newCall();
    const error = { kind: 'disconnected' } as const;
    call.tts().emit({ type: 'error', error });
    expect(call.stages.tts.map(({ closed }) => closed)).toEqual([true, false]);
    expect(call.tts().asked).toEqual(['speak 2 Hello there.', 'flush 2']);
    call.say(2, 400);
    world.clock.advance(1_500);
    call.stt().emit({ type: 'error', error });
    expect(call.stages.stt.map(({ closed }) => closed)).toEqual([true, false]);
    ask(call, 'Still there?');
    call.llm().emit({ type: 'error', error });
    expect(call.tts().asked.at(-2)).toBe('speak 3 Sorry, once more please.');
    expect([call.overs(), call.transport.told.includes('fail')]).toEqual([0, false]);
  });

  it('keeps a caller who says nothing through outages of STT between which its connection held', () => {
    const world = newWorld();
    const call = world.newCall();
    const outage = (seconds: number): void => {
      for (let second = 0; second < seconds; second += 1) {
        call.stt().emit({ type: 'error', error: { kind: 'disconnected' } });
        world.clock.advance(1_000);
      }
    };
    outage(7);
    world.clock.advance(9_000);
    outage(7);
    expect(call.stages.stt).toHaveLength(15);
    // The newer outage alone is longer than callers are kept: no session is opened any more.
    outage(7);
    expect(call.stages.stt.length).toBeLessThan(22);
  });

  it('tells a client that floods it to wait, and when to go on', () => {
    const world = newWorld();
    const call = world.newCall();
    const taken: boolean[] = [];
    call.enter(() => {
      for (let i = 0; i < 13; i += 1) taken.push(call.runner.audio(new Uint8Array(640)));
    });
    expect([taken.indexOf(false), call.transport.inputTakenCount]).toEqual([12, 0]);
    world.clock.advance(25);
    expect(call.transport.inputTakenCount).toBe(1);
  });

  it('is refused while the worker takes no calls, and opens nothing for it', () => {
    const world = newWorld();
    const call = world.newCall({ begin: false });
    world.stopTaking();
    call.begin();
    expect(call.stages.stt).toEqual([]);
    expect(call.transport.told).toEqual(['refuse server_busy']);
    call.enter(() => call.runner.ended('engine'));
    expect([call.overs(), world.host.count]).toEqual([1, 0]);
  });

  it('says goodbye in the protocol when the service stops', () => {
    const world = newWorld();
    const call = world.newCall();
    world.host.shutdownAll();
    expect(call.transport.told.at(-1)).toBe('end shutdown');
  });

  it('takes leave of the caller first where the service gives it time', () => {
    const world = newWorld();
    const call = world.newCall();
    greet(world, call);
    world.host.shutdownAll(4_000);
    expect(call.transport.told).not.toContain('end shutdown');
    expect(call.tts().asked.filter((one) => one.includes('Goodbye.'))).toHaveLength(1);
    call.say(2, 600);
    world.clock.advance(3_900);
    expect(call.transport.told.at(-1)).toBe('end shutdown');
  });

  it('closes everything when the client leaves, and does nothing afterwards', () => {
    const world = newWorld();
    const call = world.newCall();
    greet(world, call);
    ask(call, 'Hello?');
    call.llm().emit({ type: 'text', text: 'Well. ' });
    call.enter(() => call.runner.ended('disconnected'));
    expect([call.stages.open, call.runner.scope.closed, call.overs()]).toEqual([0, true, 1]);
    const told = call.transport.count;
    const asked = call.tts().asked.length;
    call.say(2, 1_000);
    call.llm().emit({ type: 'text', text: 'And on. ' });
    call.enter(() => call.runner.ended('closed'));
    call.enter(() => call.runner.dtmf('1'));
    world.clock.advance(60_000);
    expect([call.transport.count, call.tts().asked.length, call.overs()]).toEqual([told, asked, 1]);
  });
});

describe('a failure inside a call', () => {
  /** The caller talks into a long line of the agent. */
  const interrupt = (call: OneCall): void => {
    call.say(1, 3_000);
    call.hear(600, 0.9);
  };
  const greetAndAsk = (call: OneCall, advance: (ms: number) => void): void => {
    call.say(1, 40);
    advance(900);
    ask(call, 'x');
  };
  /** Where it is thrown, and what makes the call get there after its start. */
  const failures: [string, (call: OneCall, advance: (ms: number) => void) => void][] = [
    ['accept', () => undefined],
    ['stt.open', () => undefined],
    ['tts.open', () => undefined],
    ['tts.speak', () => undefined],
    ['tts.flush', () => undefined],
    ['audio out', (call) => call.say(1, 100)],
    ['mark', greetAndAsk],
    ['tick', (_, advance) => advance(40)],
    ['stt.audio', interrupt],
    ['clear', interrupt],
    ['tts.cancel', interrupt],
    ['tts.pause', (call) => call.say(1, 9_000)],
    ['stt.finalize', greetAndAsk],
    ['llm.start', greetAndAsk],
    ['end', (call) => call.enter(() => call.runner.shutdown())],
  ];

  it.each(failures)('in %s ends that call and no other', (place, reach) => {
    const world = newWorld();
    const other = world.newCall();
    const call = world.newCall({ begin: false });
    call.trap.place = place;
    call.begin();
    reach(call, (ms) => world.clock.advance(ms));
    expect(call.trap.place).toBeUndefined();
    expect(call.transport.told.at(-1)).toBe('fail');
    expect([call.stages.open, call.runner.scope.closed, call.overs()]).toEqual([0, true, 1]);
    const told = call.transport.count;
    other.say(1, 400);
    world.clock.advance(5_000);
    expect([call.transport.count, world.host.count]).toEqual([told, 1]);
    expect(other.transport.frames).toHaveLength(20);
  });

  it('in the middle of several orders leaves out those that follow', () => {
    const world = newWorld();
    const call = world.newCall({ begin: false });
    call.trap.pass = (place) => {
      if (place === 'tts.speak') call.runner.scope.fault(new Error('broken'));
    };
    call.begin();
    expect(call.transport.told).toEqual(['accept', 'fail']);
    expect([call.tts().asked, call.stages.open, call.overs()]).toEqual([['speak 1 Hello there.'], 0, 1]);
  });

  it('in the ending itself still frees the slot and closes the rest', () => {
    for (const place of ['fail', 'stt.close']) {
      const world = newWorld();
      const call = world.newCall();
      call.trap.place = place;
      call.enter(() => {
        throw new Error('broken');
      });
      expect(call.trap.place).toBeUndefined();
      expect([call.stages.open, call.runner.scope.closed, call.overs(), world.host.count]).toEqual([
        0,
        true,
        1,
        0,
      ]);
    }
  });

  it('of a TTS rate that no call can have closes the sessions that were opened', () => {
    const world = newWorld();
    const call = world.newCall({ begin: false });
    call.stages.ttsRate = 11_025;
    call.begin();
    expect([call.stages.stt.length, call.stages.open, call.overs()]).toEqual([1, 0, 1]);
    expect(call.transport.told).toEqual(['fail']);
  });
});

describe('a client that needs a lead', () => {
  it('is sent so far ahead, and at its time once there is a voice that may interrupt', () => {
    const world = newWorld();
    const call = world.newCall({ begin: false });
    call.transport.leadMs = 60;
    call.begin();
    call.say(1, 4_000);
    const from = world.clock.now();
    const aheadMs = (): number => 20 * call.transport.frames.length - (world.clock.now() - from);
    call.hear(400, 0.02);
    expect(aheadMs()).toBeGreaterThanOrEqual(60);
    call.hear(80, 0.9);
    // By the time that it gives way, it has nearly played what it had; it goes on softly first.
    expect([aheadMs(), call.transport.pauses]).toEqual([20, 0]);
    const held = call.transport.frames.length;
    call.hear(700, 0.02);
    expect(20 * (call.transport.frames.length - held)).toBeGreaterThan(60);
  });
});

describe('a call and its agent process', () => {
  const routeOf = newRouteOf(new Map([['acme', { signed: true }]]), () => undefined);
  const begin = (metadata: Readonly<Record<string, string>>) => {
    const world = newWorld();
    const starts: AdmittedStart[] = [];
    const call = world.newCall({
      ...{ metadata, routeOf, prepare: () => ({}), linked: (start) => starts.push(start) },
    });
    return { world, call, starts };
  };

  it('a route that demands a signed word refuses a client that names it, and no other process gets the call', () => {
    const { world, call, starts } = begin({ agent_route: 'acme' });
    expect(call.transport.told).toEqual(['refuse unsigned_route']);
    expect([starts, world.sessions.now]).toEqual([[], 0]);
    call.enter(() => call.runner.ended('engine'));
    expect([call.overs(), world.sessions.now]).toEqual([1, 0]);
  });

  it('the token of a call leads it, and names it', () => {
    const { starts } = begin({ agent_route: 'other', session_id: 's1', 'session.agent': 'acme' });
    expect(starts).toMatchObject([{ route: 'acme', sessionId: 's1' }]);
  });

  it('is never named by what its client chose', () => {
    const { starts } = begin({});
    expect(starts).toMatchObject([{ callId: 'c', sessionId: 'a session' }]);
    expect(starts[0]).not.toHaveProperty('route');
    const site = { newSessionId: () => 'new', wallNow: () => 0, log: newWorld().services.log };
    const start = { callId: 'own', sampleRate: 16_000, encoding: 'pcm16', metadata: {} } as const;
    expect(admitCall({ ...start, isOwnId: true }, site)?.sessionId).toBe('own');
    expect(admitCall(start, site)?.sessionId).toBe('new');
  });
});
