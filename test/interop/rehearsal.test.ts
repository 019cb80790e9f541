/** `console` and `rehearse` as commands: real processes, against a chat server and against the demo's providers. */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { agentText } from '../unit/rehearsal/agent-text.ts';
import { answer, FakeChat, toolCall } from '../support/fakes/fake-chat.ts';
import { reply } from '../support/fakes/fake-http.ts';
import { Observed } from '../support/process/observed.ts';
import { cleanEnv, stopped } from '../support/process/running-demo.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));
const pseudoTerminal = '/usr/bin/script';

class Command extends Observed {
  out = '';
  errors = '';
  readonly child: ChildProcessWithoutNullStreams;
  readonly status: Promise<number | null>;

  constructor(file: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    super();
    this.child = spawn(file, args, { cwd: project, env: { ...cleanEnv(), ...env } });
    this.child.stdin.on('error', () => undefined);
    this.child.stdout.on('data', (bytes: Buffer) => {
      this.out += bytes.toString();
      this.changed();
    });
    this.child.stderr.on('data', (bytes: Buffer) => (this.errors += bytes.toString()));
    this.status = once(this.child, 'close').then(([code]) => code as number | null);
  }

  async shows(text: string): Promise<void> {
    await this.until(() => this.out.includes(text));
  }
}

describe('an agent without sound', () => {
  const chat = new FakeChat();
  const folder = mkdtempSync(join(tmpdir(), 'rehearsal-'));
  const agent = join(folder, 'agent.toml');
  const scenarios = join(folder, 'scenarios.toml');
  const commands: Command[] = [];
  beforeAll(async () => {
    await chat.start();
    writeFileSync(agent, agentText(chat.baseUrl, 'greeting = "Hello."'));
  });
  afterEach(async () => {
    for (const { child } of commands.splice(0)) await stopped(child);
    chat.script.length = 0;
    chat.requests.length = 0;
  });
  afterAll(async () => {
    await chat.close();
    rmSync(folder, { recursive: true });
  });

  const cli = ['dist/supervisor/cli.js'];
  const start = (args: readonly string[], env?: Readonly<Record<string, string>>): Command => {
    const command = new Command(process.execPath, [...cli, ...args], env);
    commands.push(command);
    return command;
  };
  const rehearse = (text: string, ...options: string[]): Command => {
    writeFileSync(scenarios, text);
    return start(['rehearse', scenarios, agent, ...options]);
  };
  const consoleWith = async (input: string): Promise<Command> => {
    const command = start(['console', agent]);
    command.child.stdin.end(input);
    await command.status;
    return command;
  };

  describe('in the console', () => {
    it('takes every line of its input as a turn, and writes plain text', async () => {
      chat.script.push(answer('It is noon. Bye.'), answer('You pressed one.'));
      const { out, status } = await consoleWith('What time is it?\n\n/key 1\n/nonsense\n');
      expect(await status).toBe(0);
      expect(out.replaceAll(/[\d.]+ m?s/g, 'N')).toBe(
        `agent: Hello.
you: What time is it?
agent: It is noon. Bye.
  (first text N, complete N, N of speech)
you: (keys 1)
agent: You pressed one.
  (first text N, complete N, N of speech)
${out.slice(out.indexOf('This is not a command.'), out.indexOf('The caller hung up.'))}The caller hung up.
`,
      );
    });

    it('ends with the call, and shows tools', async () => {
      chat.script.push(toolCall('end_call', {}));
      const { out, status } = await consoleWith('Goodbye.\nIs anybody there?\n');
      expect(await status).toBe(0);
      expect(out).toContain('  tool end_call {}\n  tool end_call -> {"ok":true}\nagent: Goodbye.\n');
      expect(out.trimEnd()).toMatch(/The agent ended the call\.$/);
    });

    it('shows that the LLM failed, and lets the agent apologise', async () => {
      chat.script.push(reply({ status: 401 }));
      const { out } = await consoleWith('Hello.\n');
      expect(out).toContain('fault: llm rejected');
      expect(out).toContain('agent: Sorry');
    });

    it('removes what a terminal would take for orders', async () => {
      chat.script.push(answer('\u001b]0;owned\u0007\u001b[2JHi.'));
      const { out } = await consoleWith('Hello.\n');
      expect(out).toContain('agent: ]0;ownedHi.');
    });

    it.skipIf(!existsSync(pseudoTerminal))(
      'interrupts the agent with Ctrl-C on a terminal, in colours, and leaves with Ctrl-D',
      async () => {
        chat.script.push(
          answer('One two three four five six seven eight nine ten eleven twelve.'),
          answer('Fine.'),
        );
        const line = `"${process.execPath}" dist/supervisor/cli.js console "${agent}"`;
        const command = new Command(pseudoTerminal, ['-qec', line, '/dev/null'], { TERM: 'xterm' });
        commands.push(command);
        await command.shows('you> ');
        command.child.stdin.write('Count, please.\r');
        await command.shows('twelve');
        command.child.stdin.write('\u0003');
        await command.shows('(interrupted');
        command.child.stdin.write('Start again.\r');
        await command.shows('Fine.');
        command.child.stdin.write('\u0004');
        expect(await command.status).toBe(0);
        expect(command.out).toContain('\u001b[36magent: Hello.');
        const messages = chat.requests[1]?.body['messages'] as { role: string; content: string }[];
        expect(messages.at(-1)?.content).toMatch(/Start again\.$/);
        expect(JSON.stringify(messages)).not.toContain('twelve');
      },
    );
  });

  describe('in a rehearsal', () => {
    const greets = '[[scenario]]\nname = "greets"\ncaller = ["Hi."]\nexpect = { says = ["all right"] }\n';
    const fails = '[[scenario]]\nname = "fails"\ncaller = ["Hi."]\nexpect = { says = ["a miracle"] }\n';

    it('ends with 0 when every scenario passes', async () => {
      const command = rehearse(greets);
      expect(await command.status).toBe(0);
      expect(command.out).toMatch(
        /^ok {6}greets \(1 turn, [\d.]+ m?s\)\n1 passed, 0 failed in [\d.]+ m?s\n$/,
      );
    });

    it('ends with 1 when one fails, says why, and writes it down for build servers', async () => {
      const report = join(folder, 'junit.xml');
      const command = rehearse(greets + fails, '--jobs', '2', '--junit', report);
      expect(await command.status).toBe(1);
      expect(command.out).toMatch(
        /^ok {6}greets .*\nFAILED {2}fails .*\n {8}expected the agent to say "a miracle"; it said "Hello\. All right\."\n/,
      );
      expect(command.out).toContain('caller: Hi.\n');
      expect(readFileSync(report, 'utf8')).toContain('tests="2" failures="1"');
    });

    it('lets an LLM play the caller and judge the call', async () => {
      const players = new FakeChat();
      await players.start();
      players.script.push(
        answer('I want a table.'),
        toolCall('hang_up', {}),
        toolCall('give_verdict', { holds: true, reason: 'It did.' }),
        toolCall('give_verdict', { holds: false, reason: 'Nothing was booked.' }),
      );
      chat.script.push(answer('Of course.'));
      const command = rehearse(`
[caller.llm]
provider = "chat_compatible"
chat_compatible = { base_url = "${players.baseUrl}", model = "p" }
[[scenario]]
name = "played"
[scenario.caller]
goal = "Book a table."
[scenario.expect]
ended_by = "caller"
judge = ["The agent was polite.", "A table was booked."]
`);
      expect(await command.status).toBe(1);
      await players.close();
      expect(command.out).toContain('judged as not true: "A table was booked." (Nothing was booked.)');
      expect(command.out).toContain('caller: I want a table.\n          agent: Of course.\n');
      expect(command.out.match(/^ {8}\S.*$/gm)).toHaveLength(1);
      const asked = JSON.stringify(players.requests[1]?.body['messages']);
      expect(asked).toContain('Book a table.');
      expect(asked).toContain('Of course.');
    });
  });
});

