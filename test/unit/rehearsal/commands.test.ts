import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { runConsole } from '../../../cli/rehearsal/console/console-command.ts';
import { runRehearse } from '../../../cli/rehearsal/scenarios/rehearse-command.ts';
import { FakeChat, toolCall } from '../../support/fakes/fake-chat.ts';
import { reply, silence } from '../../support/fakes/fake-http.ts';
import { agentText } from './agent-text.ts';

const chat = new FakeChat();
const folder = mkdtempSync(join(tmpdir(), 'commands-'));
beforeAll(() => chat.start());
afterEach(() => void (chat.script.length = 0));
afterAll(async () => {
  await chat.close();
  rmSync(folder, { recursive: true });
});

/** Runs the command on an agent and this text as `s.toml`. */
async function rehearse(scenarios: string, ...options: string[]) {
  let out = '';
  const errors: string[] = [];
  const files: Readonly<Record<string, string>> = {
    's.toml': scenarios,
    'a.toml': agentText(chat.baseUrl, 'greeting = "Hello."'),
    'broken.toml': '[agent]\nname = 3\n',
  };
  const args = options[0]?.endsWith('.toml') === true ? options : ['s.toml', 'a.toml', ...options];
  const status = await runRehearse(args, {
    env: {},
    clock: systemClock,
    readFile: (path) => files[path],
    readBytes: () => undefined,
    output: { write: (text) => void (out += text) },
    writeError: (line) => void errors.push(line),
  });
  return { status, out, errors: errors.join('\n') };
}

const scenario = (name: string, keys = 'caller = ["Hi."]'): string =>
  `[[scenario]]\nname = "${name}"\n${keys}\n`;
const fails = 'caller = ["Hi."]\nexpect = { says = ["a miracle"] }';

