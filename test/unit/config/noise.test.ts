/** Whether noise is taken out is said once, beside the sounds behind the voice. */
import { expect, it } from 'vitest';
import { changed, errorsOf, load } from './agent-text.ts';

const withAudio = (lines: string): string => changed(['[stt]\n', `${lines}\n[stt]\n`]);

it('is left in unless the agent says otherwise', () => {
  expect(load(withAudio('')).definition?.noise).toBe('off');
  expect(load(withAudio('[audio.background]\nsound = "office"')).definition?.noise).toBe('off');
});

it.each(['auto', 'on', 'off'])('may be "%s", with a background and without', (mode) => {
  expect(load(withAudio(`[audio]\nnoise = "${mode}"`)).definition?.noise).toBe(mode);
  const both = load(withAudio(`[audio]\nnoise = "${mode}"\n[audio.background]\nsound = "street"`)).definition;
  expect([both?.noise, both?.background?.length]).toEqual([mode, 1]);
});

it.each([
  ['noise = true', 'audio.noise must be one of "off", "auto", "on"'],
  ['noise = "ON"', 'audio.noise must be one of "off", "auto", "on"'],
  ['nois = "on"', 'audio.nois is not a known key; did you mean "noise"?'],
])('is refused as %s', (line, message) => {
  expect(errorsOf(withAudio(`[audio]\n${line}`))).toEqual([message]);
});