describe('the demo agent', () => {
  let demo: Command;
  let agentFile: string;
  beforeAll(async () => {
    demo = new Command(process.execPath, ['dist/examples/demo/main.js', '--free-ports']);
    const [line] = (await once(createInterface({ input: demo.child.stdout }), 'line')) as [string];
    ({ agentFile } = JSON.parse(line) as { agentFile: string });
  });
  afterAll(() => stopped(demo.child));

  it('passes its scenarios', async () => {
    const args = ['dist/supervisor/cli.js', 'rehearse', 'examples/demo/rehearsal.toml', agentFile];
    const command = new Command(process.execPath, args);
    const status = await command.status;
    expect(command.out).toMatch(/ 0 failed in /);
    expect(status).toBe(0);
  });

  it('uses tools that a scenario answers for, without a network', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'rehearsal-'));
    const [agent, scenarios] = [join(folder, 'agent.toml'), join(folder, 'scenarios.toml')];
    const own = readFileSync(agentFile, 'utf8').replace(/^tools = .*$/m, '');
    writeFileSync(agent, own + bookings);
    writeFileSync(scenarios, bookingScenarios);
    const args = ['dist/supervisor/cli.js', 'rehearse', scenarios, agent];
    const command = new Command(process.execPath, args);
    const status = await command.status;
    rmSync(folder, { recursive: true });
    expect(command.out).toMatch(/^ok {6}books for four/m);
    expect(command.out).toMatch(/^FAILED {2}tries to order/m);
    expect(command.out).toContain('order_status was called, has no stand-in in the scenario');
    expect(status).toBe(1);
  });
});

/** Tools that the rules of the demo call when they are offered. */
const bookings = `
[[tools]]
name = "book_table"
description = "Books a table."
kind = "side_effect"
[tools.parameters]
type = "object"
[tools.parameters.properties]
people = { type = "integer" }
day = { type = "string" }
time = { type = "string" }
[tools.http]
method = "POST"
url = "https://booking.example/tables"
headers_env = { Authorization = "BOOKING_AUTH" }
[[tools]]
name = "order_status"
description = "Status of an order."
[tools.parameters]
type = "object"
properties = { order_number = { type = "string" } }
[tools.http]
url = "https://orders.example/{order_number}"
`;

const bookingScenarios = `
real_tools = false
[[scenario]]
name = "books for four"
caller = ["I would like a table for four people tomorrow at seven.", { say = "Yes please.", expect = { says = ["see you"] } }]
expect = { calls = [{ name = "book_table", arguments = { people = 4, day = "tomorrow" }, times = 1 }] }
[[scenario.tool]]
name = "book_table"
result = { text = "It is booked, see you then." }
[[scenario]]
name = "tries to order"
caller = ["Where is my order one two three?"]
`;
