/**
 * Telnyx as a service sees it: signed webhooks, a REST API in JSON whose commands have effects that webhooks report, and media
 * streams that it opens with the token it was given. Chunks may go out in another order than they were spoken in.
 */
import { generateKeyPairSync, sign } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocket } from 'ws';
import { Observed } from '../process/observed.ts';
import { Handset } from './handset.ts';

export const streamToken = 'stream-token-of-carrier-b';
const apiKey = 'KEY_of_carrier_b';

type Fields = Readonly<Record<string, unknown>>;

export interface BCommand {
  readonly path: string;
  readonly action: string;
  readonly fields: Fields;
}

export class FakeBStream extends Observed {
  readonly messages: Fields[] = [];
  status = 0;
  closeCode: number | undefined;
  readonly #ws: WebSocket;
  readonly #timer: ReturnType<typeof setInterval>;
  readonly handset = new Handset();
  #chunk = 1;
  /** Spoken, and to be sent behind what was spoken after it. */
  #earlier = Buffer.alloc(0);

  constructor(
    address: string,
    options: {
      readonly path: string;
      readonly token: string;
      readonly callId: string;
      readonly parameters?: Fields;
      readonly encoding?: string;
    },
  ) {
    super();
    const { path, token, callId, parameters = {}, encoding = 'PCMU' } = options;
    this.#ws = new WebSocket(`ws://${address}${path}`, {
      headers: { 'x-telnyx-streaming-auth-token': token },
    });
    this.#timer = setInterval(() => this.#tick(), 20);
    this.#ws.on('open', () => {
      this.status = 101;
      this.send({ event: 'connected', version: '1.0.0' });
      this.send({
        event: 'start',
        sequence_number: '1',
        stream_id: 'stream-1',
        start: {
          user_id: 'u',
          call_control_id: callId,
          from: '+15550100001',
          to: '+15550100002',
          custom_parameters: parameters,
          media_format: { encoding, sample_rate: 8000, channels: 1 },
        },
      });
      this.changed();
    });
    this.#ws.on('unexpected-response', (request, response) => {
      this.status = response.statusCode ?? 0;
      request.destroy();
      this.changed();
    });
    this.#ws.on('error', () => undefined);
    this.#ws.on('message', (data: Buffer) => this.#take(JSON.parse(data.toString()) as Fields));
    this.#ws.on('close', (code) => {
      clearInterval(this.#timer);
      this.closeCode = code;
      this.changed();
    });
  }

  send(message: Fields): void {
    if (this.#ws.readyState === WebSocket.OPEN) this.#ws.send(JSON.stringify(message));
  }

  sendRaw(data: string | Buffer): void {
    this.#ws.send(data);
  }

  /** Says something into the call; `pcm` has 16 kHz. Resolves when all of it was sent. */
  async say(pcm: Int16Array): Promise<void> {
    this.handset.say(pcm);
    await this.until(() => this.handset.unsaid === 0);
  }

  press(digit: string): void {
    this.send({ event: 'dtmf', stream_id: 'stream-1', dtmf: { digit } });
  }

  stop(): void {
    this.send({ event: 'stop', stream_id: 'stream-1', stop: {} });
  }

  close(): void {
    clearInterval(this.#timer);
    this.#ws.terminate();
  }

  of(event: string): Fields[] {
    return this.messages.filter((message) => message['event'] === event);
  }

  /** How many pieces of speech have come to their end; other marks stand within one. */
  get pieces(): number {
    return this.of('mark').filter(({ mark }) => /^m\d+$/.test((mark as { name: string }).name)).length;
  }

  #take(message: Fields): void {
    this.messages.push(message);
    if (message['event'] === 'media')
      this.handset.take(Buffer.from((message['media'] as { payload: string }).payload, 'base64'));
    else if (message['event'] === 'mark') this.handset.take((message['mark'] as { name: string }).name);
    else if (message['event'] === 'clear') for (const name of this.handset.clear()) this.#echo(name);
    this.changed();
  }

  #echo(name: string): void {
    this.send({ event: 'mark', stream_id: 'stream-1', mark: { name } });
  }

  /** Two chunks at a time, the later one first. */
  #tick(): void {
    const isFirst = this.#chunk % 2 === 1;
    const swapped = isFirst ? this.#chunk + 1 : this.#chunk - 1;
    if (isFirst) this.#earlier = Buffer.from(this.handset.speak());
    const payload = (isFirst ? this.handset.speak() : this.#earlier).toString('base64');
    this.send({
      event: 'media',
      stream_id: 'stream-1',
      media: { track: 'inbound', chunk: String(swapped), timestamp: '1', payload },
    });
    this.#chunk += 1;
    for (const name of this.handset.play()) this.#echo(name);
    this.changed();
  }
}

