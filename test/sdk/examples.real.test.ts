/** The examples of the agent link as their READMEs say: `agent dev` beside the keyless demo, and callers who speak with them. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Conversation } from '../support/core/conversation.ts';
import { developmentPython } from '../support/python.ts';
import {
  spoken,
  startDemo,
  startService,
  stopped,
  type RunningDemo,
} from '../support/process/running-demo.ts';
import { Providers, TestService } from '../support/process/service.ts';
import { AgentDev } from './agent-dev-command.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));

const commands: AgentDev[] = [];

function run(args: readonly string[], env?: Readonly<Record<string, string>>): AgentDev {
  const command = new AgentDev(args, env);
  commands.push(command);
  return command;
}

afterEach(async () => {
  for (const { child } of commands.splice(0)) await stopped(child);
});

const ownService = ['--no-service', '--tap-port', '0'];
const urlOf = async (command: AgentDev): Promise<string> =>
  (await command.says(/SVC_AGENT_URL=(\S+)/))[1] ?? '';

describe('beside the demo', () => {
  const rate = 16_000;
  const folder = mkdtempSync(join(tmpdir(), 'orders-'));
  let demo: RunningDemo;
  let receptionist: AgentDev;
  /** Where the order line is reached, or why it cannot be run here. */
  let orders: { readonly command: AgentDev } | { readonly problem: string };

  beforeAll(async () => {
    receptionist = new AgentDev(['examples/agent-link/receptionist/receptionist.ts', ...ownService]);
    const found = await developmentPython();
    if ('problem' in found) orders = found;
    else {
      const env = {
        PATH: `${dirname(found.python)}:${process.env['PATH'] ?? ''}`,
        ORDERS_DB: join(folder, 'orders.sqlite3'),
      };
      orders = { command: new AgentDev(['examples/agent-link/orders/orders.py', ...ownService], env) };
    }
    await receptionist.says(/the agent listens/);
    demo = await startDemo({ SVC_AGENT_URL: await urlOf(receptionist) });
  }, 300_000);

  afterAll(async () => {
    await demo.stop();
    await stopped(receptionist.child);
    if ('command' in orders) await stopped(orders.command.child);
    rmSync(folder, { recursive: true });
  });

  /** A call whose caller speaks this sentence behind the greeting. */
  async function says(ws: string, sentence: string): Promise<Conversation> {
    const call = await Conversation.open({ ws, rate });
    await call.answerSince(0);
    await call.ask(await spoken(demo, sentence, { rate }));
    return call;
  }

  it('the receptionist transfers, and says what is so where calls cannot be transferred', async () => {
    const call = await Conversation.open({ ws: demo.ws, rate });
    call.client.sendText('Can I speak to a person?');
    await receptionist.says(/ < transfer .*destination="\+15550100100"/);
    await receptionist.says(/ > command\.result .*"code":"unsupported"/);
    await receptionist.says(/ > bot\.tts_text .*nobody is free just now/);
    await call.client.hangUp();
  });

  it.concurrent('the receptionist books a table', async () => {
    const call = await says(demo.ws, 'Book a table for four tomorrow at seven thirty.');
    call.client.sendText('Yes please.');
    await receptionist.says(
      / > tool\.call .*name="book_table" {2}arguments=\{"people":4,"day":"tomorrow","time":"\d\d:30"\}/,
    );
    await receptionist.says(/ < tool\.result .*is booked/);
    await call.client.hangUp();
  });

  it.concurrent('the order line places an order in its database', async (context) => {
    if ('problem' in orders) {
      context.skip(true, orders.problem);
      return;
    }
    const { command } = orders;
    await command.says(/listens on/);
    const service = await startService(demo, { SVC_AGENT_URL: await urlOf(command) });
    const call = await says(service.ws, 'Two pizzas please.');
    await command.says(/ < tool\.result .*2 pizza/);
    // Typed behind each answer: a question that was not heard to its end cannot be agreed to.
    for (const [text, answer] of [
      ['I would like a lasagna.', / > bot\.tts_text .*1 lasagna/],
      ["That's all.", / > bot\.tts_text .*What name/],
      ['My name is Anna.', / > bot\.tts_text .*Shall I go ahead/],
      ['Yes please.', / < tool\.result .*has the number 101: 2 pizza, 1 lasagna, for 32\.50 euros/],
    ] as const) {
      const from = command.lines.length;
      call.client.sendText(text);
      await command.says(answer, from);
      await command.says(/ > turn\.bot_ended/, from);
    }
    await call.client.hangUp();
    await service.stop();
    const found = spawnSync(
      'python3',
      [
        '-c',
        `import sqlite3,sys; print(sqlite3.connect(sys.argv[1]).execute("SELECT number, name, items, total_cents FROM orders").fetchall())`,
        join(folder, 'orders.sqlite3'),
      ],
      { encoding: 'utf8' },
    );
    expect(found.stdout.trim()).toBe("[(101, 'Anna', '2 pizza, 1 lasagna', 3250)]");
  });
});

describe('the tenants', () => {
  const shipped = readFileSync(join(project, 'examples/agent-link/tenants/agent.toml'), 'utf8');

  it.each([
    ['pizza', /Pizza Corner/],
    ['salon', /hair salon/],
    ['elsewhere', /reception/],
  ])('answer a call of the route %s each in its own words', async (route, words) => {
    const command = run(['examples/agent-link/tenants/tenants.ts', ...ownService], {
      SVC_AGENT_TOKEN: 'token',
    });
    const url = await urlOf(command);
    await command.says(/the agent listens/);
    const routes = shipped.slice(shipped.indexOf('[agent_link]')).replaceAll('ws://127.0.0.1:8091', url);
    const providers = await new Providers().start();
    const agentText = `${providers.agentText({})}\n${routes}`;
    const service = await TestService.start({
      agentText,
      env: { SVC_AGENT_URL: url, SVC_AGENT_TOKEN: 'token' },
    });
    const call = await service.call({ metadata: { agent_route: route } });
    const [line] = await command.says(/ < session\.accept .*/);
    expect(line).toMatch(words);
    await call.hangUp();
    await service.stop();
    await providers.close();
  });
});
