/**
 * A telephone for tests: its own messages, its own RTP, on UDP sockets of its own. It is written from RFC 3261 and knows nothing of the
 * service's code; what it gets it keeps as text.
 */
import { createHash } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { decodeMulaw, encodeMulaw } from '../../../shared/audio/g711.ts';
import { Observed } from '../process/observed.ts';
import { openWire, type PhoneWire } from './phone-wire.ts';

export interface Reply {
  readonly status: number;
  readonly text: string;
  readonly header: (name: string) => string | undefined;
  readonly body: string;
}

/** Headers of a message, and what stands behind them. */
export function readReply(text: string): Reply {
  const [head = '', ...rest] = text.split('\r\n\r\n');
  const lines = head.split('\r\n');
  const header = (name: string): string | undefined =>
    lines.find((line) => line.toLowerCase().startsWith(`${name.toLowerCase()}:`))?.replace(/^[^:]*:\s*/, '');
  return {
    status: Number(/^SIP\/2\.0 (\d{3})/.exec(text)?.[1] ?? 0),
    text,
    header,
    body: rest.join('\r\n\r\n'),
  };
}

const silence = Buffer.alloc(160, 0xff);

export class Phone extends Observed {
  readonly replies: Reply[] = [];
  /** Requests of the other side. */
  readonly requests: string[] = [];
  /** Whom it calls. */
  dials = 'agent';
  /** Its PBX wants requests of the other side signed. */
  wantsProof = false;
  /** Payloads of RTP as they came. */
  readonly heard: {
    readonly at: number;
    readonly payload: Buffer;
    readonly type: number;
    readonly sequence: number;
  }[] = [];
  #sip: PhoneWire;
  readonly #rtp: Socket;
  readonly #server: number;
  readonly callId = `${Math.random().toString(36).slice(2)}@phone`;
  readonly tag = Math.random().toString(36).slice(2);
  #cseq = 0;
  #remote: { readonly port: number; readonly toTag: string } | undefined;
  #queue: Buffer[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sequence = 100;
  #timestamp = 1_000;
  #inviteBranch = '';

  private constructor(sip: PhoneWire, rtp: Socket, server: number) {
    super();
    this.#sip = sip;
    this.#rtp = rtp;
    this.#server = server;
    sip.heard = (text) => this.#take(text);
    rtp.on('message', (bytes) => {
      this.heard.push({
        at: performance.now(),
        payload: bytes.subarray(12),
        type: (bytes[1] ?? 0) & 127,
        sequence: bytes.readUInt16BE(2),
      });
      this.changed();
    });
  }

  static async open(server: number, over: PhoneWire['protocol'] = 'UDP'): Promise<Phone> {
    const rtp = createSocket('udp4').bind(0, '127.0.0.1');
    await once(rtp, 'listening');
    return new Phone(await openWire(over, server), rtp, server);
  }

  /** Its connection is gone: the call goes on over another one. */
  async reconnect(): Promise<void> {
    this.#sip.close();
    this.#sip = await openWire(this.#sip.protocol, this.#server);
    this.#sip.heard = (text) => this.#take(text);
  }

  get isCutOff(): boolean {
    return this.#sip.isClosed;
  }

  get rtpPort(): number {
    return this.#rtp.address().port;
  }

  sdp({
    port = this.rtpPort,
    direction = 'sendrecv',
    version = 1,
    codecs = '0 101',
    more = [] as string[],
  } = {}): string {
    const lines = [
      'v=0',
      `o=phone 7 ${version} IN IP4 127.0.0.1`,
      's=call',
      'c=IN IP4 127.0.0.1',
      't=0 0',
      `m=audio ${port} RTP/AVP ${codecs}`,
      ...more,
      'a=rtpmap:101 telephone-event/8000',
      'a=fmtp:101 0-16',
      `a=${direction}`,
    ];
    return `${lines.join('\r\n')}\r\n`;
  }

