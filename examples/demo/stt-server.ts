/**
 * The ear: a WebSocket server that speaks the protocol of sherpa-onnx's C++ online server.
 *
 * Invariant: a connection holds one utterance of at most 30 s; `Done` answers with one last result and then `Done!`, after which the
 * next utterance may start on the same connection. As with the real server, audio between `Done` and `Done!` is a mistake of the client; here it
 * closes the connection instead of ending the process. There are no partial results: the turn is decoded as a whole.
 */
import type { RawData, WebSocket, WebSocketServer } from 'ws';
import { openWebSocketServer } from './websocket-server.ts';
import { Utterance, type Transcribe } from './utterance.ts';

const maxConnections = 64;

const closeProtocol = 1002;
const closeInvalid = 1007;
const closeBusy = 1013;

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
  let utterance = new Utterance(transcribe);
  let finishing = false;

  const finish = async (): Promise<void> => {
    finishing = true;
    if (!utterance.empty) socket.send(resultMessage(await utterance.finish()));
    utterance = new Utterance(transcribe);
    finishing = false;
    socket.send('Done!');
  };

  socket.on('message', (data, isBinary) => {
    const bytes = toBuffer(data);
    if (isBinary) {
      if (finishing) socket.close(closeProtocol, 'audio between Done and Done!');
      else if (bytes.length % 4 !== 0) socket.close(closeInvalid, 'samples are 32-bit floats');
      else utterance.append(bytes);
    } else if (bytes.toString('utf8') === 'Done' && !finishing) {
      finish().catch(() => socket.close(closeBusy, 'the recognizer is busy or not running'));
    }
  });
  socket.on('close', () => utterance.drop());
  socket.on('error', () => socket.terminate());
}

/** Starts listening; rejects when the port is taken. */
export function startSttServer(
  transcribe: Transcribe,
  address: { host: string; port: number },
): Promise<WebSocketServer> {
  return openWebSocketServer({ ...address, maxConnections }, (socket) => serve(socket, transcribe));
}