export class FakeTelnyx extends Observed {
  readonly commands: BCommand[] = [];
  /** Statuses and error codes of the next answers, by action. */
  readonly refusals = new Map<string, { readonly status: number; readonly code: string }[]>();
  readonly streams: FakeBStream[] = [];
  listener = '';
  /** Actions whose next request is done and never answered. */
  readonly silent: string[] = [];
  /** Callers who are in a conference, with its id. */
  readonly inConference = new Map<string, string>();
  /** What a refusal says. */
  message = 'no';
  /** What happens between a command's coming and its being done. */
  before: ((command: BCommand) => Promise<void>) | undefined;
  /** Ids of commands that were done: a repeated one is answered alike and does nothing. */
  readonly #done = new Set<string>();
  readonly #keys = generateKeyPairSync('ed25519');
  #server: Server | undefined;
  #events = 0;

  async start(): Promise<this> {
    const server = createServer((request, response) => void this.#take(request, response));
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  get publicKey(): string {
    return this.#keys.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64');
  }

  get env(): Readonly<Record<string, string>> {
    const { port } = this.#server?.address() as AddressInfo;
    return {
      SVC_CARRIER_B_ADDR: '127.0.0.1:0',
      SVC_CARRIER_B_PUBLIC_URL: 'wss://voice.example.com/carrier_b/stream',
      SVC_CARRIER_B_STREAM_TOKEN: streamToken,
      SVC_CARRIER_B_API_KEY: apiKey,
      SVC_CARRIER_B_API_URL: `http://127.0.0.1:${port}/v2`,
      SVC_CARRIER_B_PUBLIC_KEY: this.publicKey,
    };
  }

  async close(): Promise<void> {
    for (const stream of this.streams) stream.close();
    this.#server?.closeAllConnections();
    await new Promise((resolve) => this.#server?.close(resolve) ?? resolve(undefined));
  }

  of(action: string): BCommand[] {
    return this.commands.filter((command) => command.action === action);
  }

  /** Tells the service of a call. */
  async tell(
    type: string,
    payload: Fields,
    options: {
      readonly id?: string;
      readonly atS?: number;
      readonly query?: string;
      readonly signature?: string;
    } = {},
  ): Promise<number> {
    this.#events += 1;
    const { id = `event-${this.#events}`, atS = Math.floor(Date.now() / 1000), query = '' } = options;
    const body = JSON.stringify({
      data: { event_type: type, id, occurred_at: '2026-01-01T00:00:00Z', payload, record_type: 'event' },
    });
    const own = sign(null, Buffer.from(`${atS}|${body}`), this.#keys.privateKey).toString('base64');
    const response = await fetch(`http://${this.listener}/carrier_b/webhook${query}`, {
      method: 'POST',
      headers: { 'telnyx-signature-ed25519': options.signature ?? own, 'telnyx-timestamp': String(atS) },
      body,
    });
    return response.status;
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    if (request.method === 'GET') {
      this.#list(new URL(request.url ?? '', 'http://b').searchParams.get('filter[name]') ?? '', response);
      return;
    }
    const fields = JSON.parse(text) as Fields;
    const path = (request.url ?? '').replace('/v2', '');
    const action = path.split('/').at(-1) ?? '';
    const isOwn = request.headers.authorization === `Bearer ${apiKey}`;
    const refusal = isOwn ? this.refusals.get(action)?.shift() : { status: 401, code: '10009' };
    const command = { path, action, fields };
    this.commands.push(command);
    await this.before?.(command);
    const at = this.silent.indexOf(action);
    if (at >= 0) {
      this.silent.splice(at, 1);
      this.#effect(command);
      this.changed();
      return;
    }
    response.writeHead(refusal?.status ?? 200, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify(
        refusal === undefined
          ? { data: { result: 'ok', id: 'conference-1', call_control_id: 'v3:leg' } }
          : { errors: [{ code: refusal.code, title: this.message, detail: this.message }] },
      ),
    );
    if (refusal === undefined) this.#effect(command);
    this.changed();
  }

  /** Conferences by their name, those that were made here. */
  #list(name: string, response: ServerResponse): void {
    const isMade = this.of('conferences').some(({ fields }) => fields['name'] === name);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ data: isMade ? [{ id: 'conference-1', name }] : [] }));
  }

  #effect({ path, action, fields }: BCommand): void {
    const callId = decodeURIComponent(/^\/calls\/([^/]+)\//.exec(path)?.[1] ?? '');
    const once = `${path} ${String(fields['command_id'])}`;
    if (this.#done.has(once)) return;
    this.#done.add(once);
    const caller = String(fields['call_control_id']);
    if (action === 'conferences' || action === 'join') this.inConference.set(caller, 'conference-1');
    if (action === 'leave' && path.includes('/conference-1/')) this.inConference.delete(caller);
    if (action === 'answer')
      void this.tell('call.answered', { call_control_id: callId, client_state: fields['client_state'] });
    if (action !== 'streaming_start') return;
    const given = (fields['custom_parameters'] ?? []) as { name: string; value: string }[];
    const parameters = Object.fromEntries(given.map(({ name, value }) => [name, value]));
    const { pathname } = new URL(String(fields['stream_url']));
    const token = String(fields['stream_auth_token']);
    this.streams.push(new FakeBStream(this.listener, { path: pathname, token, callId, parameters }));
  }
}
