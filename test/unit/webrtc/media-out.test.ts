/** The agent's audio as packets: where it goes on, where it stands still, and how its timestamps follow the clock. */
import { describe, expect, it } from 'vitest';
import { MediaOut } from '../../../worker/webrtc/media-out.ts';

const ticksOf = (ms: number): number => ms * 48;

function newMediaOut(): { out: MediaOut; sent: { silent: boolean; marker: boolean; timestamp: number }[] } {
  const sent: { silent: boolean; marker: boolean; timestamp: number }[] = [];
  const out = new MediaOut({
    ...{ ssrc: 1, payloadType: 111, clockRate: 48_000, firstSequence: 0, firstTimestamp: 0 },
    encode: (pcm) => Uint8Array.of(pcm === undefined ? 0 : 1),
    send: (packet, { timestamp }) =>
      sent.push({ silent: packet.at(-1) === 0, marker: (packet[1]! & 0x80) !== 0, timestamp }),
  });
  return { out, sent };
}
const frame = new Int16Array(480);

describe('a stretch that stands still', () => {
  it('is followed by silence at once, in the place behind its last frame', () => {
    const { out, sent } = newMediaOut();
    out.frame(frame, 0);
    out.frame(frame, 20);
    out.pause();
    expect(sent.at(-1)).toEqual({ silent: true, marker: false, timestamp: ticksOf(40) });
    // Two more frames of it, when they are due.
    for (const now of [39, 59, 79, 99, 119]) out.tick(now);
    expect(sent.slice(3).map(({ timestamp }) => timestamp)).toEqual([ticksOf(60), ticksOf(80)]);
  });

  it('goes on with a marker, at the time that has passed', () => {
    const { out, sent } = newMediaOut();
    out.frame(frame, 0);
    out.pause();
    out.pause();
    expect(sent.length).toBe(2);
    out.frame(frame, 220);
    expect(sent.at(-1)).toEqual({ silent: false, marker: true, timestamp: ticksOf(220) });
  });

  it('sends nothing where nothing has been sent', () => {
    const { out, sent } = newMediaOut();
    out.pause();
    expect(sent).toEqual([]);
  });
});
