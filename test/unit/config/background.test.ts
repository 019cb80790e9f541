/** Sounds behind the voice are checked with the file that names them: each rule is an error that names the key. */
import { describe, expect, it } from 'vitest';
import { writeWav } from '../../../shared/audio/wav.ts';
import { changed, errorsOf, load } from './agent-text.ts';

const withAudio = (lines: string): string => changed(['[stt]\n', `${lines}\n[stt]\n`]);
const tone = (length: number, peak = 8_000): Int16Array =>
  Int16Array.from({ length }, (_, at) => Math.round(peak * Math.sin(at / 4)));
const wav = writeWav(tone(16_000), 8_000);
const readBytes = (): Uint8Array => wav;

describe('the sounds behind the voice', () => {
  it('are absent unless a table names one', () => {
    expect(load(withAudio('')).definition).not.toHaveProperty('audio');
    expect(load(withAudio('[audio]')).definition).not.toHaveProperty('audio');
  });

  it('are named, or files beside the agent file, with a volume and a time', () => {
    const text = withAudio(
      '[audio.background]\nsound = "office"\n[audio.thinking]\nfile = "hm.wav"\nvolume = 1\n',
    );
    expect(load(text, { readBytes }).definition?.audio?.background).toEqual([
      { source: 'office', volume: 0.2, when: 'always' },
      { source: { sampleRate: 8_000, pcm: tone(16_000) }, volume: 1, when: 'thinking' },
    ]);
    expect(
      load(withAudio('[audio.background]\nsound = "street"\nvolume = 0.05\nwhen = "thinking"')).definition
        ?.audio?.background,
    ).toEqual([{ source: 'street', volume: 0.05, when: 'thinking' }]);
  });

  it('may have one level, alone and beside sounds', () => {
    expect(load(withAudio('[audio]\nlevel = -20')).definition?.audio).toEqual({ level: -20 });
    const both = load(withAudio('[audio]\nlevel = -16\n[audio.background]\nsound = "office"'));
    expect(both.definition?.audio?.level).toBe(-16);
    expect(both.definition?.audio?.background).toHaveLength(1);
    for (const level of ['-31', '-13', '"loud"'])
      expect(load(withAudio(`[audio]\nlevel = ${level}`)).definition).toBeUndefined();
  });

  it('are off at volume 0', () => {
    const text = withAudio('[audio.background]\nsound = "office"\nvolume = 0');
    expect(load(text).definition).not.toHaveProperty('audio');
  });

  it('may be the same file twice, once the announcement', () => {
    const text = withAudio(
      '[agent.announcement]\nfile = "a.wav"\ntext = "Call again."\n[audio.background]\nfile = "a.wav"\n[audio.thinking]\nfile = "a.wav"',
    );
    expect(errorsOf(text, { readBytes })).toEqual([]);
  });

  it.each([
    [
      'a table without a sound',
      '[audio.background]\nvolume = 0.5',
      'audio.background.sound or audio.background.file is required',
    ],
    [
      'a sound and a file',
      '[audio.background]\nsound = "office"\nfile = "a.wav"',
      'audio.background.file and audio.background.sound exclude each other; keep one of them',
    ],
    [
      'a sound that there is not',
      '[audio.background]\nsound = "cafe"',
      'audio.background.sound must be one of "office", "street", "keyboard"',
    ],
    [
      'too much volume',
      '[audio.thinking]\nsound = "keyboard"\nvolume = 1.5',
      'audio.thinking.volume must be at most 1',
    ],
    [
      'a negative volume',
      '[audio.thinking]\nsound = "keyboard"\nvolume = -20',
      'audio.thinking.volume must be at least 0',
    ],
    [
      'a volume in words',
      '[audio.thinking]\nsound = "keyboard"\nvolume = "-20 dB"',
      'audio.thinking.volume must be a number',
    ],
    [
      'another time',
      '[audio.background]\nsound = "office"\nwhen = "never"',
      'audio.background.when must be one of "always", "thinking"',
    ],
    [
      'a time of the thinking sound',
      '[audio.thinking]\nsound = "office"\nwhen = "always"',
      'audio.thinking.when is not a known key; known here: sound, file, volume',
    ],
    [
      'a key that is not there',
      '[audio.background]\nsound = "office"\nvolum = 1',
      'audio.background.volum is not a known key; did you mean "volume"?',
    ],
    [
      'a table of another name',
      '[audio.backgroud]\nsound = "office"',
      'audio.backgroud is not a known key; did you mean "background"?',
    ],
    ['a text in the place of a table', '[audio]\nbackground = "office"', 'audio.background must be a table'],
    ['an empty name', '[audio.background]\nfile = ""', 'audio.background.file must not be empty'],
  ])('are refused with %s', (_, lines, message) => {
    expect(errorsOf(withAudio(lines), { readBytes })).toEqual([message]);
  });

  it.each([
    [
      'cannot be read',
      undefined,
      'names a file that cannot be read: it is not there (a path begins in the folder of the agent file)',
    ],
    ['is too large', new Uint8Array(6_000_001), 'names a file of more than 6000000 bytes'],
    [
      'is no WAV file',
      new Uint8Array(100),
      'names a file that is not the WAV file it should be: not a WAV file: no RIFF/WAVE header',
    ],
    [
      'has another rate',
      writeWav(tone(33_000), 11_025),
      'names a recording whose sample rate is not one of 8000, 16000, 22050, 24000, 44100, 48000 Hz',
    ],
    ['is too short to repeat', writeWav(tone(7_999), 8_000), 'names a recording of less than 1 s'],
    ['is too long', writeWav(tone(480_001), 8_000), 'names a recording of more than 60 s'],
    [
      'is silent',
      writeWav(new Int16Array(9_000), 8_000),
      'names a recording that is silent or too quiet to be heard',
    ],
  ])('are refused with a file that %s', (_, bytes, rule) => {
    const errors = errorsOf(withAudio('[audio.background]\nfile = "a.wav"'), { readBytes: () => bytes });
    expect(errors).toEqual([`audio.background.file ${rule}`]);
  });
});
