/**
 * What a simulated caller's frames look like on the wire: the call protocol itself, or the media stream of Twilio, for which the voice
 * webhook is posted first as the carrier does.
 */
import { createHmac } from 'node:crypto';
import { audioFrame, textFrame } from './client.ts';

export const transports = ['websocket', 'carrier_a'] as const;
export type TransportName = (typeof transports)[number];

/** What a caller reacts to. */
export type Said =
  | { readonly type: 'audio' | 'started' | 'clear' }
  | { readonly type: 'mark'; readonly id: string }
  | { readonly type: 'failed'; readonly reason: string };

export interface UpgradeHead {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

type Message = Readonly<Record<string, unknown>>;

export interface Wire {
  /** Variables of the service beside those that every run sets. */
  readonly env: Readonly<Record<string, string>>;
  readonly listener: string;
  /** What a new call's upgrade asks for. */
  head(address: { readonly host: string; readonly port: number }, callId: string): Promise<UpgradeHead>;
  /** What is sent first. */
  begin(
    start: { readonly sample_rate: number; readonly encoding: string },
    callId: string,
  ): readonly object[];
  audio(payload: Uint8Array): Buffer;
  mark(id: string): object;
  readonly end: object;
  read(message: Message): Said | undefined;
}

const websocket: Wire = {
  env: {},
  listener: 'websocket',
  head: async () => await Promise.resolve({ path: '/', headers: {} }),
  begin: (start) => [{ type: 'start', version: 1, ...start }],
  audio: audioFrame,
  mark: (id) => ({ type: 'mark', id }),
  end: { type: 'stop' },
  read: ({ type, id, code }) => {
    if (type === 'started' || type === 'clear') return { type };
    if (type === 'mark') return { type, id: String(id) };
    if (type === 'error' || type === 'stop')
      return { type: 'failed', reason: `${type} ${JSON.stringify(code ?? '')}` };
    return undefined;
  },
};

const publicUrl = 'wss://voice.example.com/carrier_a/stream';
const token = 'token-of-the-bench';
const streamSid = 'MZbench';

const signature = (data: string): string => createHmac('sha1', token).update(data).digest('base64');

async function postVoice(
  { host, port }: { host: string; port: number },
  callId: string,
): Promise<UpgradeHead> {
  const signed = signature(`https://voice.example.com/carrier_a/voiceCallSid${callId}`);
  const response = await fetch(`http://${host}:${port}/carrier_a/voice`, {
    method: 'POST',
    headers: { 'X-Twilio-Signature': signed },
    body: new URLSearchParams({ CallSid: callId }),
  });
  const url = /<Stream url="([^"]+)"/.exec(await response.text())?.[1] ?? publicUrl;
  return { path: new URL(url).pathname, headers: { 'X-Twilio-Signature': signature(url) } };
}

const twilio: Wire = {
  env: {
    SVC_CARRIER_A_ADDR: '127.0.0.1:0',
    SVC_CARRIER_A_PUBLIC_URL: publicUrl,
    SVC_CARRIER_A_AUTH_TOKEN: token,
    SVC_CARRIER_A_STREAM_SECRET: 'secret-of-the-bench-secret-of-the-bench',
  },
  listener: 'carrier_a',
  head: postVoice,
  begin: (_, callSid) => [
    { event: 'connected', protocol: 'Call', version: '1.0.0' },
    {
      event: 'start',
      streamSid,
      start: {
        streamSid,
        callSid,
        mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
      },
    },
  ],
  audio: (bytes) => {
    const payload = Buffer.from(bytes).toString('base64');
    const media = { track: 'inbound', chunk: '1', timestamp: '1', payload };
    return textFrame({ event: 'media', sequenceNumber: '1', streamSid, media });
  },
  mark: (name) => ({ event: 'mark', streamSid, mark: { name } }),
  end: { event: 'stop', streamSid, stop: {} },
  read: ({ event, mark }) => {
    if (event === 'media') return { type: 'audio' };
    if (event === 'clear') return { type: 'clear' };
    return event === 'mark' ? { type: 'mark', id: String((mark as Message)['name']) } : undefined;
  },
};

export const wires: Readonly<Record<TransportName, Wire>> = { websocket, carrier_a: twilio };
