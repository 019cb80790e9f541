/**
 * Twilio as a service sees it: posts the voice webhook, opens the media stream that the answer names, sends 20 ms of mu-law
 * at a time, plays what it is sent in real time and sends marks back when it has played up to them, or at once after `clear`.
 */
import { createHmac } from 'node:crypto';
import { WebSocket } from 'ws';
import { Observed } from '../process/observed.ts';
import { Handset } from '../telephony/handset.ts';

export const carrierToken = 'test_auth_token_0123456789abcdef';
export const publicUrl = 'wss://voice.example.com/carrier_a/stream';

/** Signs as the carrier's documentation says, written apart from the service's own code. */
export function sign(url: string, form: Readonly<Record<string, string>> = {}, token = carrierToken): string {
  const data = Object.keys(form)
    .toSorted()
    .reduce((text, name) => text + name + (form[name] ?? ''), url);
  return createHmac('sha1', token).update(data).digest('base64');
}

export const carrierEnv = {
  SVC_CARRIER_A_ADDR: '127.0.0.1:0',
  SVC_CARRIER_A_PUBLIC_URL: publicUrl,
  SVC_CARRIER_A_AUTH_TOKEN: carrierToken,
  SVC_CARRIER_A_STREAM_SECRET: 's'.repeat(32),
} as const;

/** Posts the voice webhook of a call to a listener. */
export function postVoice(
  address: string,
  callSid: string,
  options: { readonly query?: string; readonly signature?: string; readonly to?: string } = {},
): Promise<Response> {
  const { query = '', to = '+15550100002' } = options;
  const form = {
    CallSid: callSid,
    AccountSid: 'AC0001',
    From: '+15550100001',
    To: to,
    Caller: '',
  };
  const signature = options.signature ?? sign(`https://voice.example.com/carrier_a/voice${query}`, form);
  return fetch(`http://${address}/carrier_a/voice${query}`, {
    method: 'POST',
    headers: { 'X-Twilio-Signature': signature },
    body: new URLSearchParams(form),
  });
}

/** Posts what the carrier tells below `/carrier_a/events/`, signed. */
export function postEvent(
  address: string,
  path: string,
  form: Readonly<Record<string, string>>,
): Promise<Response> {
  return fetch(`http://${address}${path}`, {
    method: 'POST',
    headers: { 'X-Twilio-Signature': sign(`https://voice.example.com${path}`, form) },
    body: new URLSearchParams(form),
  });
}

/** The address of the stream in an answer of the webhook. */
export const streamUrlOf = (twiml: string): string => /<Stream url="([^"]+)"/.exec(twiml)?.[1] ?? '';

type Message = Readonly<Record<string, unknown>>;

export class FakeStream extends Observed {
  readonly messages: Message[] = [];
  status = 0;
  closeCode: number | undefined;
  readonly handset = new Handset();
  readonly #ws: WebSocket;
  readonly #callSid: string;
  readonly #streamSid: string;
  #sequence = 1;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(
    address: string,
    options: {
      readonly callSid: string;
      readonly url: string;
      readonly signature?: string;
      readonly streamSid?: string;
    },
  ) {
    super();
    const { callSid, url, signature = sign(url), streamSid = 'MZ0001' } = options;
    this.#callSid = callSid;
    this.#streamSid = streamSid;
    this.#ws = new WebSocket(`ws://${address}${new URL(url).pathname}`, {
      headers: { 'X-Twilio-Signature': signature },
    });
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
    this.#ws.on('message', (data: Buffer) => this.#take(JSON.parse(data.toString()) as Message));
    this.#ws.on('close', (code) => {
      clearInterval(this.#timer);
      this.closeCode = code;
      this.changed();
    });
  }

  send(message: Message): void {
    if (this.#ws.readyState === WebSocket.OPEN) this.#ws.send(JSON.stringify(message));
  }

  sendRaw(data: string | Buffer): void {
    this.#ws.send(data);
  }

  /** `connected`, `start`, and from then on media in real time. */
  begin(parameters: Readonly<Record<string, string>> = {}, callSid = this.#callSid): void {
    const streamSid = this.#streamSid;
    this.send({ event: 'connected', protocol: 'Call', version: '1.0.0' });
    this.send({
      event: 'start',
      sequenceNumber: '1',
      streamSid,
      start: {
        accountSid: 'AC0001',
        streamSid,
        callSid,
        tracks: ['inbound'],
        mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
        customParameters: parameters,
      },
    });
    this.#timer = setInterval(() => this.#tick(), 20);
  }

  get playedBytes(): number {
    return this.handset.played.reduce((bytes, { length }) => bytes + length, 0);
  }

  /** Says something into the call; `pcm` has 16 kHz. Resolves when all of it was sent. */
  async say(pcm: Int16Array): Promise<void> {
    this.handset.say(pcm);
    await this.until(() => this.handset.unsaid === 0);
  }

  press(digit: string): void {
    this.#send('dtmf', { dtmf: { track: 'inbound_track', digit } });
  }

  /** The caller hangs up. */
  stop(): void {
    this.#send('stop', { stop: { accountSid: 'AC0001', callSid: this.#callSid } });
  }

  close(): void {
    clearInterval(this.#timer);
    this.#ws.terminate();
  }

  of(event: string): Message[] {
    return this.messages.filter((message) => message['event'] === event);
  }

  /** How many pieces of speech have come to their end; other marks stand within one. */
  get pieces(): number {
    return this.of('mark').filter(({ mark }) => /^m\d+$/.test((mark as { name: string }).name)).length;
  }

  #send(event: string, fields: Message): void {
    this.#sequence += 1;
    this.send({ event, sequenceNumber: String(this.#sequence), streamSid: this.#streamSid, ...fields });
  }

  #take(message: Message): void {
    this.messages.push(message);
    if (message['event'] === 'media')
      this.handset.take(Buffer.from((message['media'] as { payload: string }).payload, 'base64'));
    else if (message['event'] === 'mark') this.handset.take((message['mark'] as { name: string }).name);
    else if (message['event'] === 'clear') for (const name of this.handset.clear()) this.#echo(name);
    this.changed();
  }

  #echo(name: string): void {
    this.#send('mark', { mark: { name } });
  }

  #tick(): void {
    const payload = this.handset.speak().toString('base64');
    this.#send('media', { media: { track: 'inbound', chunk: '1', timestamp: '1', payload } });
    for (const name of this.handset.play()) this.#echo(name);
    this.changed();
  }
}