describe('rehearse', () => {
  it('says once who refused the LLM, why, and what to change', async () => {
    const refused = reply({
      status: 401,
      chunks: ['{"error":{"code":"invalid_api_key","message":"Invalid API key canary1234 of Zeynep"}}'],
    });
    chat.script.push(refused, refused);
    const { status, errors } = await rehearse(
      scenario('one', 'caller = ["Hi.", "Are you there?"]\nexpect = { says = ["a miracle"] }'),
    );
    expect(status).toBe(1);
    expect(errors.match(/rejected 401/g)).toHaveLength(1);
    expect(errors).toMatch(
      /^llm .* at 127\.0\.0\.1:\d+: rejected 401 \(invalid_api_key\); .*llm\.api_key_env/,
    );
    expect(errors).not.toMatch(/canary|Zeynep/);
  });

  it('plays only what is asked for', async () => {
    const played = await rehearse(scenario('one') + scenario('two', fails), '--only', 'one');
    expect(played.status).toBe(0);
    expect(played.out).toMatch(/^ok {6}one \(1 turn, [\d.]+ m?s\)\n1 passed, 0 failed in [\d.]+ m?s\n$/);
    const unknown = await rehearse(scenario('one'), '--only', 'gone');
    expect(unknown).toMatchObject({ status: 2, out: '', errors: '--only: no scenario is named "gone"' });
  });

  it('fails a scenario that the LLM did not answer, although nothing was said that must not be', async () => {
    chat.script.push(reply({ status: 401 }));
    const { status, out } = await rehearse(
      scenario('fails', 'caller = ["Hi."]\nexpect = { never_says = ["a miracle"] }'),
    );
    expect(status).toBe(1);
    expect(out).toContain('\n        the LLM left an answer unsaid\n');
  });

  it('fails a scenario in which something was expected that did not happen, and says at which step', async () => {
    const steps = '["Hi.", { say = "And now?", expect = { says = ["a miracle"] } }]';
    const keys = `caller = ${steps}\nexpect = { says = ["another one"] }`;
    const { status, out } = await rehearse(scenario('fails', keys));
    expect(status).toBe(1);
    expect(out).toMatch(
      /^FAILED {2}fails \(2 turns, .*\n {8}step 2: expected the agent to say "a miracle"; it said "All right\."\n/,
    );
    expect(out).toContain('expected the agent to say "another one"');
    expect(out).toMatch(/\n0 passed, 1 failed in /);
  });

  it('tells results in the order of the file, whichever is ready first', async () => {
    chat.script.push(silence);
    const slow = 'timeout_s = 1\ncaller = ["Hi."]';
    const { status, out } = await rehearse(scenario('slow', slow) + scenario('fast'), '--jobs', '2');
    expect(status).toBe(1);
    expect(out).toMatch(/^FAILED {2}slow [^]*\nok {6}fast /);
    expect(out).toContain('the scenario was not over after 1 s');
  });

  it('shows conversations that passed when it is asked to', async () => {
    expect((await rehearse(scenario('one'))).out).not.toContain('caller: Hi.');
    expect((await rehearse(scenario('one'), '--verbose')).out).toContain('caller: Hi.\n');
  });

  it('fails a scenario whose caller has steps left when the agent hangs up', async () => {
    chat.script.push(toolCall('end_call', {}));
    const { status, out } = await rehearse(scenario('short', 'caller = ["Hi.", "And then?"]'));
    expect(status).toBe(1);
    expect(out).toContain('the call was over before step 2 of the caller');
  });

  it('lets the caller hang up, and takes that as the end', async () => {
    const keys = 'caller = ["Hi.", { hang_up = true }]\nexpect = { ended_by = "caller" }';
    expect((await rehearse(scenario('leaves', keys))).status).toBe(0);
  });

  it('writes a report, and says when it cannot', async () => {
    const file = join(folder, 'report.xml');
    expect((await rehearse(scenario('one'), '--junit', file)).status).toBe(0);
    expect(readFileSync(file, 'utf8')).toContain('<testcase name="one"');
    const nowhere = join(folder, 'missing', 'report.xml');
    expect(await rehearse(scenario('one'), '--junit', nowhere)).toMatchObject({ status: 2 });
  });

  it('shows the place of every mistake in both files and plays nothing', async () => {
    const broken = scenario('one', 'caller = [{ sya = "Hi" }]');
    const { status, out, errors } = await rehearse(broken, 's.toml', 'broken.toml');
    expect({ status, out }).toEqual({ status: 2, out: '' });
    expect(errors).toContain('s.toml:3:13: error: scenario[0].caller[0].sya is not a known key');
    expect(errors).toContain('broken.toml:2:8: error: agent.name must be a text in quotes');
  });

  it.each([
    ['a stand-in for', 'caller = ["Hi."]\n[[scenario.tool]]\nname = "bok"\nresult = 1'],
    ['what is expected of', 'caller = ["Hi."]\nexpect = { never_calls = ["end_call", "bok"] }'],
    ['what a step expects of', 'caller = [{ say = "Hi.", expect = { calls = [{ name = "bok" }] } }]'],
  ])('refuses %s a tool that the agent cannot have', async (_, keys) => {
    const { status, errors } = await rehearse(scenario('one', keys));
    expect(status).toBe(2);
    expect(errors).toBe('scenario "one": the agent has no tool of the name bok');
  });

  it.each([
    ['one file', ['s.toml']],
    ['three files', ['s.toml', 'a.toml', 'c.toml']],
    ['an unknown option', ['s.toml', 'a.toml', '--fast']],
    ['an option without its value', ['s.toml', 'a.toml', '--only']],
    ['no number of jobs', ['s.toml', 'a.toml', '--jobs', '0']],
    ['a file that is not there', ['s.toml', 'missing.toml']],
    ['scenarios that are not there', ['missing.toml', 'a.toml']],
  ])('ends with 2 for %s', async (_, args) => {
    const { status, out, errors } = await rehearse(scenario('one'), ...args);
    expect({ status, out }).toEqual({ status: 2, out: '' });
    expect(errors).toMatch(
      /usage: svc-supervisor rehearse|missing\.toml:1:1: error: the file cannot be read/,
    );
  });
});

describe('console', () => {
  it.each([
    ['no file', []],
    ['two files', ['a.toml', 'b.toml']],
    ['an option', ['--fast']],
    ['a file that is not there', ['missing.toml']],
  ])('ends with 2 for %s', async (_, args) => {
    const errors: string[] = [];
    const status = await runConsole(args, {
      env: {},
      clock: systemClock,
      readFile: () => undefined,
      readBytes: () => undefined,
      input: new PassThrough(),
      output: new PassThrough(),
      writeError: (line) => void errors.push(line),
    });
    expect(status).toBe(2);
    expect(errors.join()).toMatch(/usage: svc-supervisor console|missing\.toml:1:1: error/);
  });
});
