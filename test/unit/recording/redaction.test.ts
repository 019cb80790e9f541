import { describe, expect, it } from 'vitest';
import { readRecording } from '../../../shared/recording/agent-file.ts';
import { ProblemList } from '../../../shared/config/problem.ts';
import { readToml } from '../../../shared/config/toml.ts';
import { Redactor } from '../../../shared/calls/privacy/redactor.ts';
import { Redaction, type Keys } from '../../../shared/calls/privacy/redaction.ts';

const press = (redaction: Redaction, keys: string, from = 0): string[] =>
  Array.from(keys).map((key, index) => redaction.pressed(key, from + index * 300));

const keys = ({
  languages = ['en'],
  interDigitMs = 3_000,
  ...before
}: Partial<Keys> & { languages?: string[]; interDigitMs?: number } = {}): Keys => ({
  settings: { languages, dtmf: { interDigitMs } },
  entries: [],
  digits: '',
  ...before,
});

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
    ['en', 'You entered four seven one one.', 'You entered [redacted].'],
    ['en', 'forty-seven eleven, is that right?', '[redacted], is that right?'],
    ['en', 'Four, seven, double one?', '[redacted]?'],
    ['en', 'four and seven, 1 1', '[redacted]'],
    ['de', 'Sie haben vier sieben eins eins gewählt.', 'Sie haben [redacted] gewählt.'],
    ['hi', '४७११', '[redacted]'],
    ['ar', '٤٧١١', '[redacted]'],
    ['en', '{"pin":["4","7","1","1"],"n":[4,7,1,1]}', '{"pin":["[redacted]"],"n":[[redacted]]}'],
    ['en', 'It is order 147115, sir.', 'It is order [redacted], sir.'],
    ['en', 'four seven eleven and 47 of 110', '[redacted] and 47 of 110'],
    ['en', 'It ends in 711, sir.', 'It ends in 711, sir.'],
    ['en', 'You entered four seven', 'You entered [redacted]'],
    ['en', 'You entered four seven, one …', 'You entered [redacted] …'],
    ['en', 'You entered four', 'You entered four'],
    ['en', 'one one, is that right?', '[redacted], is that right?'],
    ['en', 'At 11:30 we open at 47', 'At 11:30 we open at [redacted]'],
    ['en', '47', '[redacted]'],
  ])('are keys however they are read out in %s: %s', (language, text, expected) => {
    const redaction = new Redaction({ redactDtmf: true, redact: [] });
    redaction.begin(keys({ languages: [language] }), 0);
    press(redaction, '4711#');
    expect(redaction.text(text)).toBe(expected);
  });

  it('are keys that somebody presses as slowly as the agent waits for them', () => {
    const redaction = new Redaction({ redactDtmf: true, redact: [] });
    redaction.begin(keys({ interDigitMs: 30_000 }), 0);
    for (const [index, key] of Array.from('4711').entries()) redaction.pressed(key, index * 25_000);
    expect(redaction.text('You entered 4711.')).toBe('You entered [redacted].');
  });

  it('are keys of before another worker took the call up, and what is added to them', () => {
    const redaction = new Redaction({ redactDtmf: true, redact: [] });
    redaction.begin(keys({ entries: ['4711', '9*123'], digits: '55' }), 1_000);
    press(redaction, '66#', 2_000);
    expect(redaction.text('4711, then it was 123, and now 5566; 9 of 55 rooms')).toBe(
      '[redacted], then it was [redacted], and now [redacted]; 9 of 55 rooms',
    );
    const open = new Redaction({ redactDtmf: false, redact: [] });
    open.begin(keys({ entries: ['4711'] }), 1_000);
    expect(open.text('4711')).toBe('4711');
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
