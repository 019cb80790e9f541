/**
 * The ear: a WebSocket server that speaks the protocol of sherpa-onnx's C++ online server.
 *
 * Invariant: a connection holds one utterance of at most 30 s; `Done` answers with one last result and then `Done!`, after which the
 * next utterance may start on the same connection. As with the real server, audio between `Done` and `Done!` is a mistake of the client; here it
 * closes the connection instead of ending the process. There are no partial results: the turn is decoded when it ended.
 */
import type { IncomingMessage } from 'node:http';
import { WebSocketServer, type RawData, type WebSocket } from 'ws';

/** Takes 16 kHz mono in [-1, 1], gives the words. */
export type Transcribe = (samples: Float32Array<ArrayBuffer>, signal: AbortSignal) => Promise<string>;

const sampleRate = 16_000;
const maxSamples = 30 * sampleRate;
const maxFrameBytes = 1_048_576;
const maxConnections = 64;

const closeProtocol = 1002;
const closeInvalid = 1007;
const closeBusy = 1013;

/** One utterance as PCM16, which takes half the memory of what arrives. Sound after the limit is dropped. */
class Recording {
  private samples = new Int16Array(sampleRate);
  private length = 0;

  get empty(): boolean {
    return this.length === 0;
  }

  append(bytes: Buffer): void {
    const count = Math.min(bytes.length / 4, maxSamples - this.length);
    if (this.length + count > this.samples.length) {
      const grown = new Int16Array(
        Math.min(maxSamples, Math.max(this.length + count, this.samples.length * 2)),
      );
      grown.set(this.samples.subarray(0, this.length));
      this.samples = grown;
    }
    for (let index = 0; index < count; index += 1) {
      const value = bytes.readFloatLE(index * 4) * 32_768;
      const clipped = Math.max(-32_768, Math.min(32_767, Math.round(value)));
      this.samples[this.length + index] = Number.isNaN(clipped) ? 0 : clipped;
    }
    this.length += count;
  }

  toFloat(): Float32Array<ArrayBuffer> {
    return Float32Array.from(this.samples.subarray(0, this.length), (sample) => sample / 32_768);
  }
}

/** The result message, with every field that the real server sends. */
function resultMessage(text: string): string {
  return JSON.stringify({
    text: text === '' ? '' : ` ${text}`,
    tokens: [],
    timestamps: [],
    ys_probs: [],
    lm_probs: [],
    context_scores: [],
    segment: 0,
    words: [],
    start_time: 0,
    is_final: true,
    is_eof: true,
  });
}

const toBuffer = (data: RawData): Buffer =>
  Array.isArray(data) ? Buffer.concat(data) : data instanceof ArrayBuffer ? Buffer.from(data) : data;

function serve(socket: WebSocket, transcribe: Transcribe): void {
  const gone = new AbortController();
  let recording = new Recording();
  let finishing = false;

  const finish = async (): Promise<void> => {
    const finished = recording;
    recording = new Recording();
    finishing = true;
    if (!finished.empty) socket.send(resultMessage(await transcribe(finished.toFloat(), gone.signal)));
    finishing = false;
    socket.send('Done!');
  };

  socket.on('message', (data, isBinary) => {
    const bytes = toBuffer(data);
    if (isBinary) {
      if (finishing) socket.close(closeProtocol, 'audio between Done and Done!');
      else if (bytes.length % 4 !== 0) socket.close(closeInvalid, 'samples are 32-bit floats');
      else recording.append(bytes);
    } else if (bytes.toString('utf8') === 'Done' && !finishing) {
      finish().catch(() => socket.close(closeBusy, 'the recognizer is busy or not running'));
    }
  });
  socket.on('close', () => gone.abort());
  socket.on('error', () => socket.terminate());
}

/** Starts listening; rejects when the port is taken. */
export function startSttServer(
  transcribe: Transcribe,
  address: { host: string; port: number },
): Promise<WebSocketServer> {
  return new Promise((resolve, reject) => {
    const server: WebSocketServer = new WebSocketServer({
      ...address,
      maxPayload: maxFrameBytes,
      perMessageDeflate: false,
      verifyClient: (
        _info: { req: IncomingMessage },
        done: (accepted: boolean, status?: number, message?: string) => void,
      ) => (server.clients.size < maxConnections ? done(true) : done(false, 503, 'too many connections')),
    });
    server.once('error', reject);
    server.once('listening', () => {
      server.off('error', reject);
      resolve(server);
    });
    server.on('connection', (socket) => serve(socket, transcribe));
  });
}
