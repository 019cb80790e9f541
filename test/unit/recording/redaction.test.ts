import { describe, expect, it } from 'vitest';
import { readRecording } from '../../../shared/recording/agent-file.ts';
import { ProblemList } from '../../../shared/config/problem.ts';
import { readToml } from '../../../shared/config/toml.ts';
import { Redactor } from '../../../shared/calls/privacy/redactor.ts';
import { Redaction } from '../../../shared/calls/privacy/redaction.ts';

const press = (redaction: Redaction, keys: string, from = 0): string[] =>
  Array.from(keys).map((key, index) => redaction.pressed(key, from + index * 300));

describe('what is taken out of a transcript', () => {
  it('is what a pattern matches, everywhere in a text', () => {
    const redaction = new Redaction({ redactDtmf: true, redact: ['[0-9]{4} [0-9]{4}', 'Ada'] });
    expect(redaction.text('Ada has 1234 5678, and 4321 8765.')).toBe(
      '[redacted] has [redacted], and [redacted].',
    );
  });

  it('are keys, and what was pressed wherever it comes up again', () => {
    const redaction = new Redaction({ redactDtmf: true, redact: [] });
    expect(press(redaction, '4711#')).toEqual(Array.from('4711#', () => '[redacted]'));
    expect(redaction.text('You entered 4711, or 4 7 1 1.')).toBe('You entered [redacted], or [redacted].');
    press(redaction, '9', 60_000);
    expect(redaction.text('Press 9; your number is 4-7-1-1.')).toBe('Press 9; your number is [redacted].');
  });

  it('is all of what was pressed, where a pattern matches a part of it', () => {
    const redaction = new Redaction({ redactDtmf: true, redact: ['[0-9][0-9 ]{2,4}[0-9]'] });
    press(redaction, '47114711#');
    expect(redaction.text('You entered 4 7 1 1 4 7 1 1.')).toBe('You entered [redacted].');
  });

  it('is what the agent file calls private, after what was pressed', () => {
    const privacy = new Redactor({ redact: ['card'], patterns: {}, languages: ['en'] });
    const redaction = new Redaction({ redactDtmf: true, redact: [], privacy });
    press(redaction, '1111#');
    expect(redaction.text('It is 5500 0055 5555 5559, and 1111.')).toBe('It is [card], and [redacted].');
  });

  it('takes no time that grows faster than the text, and is too much rather than too little', () => {
    const redaction = new Redaction({ redactDtmf: false, redact: ['^(\\w+\\s?)*$', 'a[^b]*b|a'] });
    expect(redaction.text(`${'a'.repeat(20_000)}!`)).toBe('[redacted]'.repeat(257));
  });

  it.each([
    [
      '(?=a)b',
      'recording.redact[0] must do without look-ahead, look-behind, back-references and more than 1,000 repetitions',
    ],
    ['(', 'recording.redact[0] must be a regular expression of JavaScript'],
    ['a*', 'recording.redact[0] must not match an empty text'],
    ['\\d{4}', undefined],
  ])('is told at the start where the pattern %s cannot be used', (pattern, rule) => {
    const file = readToml(`[recording]\ntranscript = true\nredact = ['${pattern}']`);
    const problems = new ProblemList(file.places);
    readRecording(file.tree?.['recording'], problems);
    expect(problems.sorted().map(({ message }) => message)).toEqual(rule === undefined ? [] : [rule]);
  });

  it('are no keys where the agent says so', () => {
    const redaction = new Redaction({ redactDtmf: false, redact: [] });
    expect(press(redaction, '4711')).toEqual(['4', '7', '1', '1']);
    expect(redaction.text('You entered 4711.')).toBe('You entered 4711.');
  });
});
