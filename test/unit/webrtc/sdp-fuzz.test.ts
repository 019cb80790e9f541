/**
 * What strangers may send as an offer: 10,000 offers that are broken in seeded ways. Each is refused by a rule or read; nothing throws, no
 * refusal repeats a piece of the offer, and no candidate gets past the reading.
 */
import { describe, expect, it } from 'vitest';
import { newPrng } from '../../../shared/base/prng.ts';
import { answerWith, readFragment, readOffer, sdpLimits } from '../../../shared/webrtc/sdp.ts';
import { rawOffer } from '../../support/webrtc/raw-offer.ts';

const lines = rawOffer.split('\r\n');
const hostile = [
  'a=candidate:1 1 udp 2122260223 203.0.113.99 53 typ host',
  'a=candidate:1 1 tcp 1 203.0.113.99 25 typ host tcptype passive',
  'a=remote-candidates:1 203.0.113.99 53',
  'a=end-of-candidates',
  'm=audio 9 UDP/TLS/RTP/SAVPF 111',
  'm=video 9 UDP/TLS/RTP/SAVPF 96',
  'm=application 9 UDP/DTLS/SCTP webrtc-datachannel',
  `a=mid:${'x'.repeat(5_000)}`,
  'a=rtpmap:999 opus/48000/2',
  'a=rtpmap:111 opus/48000/2\u0000',
  `a=ice-ufrag:${'A'.repeat(300)}`,
  'a=setup:holdconn',
  'a=inactive',
  'a=',
  '=',
  '\u{1f600}',
];

/** The offer after `count` changes of one kind each: lines that go, come twice, change places, or are a stranger's; bytes that differ. */
function broken(chance: (below: number) => number): string {
  const offer = [...lines];
  for (let changes = 1 + chance(6); changes > 0; changes -= 1) {
    const at = chance(Math.max(1, offer.length));
    const line = offer[at] ?? '';
    const cut = chance(line.length + 1);
    const kind = chance(6);
    if (kind === 0) offer.splice(at, 1);
    else if (kind === 1) offer.splice(at, 0, line);
    else if (kind === 2) offer.splice(at, 0, hostile[chance(hostile.length)] ?? '');
    else if (kind === 3) offer.push(...offer.splice(at, 1));
    else if (kind === 4) offer[at] = line.slice(0, cut);
    else offer[at] = line.slice(0, cut) + String.fromCharCode(chance(256)) + line.slice(cut + 1);
  }
  return offer.join(chance(4) === 0 ? '\n' : '\r\n');
}

describe('an offer of a stranger', () => {
  it('is read or refused by a rule, 10,000 times', () => {
    const outcomes = { read: 0, refused: 0 };
    const random = newPrng(20_261_124);
    const chance = (below: number): number => random.below(below);
    for (let round = 0; round < 10_000; round += 1) {
      const text = broken(chance);
      const read = readOffer(text);
      readFragment(text);
      if (!read.ok) {
        outcomes.refused += 1;
        expect(read.error).not.toMatch(/203\.0\.113|EsAw|P2uYro/);
        continue;
      }
      outcomes.read += 1;
      const { audio, ufrag, pwd, candidateIps, withoutCandidates } = read.value;
      expect(withoutCandidates).not.toMatch(/^a=(candidate:|remote-candidates:|end-of-candidates)/m);
      expect(candidateIps.length).toBeLessThanOrEqual(sdpLimits.candidates);
      expect([ufrag.length <= 256, pwd.length <= 256, audio.mid.length <= 32, audio.opus <= 127]).toEqual(
        Array.from({ length: 4 }, () => true),
      );
      answerWith(withoutCandidates, [{ transport: 'udp', type: 'host', ip: '192.0.2.1', port: 1 }]);
    }
    // Both happen often, or nothing was tried.
    expect(outcomes.read).toBeGreaterThan(500);
    expect(outcomes.refused).toBeGreaterThan(2_000);
  });
});
