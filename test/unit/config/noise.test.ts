/** Whether noise is taken out is said once, beside the sounds behind the voice. */
import { expect, it } from 'vitest';
import { changed, errorsOf, load } from './agent-text.ts';

const withAudio = (lines: string): string => changed(['[stt]\n', `${lines}\n[stt]\n`]);

it('is left in unless the agent says otherwise', () => {
  for (const lines of ['', '[audio]\nnoise = "off"', '[audio.background]\nsound = "office"'])
    expect(load(withAudio(lines)).definition?.audio?.noise).toBeUndefined();
});

it.each(['auto', 'on'])('may be "%s", with a background and without', (mode) => {
  expect(load(withAudio(`[audio]\nnoise = "${mode}"`)).definition?.audio?.noise).toBe(mode);
  const both = load(withAudio(`[audio]\nnoise = "${mode}"\n[audio.background]\nsound = "street"`)).definition;
  expect([both?.audio?.noise, both?.audio?.background?.length]).toEqual([mode, 1]);
});

it.each([
  ['noise = true', 'audio.noise must be one of "off", "auto", "on"'],
  ['noise = "ON"', 'audio.noise must be one of "off", "auto", "on"'],
  ['nois = "on"', 'audio.nois is not a known key; did you mean "noise"?'],
])('is refused as %s', (line, message) => {
  expect(errorsOf(withAudio(`[audio]\n${line}`))).toEqual([message]);
});
