/**
 * What OBS does when it publishes by WHIP, on the library that it uses itself: audio and video that only go out, all candidates in the
 * offer, exactly 201 with a `Location`, no PATCH, and exactly 200 for the DELETE. Arguments: the endpoint, the token, a file of
 * 16 kHz PCM16 that `say` says.
 */
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { createEncoder } from 'libopus-wasm';
import ndc from 'node-datachannel';

const [url = '', token = '', file = ''] = process.argv.slice(2);
const rate = 16_000;
const frameSamples = rate / 50;
const tell = (event, more = {}) => console.log(JSON.stringify({ event, ...more }));

const connection = new ndc.PeerConnection('obs', { iceServers: [], disableAutoNegotiation: true });
connection.onStateChange((state) => tell('state', { state }));
const audio = new ndc.Audio('0', 'SendOnly');
audio.addOpusCodec(111);
audio.addSSRC(4711, 'obs', 'obs', 'obs-audio');
const video = new ndc.Video('1', 'SendOnly');
video.addH264Codec(96);
video.addSSRC(4712, 'obs', 'obs', 'obs-video');
const tracks = [connection.addTrack(audio), connection.addTrack(video)];
const gathered = new Promise((resolve) => {
  connection.onGatheringStateChange((state) => {
    if (state === 'complete') resolve();
  });
});
connection.setLocalDescription('offer');
await gathered;

const headers = {
  Authorization: `Bearer ${token}`,
  'User-Agent': 'Mozilla/5.0 (OBS-Studio/31.0.3; Linux x86_64; en-US)',
};
const answer = await fetch(url, {
  method: 'POST',
  headers: { ...headers, 'Content-Type': 'application/sdp' },
  body: connection.localDescription().sdp,
});
const text = await answer.text();
const location = answer.headers.get('location');
tell('answered', { status: answer.status });
if (answer.status !== 201 || text === '' || location === null) throw new Error('OBS takes no such answer');
connection.setRemoteDescription(text.slice(text.indexOf('v=0')), 'answer');

const pcm = new Int16Array(new Uint8Array(readFileSync(file)).buffer);
const encoder = await createEncoder({ sampleRate: rate, channels: 1 });
const silence = new Int16Array(frameSamples);
let at = pcm.length;
let sent = 0;
const startedAt = performance.now();

function packet(payload) {
  const header = Buffer.alloc(12);
  header[0] = 0x80;
  header[1] = 111;
  header.writeUInt16BE(sent & 0xffff, 2);
  header.writeUInt32BE((sent * 960) >>> 0, 4);
  header.writeUInt32BE(4711, 8);
  return Buffer.concat([header, payload]);
}

setInterval(() => {
  for (; sent < (performance.now() - startedAt) / 20; sent += 1) {
    const frame = at + frameSamples <= pcm.length ? pcm.subarray(at, at + frameSamples) : silence;
    at += frameSamples;
    if (tracks[0].isOpen()) tracks[0].sendMessageBinary(packet(Buffer.from(encoder.encode(frame))));
  }
}, 10);

for await (const command of createInterface({ input: process.stdin })) {
  if (command === 'say') at = 0;
  if (command !== 'hang up') continue;
  const { status } = await fetch(new URL(location, url), { method: 'DELETE', headers });
  tell('over', { status });
  // The library's threads would keep the process.
  process.exit(0);
}
