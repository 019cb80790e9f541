/** The recording of an announcement is checked with the file that names it: each rule is an error that names the key. */
import { describe, expect, it } from 'vitest';
import { writeWav } from '../../../shared/audio/wav.ts';
import { changed, errorsOf, load } from './agent-text.ts';

const tone = (length: number, peak = 8_000): Int16Array =>
  Int16Array.from({ length }, (_, at) => Math.round(peak * Math.sin(at / 4)));

const table = '[agent.announcement]\nfile = "desk.wav"\ntext = "Call again."\n';
const withTable = (lines = table): string => changed(['[stt]\n', `${lines}\n[stt]\n`]);
const errorsWith = (bytes: Uint8Array | undefined): string[] =>
  errorsOf(withTable(), { readBytes: () => bytes });

const key = 'agent.announcement.file';
const good = writeWav(tone(8_000), 8_000);

/** A good file with one byte of its header changed. */
function broken(at: number, value: number): Uint8Array {
  const bytes = good.slice();
  bytes[at] = value;
  return bytes;
}

describe('the announcement', () => {
  it('is read from the file that is named, and says what the file says', () => {
    const asked: string[] = [];
    const readBytes = (path: string): Uint8Array => {
      asked.push(path);
      return good;
    };
    const { definition } = load(withTable(), { readBytes });
    expect(asked).toEqual(['desk.wav']);
    const { announcement } = definition!.agent;
    expect(announcement.text).toBe('Call again.');
    expect(announcement.recording).toMatchObject({ sampleRate: 8_000, pcm: tone(8_000) });
  });

  it.each([8_000, 16_000, 22_050, 24_000, 44_100, 48_000])('may have %i Hz', (rate) => {
    expect(errorsWith(writeWav(tone(rate), rate))).toEqual([]);
  });

  it.each([
    [
      'cannot be read',
      undefined,
      'names a file that cannot be read: it is not there (a path begins in the folder of the agent file)',
    ],
    ['is too large', new Uint8Array(2_000_001), 'names a file of more than 2000000 bytes'],
    [
      'is no WAV file',
      new Uint8Array(100),
      'names a file that is not the WAV file it should be: not a WAV file: no RIFF/WAVE header',
    ],
    [
      'has samples of another kind',
      broken(34, 24),
      'names a file that is not the WAV file it should be: bits per sample: must be 16 for PCM, 32 for float, 8 for mu-law',
    ],
    [
      'has more channels than two',
      broken(22, 3),
      'names a file that is not the WAV file it should be: channels: must be 1 or 2',
    ],
    [
      'has another rate',
      writeWav(tone(11_025), 11_025),
      'names a recording whose sample rate is not one of 8000, 16000, 22050, 24000, 44100, 48000 Hz',
    ],
    ['is too short', writeWav(tone(2_399), 8_000), 'names a recording of less than 0.3 s'],
    ['is too long', writeWav(tone(160_001), 8_000), 'names a recording of more than 20 s'],
    [
      'is silent',
      writeWav(tone(8_000, 900), 8_000),
      'names a recording that is silent or too quiet to be heard',
    ],
  ])('is refused when its file %s', (_, bytes, rule) => {
    expect(errorsWith(bytes)).toEqual([`${key} ${rule}`]);
  });

  it('is a file and its words, both or neither', () => {
    const readBytes = (): Uint8Array => good;
    expect(errorsOf(withTable('[agent.announcement]\nfile = "desk.wav"\n'), { readBytes })).toEqual([
      'agent.announcement.text is required beside agent.announcement.file',
    ]);
    expect(errorsOf(withTable('[agent.announcement]\ntext = "Call again."\n'), { readBytes })).toEqual([
      'agent.announcement.file is required beside agent.announcement.text',
    ]);
  });

  it.each([
    ['en-GB', 'Sorry, something went wrong. Please wait, or call again later.'],
    ['tr', ''],
    ['de', ''],
  ])('without a file is the one that ships for the language, or without words: %s', (language, text) => {
    const { definition } = load(changed(['name = "desk"', `name = "desk"\nlanguage = "${language}"`]));
    expect(definition?.agent.announcement).toEqual({ text });
  });
});
