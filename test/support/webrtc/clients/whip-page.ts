/**
 * A page of another host with WHIP clients on it, unmodified: the browser alone, `@eyevinn/whip-web-client`, `whip-whep`. Its microphone
 * is what the test gives it to say.
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { build } from 'esbuild';
import { writeWav } from '../../../../shared/audio/wav.ts';
import { clientModules, clientsMissing } from './installed.ts';

const rate = 16_000;

export type WhipClientName = 'browser' | 'eyevinn' | 'medooze';

const packaged = `
  import { WHIPClient as Eyevinn } from '@eyevinn/whip-web-client';
  import { WHIPClient as Medooze } from 'whip-whep/whip.js';
`;
const unpackaged = 'const Eyevinn = undefined, Medooze = undefined;';

const script = `
  /** A track of what a WAV file says; where there is no sound card, an AudioContext does not run in every browser. */
  async function spoken(wav) {
    const audio = document.createElement('audio');
    audio.src = wav;
    await audio.play();
    return (audio.captureStream ?? audio.mozCaptureStream).call(audio);
  }

  let connection, session, client, microphone;

  function hears({ track }) {
    const audio = document.createElement('audio');
    audio.autoplay = true;
    audio.srcObject = new MediaStream([track]);
    document.body.append(audio);
  }

  function newConnection(config) {
    connection = new RTCPeerConnection(config);
    connection.addEventListener('track', hears);
    return connection;
  }

  const clients = {
    browser: async (url, token) => {
      newConnection();
      connection.addTransceiver(microphone.getAudioTracks()[0], { direction: 'sendrecv' });
      await connection.setLocalDescription(await connection.createOffer());
      const headers = { 'Content-Type': 'application/sdp', Authorization: 'Bearer ' + token };
      const answer = await fetch(url, { method: 'POST', headers, body: connection.localDescription.sdp });
      if (answer.status !== 201) throw new Error('status ' + answer.status);
      session = new URL(answer.headers.get('Location'), url);
      await connection.setRemoteDescription({ type: 'answer', sdp: await answer.text() });
      return async () => {
        const { status } = await fetch(session, { method: 'DELETE', headers: { Authorization: headers.Authorization } });
        connection.close();
        return status;
      };
    },
    eyevinn: async (url, token) => {
      client = new Eyevinn({
        endpoint: url,
        opts: { authkey: token, iceServers: [] },
        peerConnectionFactory: newConnection,
      });
      await client.setIceServersFromEndpoint();
      await client.ingest(microphone);
      await client.getResourceUrl();
      return () => client.destroy();
    },
    medooze: async (url, token) => {
      newConnection();
      connection.addTransceiver(microphone.getAudioTracks()[0], { direction: 'sendrecv' });
      client = new Medooze();
      await client.publish(connection, url, token);
      return () => client.stop();
    },
  };

  window.whip = {
    call: async (name, url, token) => {
      microphone = await spoken('/silence.wav');
      window.whip.hangUp = await clients[name](url, token);
      while (connection.connectionState !== 'connected') await new Promise((resolve) => setTimeout(resolve, 20));
    },
    say: async () => {
      const [track] = (await spoken('/question.wav')).getAudioTracks();
      await connection.getSenders()[0].replaceTrack(track);
    },
    /** How much sound came so far. */
    energy: async () => {
      const inbound = [...(await connection.getStats()).values()].find(({ type }) => type === 'inbound-rtp');
      return inbound?.totalAudioEnergy ?? 0;
    },
    /** Resolves when more than so much did. */
    louder: async (than) => {
      while ((await window.whip.energy()) <= than) await new Promise((resolve) => setTimeout(resolve, 100));
    },
  };
`;

export class WhipPage {
  readonly url: string;
  readonly #server: Server;

  private constructor(server: Server, url: string) {
    this.#server = server;
    this.url = url;
  }

  /** What is said there is PCM16 of 16 kHz. */
  static async open(question: Int16Array): Promise<WhipPage> {
    const { outputFiles } = await build({
      stdin: {
        contents: `${clientsMissing === undefined ? packaged : unpackaged}${script}`,
        resolveDir: process.cwd(),
      },
      nodePaths: [clientModules],
      bundle: true,
      write: false,
      format: 'esm',
      logLevel: 'error',
    });
    const html = '<!doctype html><body><script type="module" src="/whip.js"></script>';
    const files = new Map<string, readonly [type: string, body: string | Uint8Array]>([
      ['/', ['text/html', html]],
      ['/whip.js', ['text/javascript', outputFiles[0]?.text ?? '']],
      ['/silence.wav', ['audio/wav', writeWav(new Int16Array(60 * rate), rate)]],
      ['/question.wav', ['audio/wav', writeWav(question, rate)]],
    ]);
    const server = createServer((request, response) => {
      const [type, body] = files.get(request.url ?? '/') ?? ['text/plain', ''];
      response.setHeader('Content-Type', type);
      response.end(body);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new WhipPage(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
