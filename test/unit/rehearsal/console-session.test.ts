import { describe, expect, it } from 'vitest';
import { ConsoleSession } from '../../../cli/rehearsal/console/console-session.ts';
import type { Conversation, Goal } from '../../../cli/rehearsal/conversation.ts';

/** A call that notes what it is asked, and whose runs end when they are told to. */
class FakeCall implements Conversation {
  readonly asked: string[] = [];
  isOver = false;
  interruptible = true;
  #endRun: (() => void) | undefined;

  say(text: string): void {
    this.asked.push(`say ${text}`);
  }

  press(keys: string): void {
    this.asked.push(`press ${keys}`);
  }

  interrupt(): boolean {
    this.asked.push('interrupt');
    return this.interruptible;
  }

  hangUp(): void {
    this.asked.push('hang up');
    this.isOver = true;
    this.#endRun?.();
  }

  hurry(): void {
    this.asked.push('hurry');
  }

  close(): void {
    this.isOver = true;
  }

  run(goal: Goal): Promise<void> {
    this.asked.push(goal.until === 'time' ? `run ${goal.ms}` : `run ${goal.until}`);
    return new Promise((resolve) => (this.#endRun = resolve));
  }

  /** The agent has finished. Resolves once the console has taken note. */
  async finish(): Promise<void> {
    this.#endRun?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function newConsole(isInteractive = true) {
  const call = new FakeCall();
  const notices: string[] = [];
  const wanted: boolean[] = [];
  const session = new ConsoleSession(call, {
    notice: (line) => void notices.push(line),
    isInteractive,
    wantsLines: (wants) => void wanted.push(wants),
  });
  return { call, session, notices, wanted, over: session.run() };
}

describe('the console', () => {
  it('says one line after another, each once the agent has finished', async () => {
    const { call, session } = newConsole(false);
    session.line('one');
    session.line('two');
    expect(call.asked).toEqual(['run quiet']);
    await call.finish();
    expect(call.asked).toEqual(['run quiet', 'say one', 'run quiet']);
    await call.finish();
    expect(call.asked.slice(3)).toEqual(['say two', 'run quiet']);
  });

  it('lets nobody wait for the end of what they have read', async () => {
    const { call, session } = newConsole();
    session.line('one');
    expect(call.asked).toEqual(['run quiet', 'hurry']);
    await call.finish();
    expect(call.asked.slice(2)).toEqual(['say one', 'run quiet']);
  });

  it('says what waits before it hangs up at the end of its input', async () => {
    const { call, session, over } = newConsole(false);
    session.line('one');
    session.end();
    await call.finish();
    await call.finish();
    await over;
    expect(call.asked).toEqual(['run quiet', 'say one', 'run quiet', 'hang up']);
  });

  it('leaves at once when a person leaves', async () => {
    const { call, session, over } = newConsole();
    session.line('one');
    session.end();
    await over;
    expect(call.asked).toEqual(['run quiet', 'hurry', 'hang up']);
  });

  it('presses keys, waits and quits by command', async () => {
    const { call, session, over } = newConsole(false);
    for (const line of ['/key 12#', '/wait 15', '/quit']) session.line(line);
    for (let runs = 0; runs < 4; runs += 1) await call.finish();
    await over;
    expect(call.asked).toEqual(['run quiet', 'press 12#', 'run quiet', 'run 15000', 'run quiet', 'hang up']);
  });

  it.each(['/key x', '/key', '/wait 0', '/wait 99999', '/wait 1 2', '/quit now', '/nonsense', '/'])(
    'does nothing for %s and says what there is',
    async (line) => {
      const { call, session, notices } = newConsole(false);
      session.line(line);
      await call.finish();
      expect(call.asked).toEqual(['run quiet']);
      expect(notices.join()).toMatch(/not a command[^]*\/quit/);
    },
  );

  it('says nothing for empty lines and refuses endless ones', async () => {
    const { call, session, notices } = newConsole(false);
    session.line('  ');
    session.line('x'.repeat(5_000));
    await call.finish();
    expect(call.asked).toEqual(['run quiet']);
    expect(notices).toEqual(['A line has at most 4096 characters.']);
  });

  it('interrupts, and says so when there is nothing to interrupt', () => {
    const { call, session, notices } = newConsole();
    session.interrupt();
    expect(notices).toEqual([]);
    call.interruptible = false;
    session.interrupt();
    expect(notices).toEqual([expect.stringContaining('Nothing to interrupt')]);
  });

  it('reads no further than it can keep', async () => {
    const { session, call, wanted } = newConsole(false);
    for (let line = 0; line < 16; line += 1) session.line(`line ${line}`);
    expect(wanted).toEqual([false]);
    for (let runs = 0; runs < 17; runs += 1) await call.finish();
    expect(wanted).toEqual([false, true]);
  });
});
