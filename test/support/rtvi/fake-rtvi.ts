/**
 * A client of RTVI without a browser: sends messages, by protobuf or as text, keeps what it is told and what it would play. One of text
 * takes nothing else.
 */
import { WebSocket } from 'ws';
import { decodeRtviFrame, encodeRtviMessage, type RtviFrame } from '../../../shared/rtvi/frame.ts';
import { Observed } from '../process/observed.ts';

type Data = Readonly<Record<string, unknown>>;

export class FakeRtvi extends Observed {
  status = 0;
  closeCode: number | undefined;
  readonly audio: Extract<RtviFrame, { type: 'audio' }>[] = [];
  readonly #messages: { readonly type: string; readonly data?: Data }[] = [];
  /** Frames that this kind of client cannot read. */
  unreadable = 0;
  readonly #ws: WebSocket;
  readonly #isText: boolean;
  #nextId = 10_000_000;

  constructor(url: string, headers: Readonly<Record<string, string>>, { isText = false } = {}) {
    super();
    this.#isText = isText;
    this.#ws = new WebSocket(url, { headers });
    this.#ws.on('open', () => {
      this.status = 101;
      this.changed();
    });
    this.#ws.on('unexpected-response', (request, response) => {
      this.status = response.statusCode ?? 0;
      request.destroy();
      this.changed();
    });
    this.#ws.on('error', () => undefined);
    this.#ws.on('message', (bytes: Buffer, isBinary) => this.#take(bytes, isBinary));
    this.#ws.on('close', (code) => {
      this.closeCode = code;
      this.changed();
    });
  }

  send(type: string, data: Data): void {
    this.#nextId += 1;
    const message = { label: 'rtvi-ai', id: String(this.#nextId), type, data };
    const json = JSON.stringify(message);
    this.#ws.send(this.#isText ? json : encodeRtviMessage(json));
  }

  /** The data of all messages of a type, oldest first. */
  of(type: string): Data[] {
    return this.#messages.filter((message) => message.type === type).map(({ data }) => data ?? {});
  }

  close(): void {
    this.#ws.terminate();
  }

  #take(bytes: Buffer, isBinary: boolean): void {
    if (isBinary === this.#isText) this.unreadable += 1;
    else if (this.#isText) this.#read(bytes.toString());
    else this.#decode(bytes);
    this.changed();
  }

  #read(json: string): void {
    this.#messages.push(JSON.parse(json) as { type: string; data?: Data });
  }

  #decode(bytes: Buffer): void {
    const frame = decodeRtviFrame(bytes);
    if (frame?.type === 'audio') this.audio.push(frame);
    else if (frame?.type === 'message') this.#read(Buffer.from(frame.json).toString());
  }
}
