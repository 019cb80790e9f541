import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../shared/runtime/clock.ts';
import {
  answerKeys,
  cannedToolKeys,
  fileKeys,
  personaKeys,
  scenarioExpectKeys,
  scenarioKeys,
  stepKeys,
} from '../../../cli/rehearsal/scenarios/scenario-keys.ts';
import { runRehearse } from '../../../cli/rehearsal/scenarios/rehearse-command.ts';
import { readScenarioFile } from '../../../cli/rehearsal/scenarios/scenario-file.ts';

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
const page = read('docs/rehearsal.md');

describe('docs/rehearsal.md', () => {
  it('shows scenarios that are accepted', () => {
    const files = [...page.matchAll(/```toml\n([^`]*)```/g)].map(([, text = '']) =>
      readScenarioFile(text, {}),
    );
    expect(files.flatMap(({ problems }) => problems)).toEqual([]);
    expect(files.map(({ file }) => file?.scenarios.length)).toEqual([2, 1]);
  });

  it.each(
    [fileKeys, scenarioKeys, stepKeys, answerKeys, personaKeys, cannedToolKeys, scenarioExpectKeys].flatMap(
      ({ shape }) => Object.keys(shape),
    ),
  )('explains the key %s', (key) => {
    expect(page).toMatch(new RegExp(`\`${key}\\b`));
  });
});

describe('the scenarios of the demo', () => {
  it('are accepted', () => {
    expect(readScenarioFile(read('examples/demo/rehearsal.toml'), {}).problems).toEqual([]);
  });
});

describe('an agent that was written from the documentation alone', () => {
  it('passes its rehearsal, without a key and without a network', async () => {
    let out = '';
    const files = ['dentist.rehearsal.toml', 'dentist.toml'].map((name) => `examples/agents/${name}`);
    const status = await runRehearse(files, {
      env: {},
      clock: systemClock,
      readFile: read,
      readBytes: () => undefined,
      output: { write: (text) => void (out += text) },
      writeError: (line) => void (out += line),
    });
    expect(status, out).toBe(0);
    expect(out).toContain('4 passed');
  });
});
