/**
 * One caller in a browser who speaks into the agent's speech. What is spoken and what is heard run on one clock, that of the page's sound:
 * between them lie the browser's encoder, both ways, the service, and the browser's jitter buffer, but no sound card.
 */
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const rate = 48_000;

/** Faint noise, as of a room. */
function playNoise(context, to) {
  const noise = context.createBuffer(1, rate, rate);
  noise.getChannelData(0).forEach((_, at, all) => (all[at] = (Math.random() * 4 - 2) / 32_768));
  const source = new AudioBufferSourceNode(context, { buffer: noise, loop: true });
  source.connect(to);
  source.start();
}

async function connect(peer, signal) {
  await peer.setLocalDescription(await peer.createOffer());
  while (peer.iceGatheringState !== 'complete') await sleep(5);
  await peer.setRemoteDescription({ type: 'answer', sdp: await signal(peer.localDescription.sdp) });
}

/** Milliseconds from the first loud sample until nothing can be heard of the agent, or why that is not known. */
globalThis.interrupt = async ({
  url,
  sound,
  soundRate,
  loudAt,
  offset,
  audibleMs,
  stillMs,
  decidedMs,
  longestMs,
}) => {
  const context = new AudioContext({ sampleRate: rate });
  const peer = new RTCPeerConnection();
  try {
    await context.audioWorklet.addModule('/watch.js');
    const microphone = context.createMediaStreamDestination();
    playNoise(context, microphone);
    peer.addTrack(microphone.stream.getAudioTracks()[0], microphone.stream);
    let heardUntil = 0;
    let heardMs = 0;
    peer.ontrack = ({ streams: [stream] }) => {
      // Without an element that plays it, the stream gives no sound to anybody.
      const element = Object.assign(new Audio(), { srcObject: stream, muted: true });
      void element.play();
      const watch = new AudioWorkletNode(context, 'watch');
      watch.port.onmessage = ({ data }) => {
        heardUntil = data;
        heardMs += 128_000 / rate;
      };
      context.createMediaStreamSource(stream).connect(watch).connect(context.destination);
    };
    await connect(peer, (sdp) => globalThis.signal(url, sdp));
    const begunAt = performance.now();
    const isLate = () => performance.now() - begunAt > longestMs;
    while (heardMs < audibleMs) {
      if (isLate()) return 'the bot was not heard';
      await sleep(5);
    }
    const buffer = context.createBuffer(1, sound.length, soundRate);
    buffer.copyToChannel(
      Float32Array.from(sound, (sample) => sample / 32_768),
      0,
    );
    const source = new AudioBufferSourceNode(context, { buffer });
    source.connect(microphone);
    const startsAt = context.currentTime + 0.03 + offset / soundRate;
    source.start(startsAt);
    const loudFrom = startsAt + loudAt / soundRate;
    while (context.currentTime - Math.max(heardUntil, loudFrom) < stillMs / 1000) {
      if (isLate()) return 'the bot was not interrupted';
      await sleep(20);
    }
    const silentAfter = heardUntil - loudFrom;
    await sleep(decidedMs);
    return silentAfter * 1000;
  } finally {
    peer.close();
    await context.close();
  }
};
