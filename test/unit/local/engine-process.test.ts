/** A speech engine's process: real children, and a clock that the test moves. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EngineProcess } from '../../../cli/commands/local/engine-process.ts';
import { Observed } from '../../support/process/observed.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';

interface Message {
  readonly type: string;
  readonly text?: string;
}

const answering = `
  process.on('message', (message) => {
    if (message.type === 'setup') process.send({ type: 'ready' });
    else if (message.type === 'ping') process.send({ type: 'pong' });
    else if (message.type === 'die') process.exit(3);
    else process.send({ type: 'heard', text: message.text });
  });
  process.on('disconnect', () => process.exit(0));`;

let folder: string;
let engine: EngineProcess<Message, Message>;
let clock: ReturnType<typeof newVirtualClock>;

class Told extends Observed {
  readonly all: string[] = [];
  readonly errors: string[] = [];
  note(what: string): void {
    this.all.push(what);
    this.changed();
  }
}
let told: Told;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-engine-'));
  clock = newVirtualClock();
  told = new Told();
});
afterEach(() => {
  engine.close();
  rmSync(folder, { recursive: true, force: true });
});

function open(code: string): EngineProcess<Message, Message> {
  const entry = join(folder, 'engine.mjs');
  writeFileSync(entry, code);
  engine = new EngineProcess({
    name: 'voice',
    entry: pathToFileURL(entry),
    setup: { type: 'setup' },
    clock,
    log: { error: (_: object, text: string) => void told.errors.push(text) },
    ready: () => told.note('ready'),
    message: ({ text }) => told.note(`heard ${text}`),
    gone: () => told.note('gone'),
  });
  return engine;
}

describe('the process of a speech engine', () => {
  it('is ready once the engine says so, and passes messages on', async () => {
    expect(open(answering).send({ type: 'say', text: 'too early' })).toBe(false);
    expect(await engine.start()).toEqual({ ok: true, value: undefined });
    expect(engine.send({ type: 'say', text: 'hello' })).toBe(true);
    await told.until(() => told.all.includes('heard hello'));
    expect(told.all).toEqual(['ready', 'heard hello']);
  });

  it('is not tried again when it ends before it was ever ready', async () => {
    const started = await open('process.exit(255)').start();
    expect(started).toMatchObject({
      ok: false,
      error: expect.stringContaining('the voice could not') as string,
    });
    expect([clock.pending, told.all]).toEqual([0, []]);
  });

  it('is given up when it does not load in two minutes', async () => {
    const started = open('setInterval(() => undefined, 1000)').start();
    clock.advance(120_000);
    expect((await started).ok).toBe(false);
  });

  it('is started again after a pause when it dies, and what it worked on is lost', async () => {
    await open(answering).start();
    engine.send({ type: 'die' });
    await told.until(() => told.all.includes('gone'));
    expect([engine.isReady, engine.send({ type: 'say' })]).toEqual([false, false]);
    clock.advance(200);
    await told.until(() => told.all.length === 3);
    expect(told.all).toEqual(['ready', 'gone', 'ready']);
    expect(told.errors).toEqual(['an engine process died; it is started again']);
  });

  it('is killed when it hangs', async () => {
    const hanging = `${answering}
      process.on('message', ({ type }) => { while (type === 'hang'); });`;
    await open(hanging).start();
    engine.send({ type: 'hang' });
    clock.advance(70_000);
    await told.until(() => told.all.includes('gone'));
    expect(told.errors[0]).toBe('an engine process hangs and is killed');
  });

  it('lives on while it answers pings', async () => {
    await open(answering).start();
    for (let ping = 0; ping < 14; ping += 1) {
      clock.advance(5_000);
      // Its answer to this comes behind the one to the ping.
      engine.send({ type: 'say', text: String(ping) });
      await told.until(() => told.all.includes(`heard ${ping}`));
    }
    expect(told.errors).toEqual([]);
  });

  it('is gone for good when it is closed', async () => {
    await open(answering).start();
    engine.close();
    expect(engine.send({ type: 'say' })).toBe(false);
    clock.advance(60_000);
    expect([told.all, clock.pending]).toEqual([['ready'], 0]);
  });
});
