/** What a page in a browser plays: every sample that goes to the loudspeaker. */
import type { Page } from 'playwright-core';

/** Keeps everything that goes to the loudspeaker, beside the page's own connection to it. */
export const listensAtTheLoudspeaker = `
  const heard = (window.loudspeaker = { rate: 0, blocks: [] });
  const taps = new Map();
  const connect = AudioNode.prototype.connect;
  const tapOf = (context) => {
    if (!taps.has(context)) {
      const tap = context.createScriptProcessor(1024, 1, 1);
      heard.rate = context.sampleRate;
      tap.onaudioprocess = ({ inputBuffer }) =>
        heard.blocks.push(Array.from(inputBuffer.getChannelData(0), (x) => Math.round(x * 32767)));
      connect.call(tap, context.destination);
      taps.set(context, tap);
    }
    return taps.get(context);
  };
  AudioNode.prototype.connect = function (target, ...rest) {
    if (target instanceof AudioDestinationNode) connect.call(this, tapOf(this.context));
    return connect.call(this, target, ...rest);
  };
`;

export interface Heard {
  readonly pcm: Int16Array;
  readonly rate: number;
}

/** Everything that came out of the loudspeaker since the last call of this. */
export async function heardSoFar(page: Page): Promise<Heard> {
  const heard = await page.evaluate<{ rate: number; samples: number[] }>(
    '({ rate: window.loudspeaker.rate, samples: window.loudspeaker.blocks.splice(0).flat() })',
  );
  return { pcm: Int16Array.from(heard.samples), rate: heard.rate };
}