  /** The text of a request; `headers` are added, `body` is SDP unless `type` says otherwise. */
  request(
    method: string,
    { headers = [] as string[], body = '', type = 'application/sdp', branch = '', cseq = this.#cseq } = {},
  ): string {
    const to = this.#remote === undefined ? '' : `;tag=${this.#remote.toTag}`;
    const { port, protocol } = this.#sip;
    return [
      `${method} sip:${this.dials}@127.0.0.1:${this.#server} SIP/2.0`,
      `Via: SIP/2.0/${protocol} 127.0.0.1:${port};rport;branch=z9hG4bK${branch || Math.random().toString(36).slice(2)}`,
      'Max-Forwards: 70',
      `From: "Test" <sip:+15550100@127.0.0.1>;tag=${this.tag}`,
      `To: <sip:${this.dials}@127.0.0.1>${to}`,
      `Call-ID: ${this.callId}`,
      `CSeq: ${cseq} ${method}`,
      `Contact: <sip:phone@127.0.0.1:${port}${protocol === 'UDP' ? '' : `;transport=${protocol.toLowerCase()}`}>`,
      ...headers,
      ...(body === '' ? [] : [`Content-Type: ${type}`]),
      `Content-Length: ${Buffer.byteLength(body)}`,
      '',
      body,
    ].join('\r\n');
  }

  raw(text: string | Buffer): void {
    this.#sip.send(text);
  }

  /** Sends a request in a transaction of its own, and resolves with its first final answer. */
  async ask(method: string, options: Parameters<Phone['request']>[1] = {}): Promise<Reply> {
    this.#cseq += 1;
    const cseq = this.#cseq;
    this.raw(this.request(method, { ...options, cseq }));
    return await this.answerTo(method, cseq);
  }

  async answerTo(method: string, cseq = this.#cseq): Promise<Reply> {
    const found = (): Reply | undefined =>
      this.replies.find((one) => one.status >= 200 && one.header('CSeq') === `${cseq} ${method}`);
    await this.until(() => found() !== undefined);
    return found()!;
  }

  /** Calls; resolves with the final answer, which is acknowledged. */
  async invite({ headers = [] as string[], body = this.sdp() } = {}): Promise<Reply> {
    this.#inviteBranch = Math.random().toString(36).slice(2);
    const reply = await this.ask('INVITE', { headers, body, branch: this.#inviteBranch });
    this.acknowledge(reply);
    return reply;
  }

  get inviteBranch(): string {
    return this.#inviteBranch;
  }

  acknowledge(reply: Reply, body = ''): void {
    const toTag = /;tag=([^;]+)/.exec(reply.header('To') ?? '')?.[1] ?? '';
    const port = Number(/m=audio (\d+)/.exec(reply.body)?.[1] ?? 0);
    const isRefused = reply.status >= 300;
    this.#remote = { port: port === 0 ? (this.#remote?.port ?? 0) : port, toTag };
    const branch = isRefused ? this.#inviteBranch : '';
    this.raw(this.request('ACK', { branch, body }));
    if (isRefused) this.#remote = undefined;
  }

  /** Begins to send a packet every 20 ms: what is to be said, else silence. */
  talk(): void {
    const start = performance.now();
    let sent = 0;
    this.#timer = setInterval(() => {
      for (; sent < (performance.now() - start) / 20; sent += 1) this.packet(this.#queue.shift() ?? silence);
    }, 10);
  }

  /** Says 8 kHz PCM. */
  say(pcm: Int16Array): void {
    for (let from = 0; from + 160 <= pcm.length; from += 160) {
      const payload = Buffer.alloc(160);
      encodeMulaw(pcm.subarray(from, from + 160), payload);
      this.#queue.push(payload);
    }
  }

  /** True once everything that was to be said is on the wire. */
  get hasSaidAll(): boolean {
    return this.#queue.length === 0;
  }

  packet(payload: Buffer, { type = 0, marker = false, timestamp = -1 } = {}): void {
    if (this.#remote === undefined) return;
    this.#sequence += 1;
    if (timestamp < 0) this.#timestamp += 160;
    const head = Buffer.alloc(12);
    head[0] = 0x80;
    head[1] = type | (marker ? 128 : 0);
    head.writeUInt16BE(this.#sequence & 0xffff, 2);
    head.writeUInt32BE((timestamp < 0 ? this.#timestamp : timestamp) >>> 0, 4);
    head.writeUInt32BE(0xabcdef, 8);
    this.#rtp.send(Buffer.concat([head, payload]), this.#remote.port, '127.0.0.1');
  }

  /** Presses a key as RFC 4733 has it. */
  press(event: number): void {
    const timestamp = this.#timestamp + 160;
    for (const [index, duration] of [160, 320, 480, 640, 640, 640].entries()) {
      const payload = Buffer.from([event, index > 2 ? 0x8a : 0x0a, duration >> 8, duration & 255]);
      this.packet(payload, { type: 101, marker: index === 0, timestamp });
    }
    this.#timestamp += 640;
  }

  /** What was heard since a place in `heard`, as PCM. */
  sound(from = 0): Int16Array {
    const bytes = Buffer.concat(this.heard.slice(from).map(({ payload }) => payload));
    const pcm = new Int16Array(bytes.length);
    decodeMulaw(bytes, pcm);
    return pcm;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#sip.close();
    this.#rtp.close();
  }

  #take(text: string): void {
    if (text.startsWith('SIP/2.0')) this.replies.push(readReply(text));
    else {
      this.requests.push(text);
      const { header } = readReply(text);
      const same = ['Via', 'From', 'To', 'Call-ID', 'CSeq'].map((name) => `${name}: ${header(name) ?? ''}`);
      const isAsked = this.wantsProof && header('Authorization') === undefined;
      const first = isAsked
        ? 'SIP/2.0 401 Unauthorized\r\nWWW-Authenticate: Digest realm="pbx", nonce="abc", algorithm=MD5, qop="auth"'
        : 'SIP/2.0 200 OK';
      this.raw(`${first}\r\n${same.join('\r\n')}\r\nContent-Length: 0\r\n\r\n`);
    }
    this.changed();
  }
}

/** The header with which a phone signs in (RFC 3261, 22). */
export function authorization(
  challenge: string,
  {
    method,
    uri,
    user,
    password,
  }: { readonly method: string; readonly uri: string; readonly user: string; readonly password: string },
): string {
  const field = (name: string): string => new RegExp(`${name}="?([^",]+)`).exec(challenge)?.[1] ?? '';
  const hash = field('algorithm') === 'SHA-256' ? 'sha256' : 'md5';
  const h = (text: string): string => createHash(hash).update(text).digest('hex');
  const [realm, nonce] = [field('realm'), field('nonce')];
  const response = h(
    `${h(`${user}:${realm}:${password}`)}:${nonce}:00000001:xyz:auth:${h(`${method}:${uri}`)}`,
  );
  return `Authorization: Digest username="${user}", realm="${realm}", nonce="${nonce}", uri="${uri}", algorithm=${field('algorithm')}, qop=auth, nc=00000001, cnonce="xyz", response="${response}"`;
}
