/** What the command line says of names and arguments before it runs a command. */
import { describe, expect, it } from 'vitest';
import { chooseCommand, commands, readArguments, usageError } from '../../../cli/commands/commands.ts';

/** What is wrong with a line, as it is printed; undefined where a command would run. */
function mistakeIn(line: string): string | undefined {
  const choice = chooseCommand(line.split(' '));
  if ('wrong' in choice) return choice.wrong;
  if ('help' in choice) return undefined;
  const read = readArguments(choice.name, choice.args);
  return read.ok ? undefined : usageError(choice.name, read.error);
}

describe('the command line', () => {
  it.each(Object.keys(commands).filter((name) => name !== 'serve'))('explains %s', (name) => {
    for (const option of ['--help', '-h']) {
      const choice = chooseCommand([...name.split(' '), option]);
      expect('help' in choice ? choice.help : choice).toMatch(
        new RegExp(`^usage: svc-supervisor ${name}\\b`),
      );
    }
  });

  it.each([
    ['chekc agent.toml', 'unknown command chekc; did you mean check?'],
    ['--worker 2', 'unknown option --worker; did you mean --workers?'],
    ['stray-0123456789abcdef0123456789abcdef', 'unknown command\n'],
    ['check', 'FILE is missing'],
    ['check a.toml --conect', 'unknown option --conect; did you mean --connect?'],
    ['check a.toml --require-secrets=yes', '--require-secrets: takes no value'],
    ['config all', 'too many arguments: config takes options alone'],
    ['token', 'token: must be followed by mint or inspect'],
    ['token mint --audience x', 'unknown option --audience'],
    ['models pull --form x', 'unknown option --form; did you mean --from?'],
    ['local --stt-prot 1', 'unknown option --stt-prot; did you mean --stt-port?'],
    ['console', 'AGENT.toml is missing'],
    ['rehearse a.toml', 'AGENT.toml is missing'],
    ['call a.wav --tokn canary-secret', 'unknown option --tokn; did you mean --token?'],
    ['call a.wav --token', '--token: needs a value'],
  ])('has one clear mistake for: %s', (line, mistake) => {
    const said = mistakeIn(line) ?? '';
    expect(`${said}\n`).toContain(mistake);
    expect(said.split('\n').length).toBeLessThanOrEqual(2);
    expect(said).not.toMatch(/canary|0123456789/);
  });

  it.each(['check a.toml', '--workers 2', 'token mint --aud svc-ws', 'call a.wav --token t'])(
    'has nothing against: %s',
    (line) => expect(mistakeIn(line)).toBeUndefined(),
  );
});
