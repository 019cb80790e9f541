/**
 * A registrar for tests, written from RFC 3261 alone: it asks everybody to sign in, keeps the one binding, and calls whoever is bound as
 * a PBX does, from the same socket, without signing in itself.
 */
import { createHash } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { Observed } from '../process/observed.ts';
import { readReply, type Reply } from './phone.ts';

export class FakeRegistrar extends Observed {
  /** Every REGISTER as it came. */
  readonly asked: Reply[] = [];
  /** Answers to its own requests. */
  readonly replies: Reply[] = [];
  /** Where calls go; undefined while nobody is registered. */
  contact: string | undefined;
  readonly #socket: Socket;
  readonly #password: string;

  private constructor(socket: Socket, password: string) {
    super();
    this.#socket = socket;
    this.#password = password;
    socket.on('message', (bytes, from) => this.#take(readReply(bytes.toString('latin1')), from.port));
  }

  static async open(password: string): Promise<FakeRegistrar> {
    const socket = createSocket('udp4').bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return new FakeRegistrar(socket, password);
  }

  get port(): number {
    return this.#socket.address().port;
  }

  close(): void {
    this.#socket.close();
  }

  #take(message: Reply, port: number): void {
    if (message.status > 0) this.replies.push(message);
    else if (message.text.startsWith('REGISTER ')) this.#register(message, port);
    this.changed();
  }

  #register(request: Reply, port: number): void {
    this.asked.push(request);
    const isProved = this.#isProved(request.header('Authorization') ?? '');
    const expires = Number(request.header('Expires'));
    if (isProved) this.contact = expires === 0 ? undefined : request.header('Contact');
    const same = ['Via', 'From', 'To', 'Call-ID', 'CSeq'].map(
      (name) => `${name}: ${request.header(name) ?? ''}`,
    );
    const challenge = 'WWW-Authenticate: Digest realm="pbx", nonce="abc", algorithm=MD5, qop="auth"';
    const said = isProved ? `Contact: ${request.header('Contact')};expires=${expires}` : challenge;
    const first = isProved ? 'SIP/2.0 200 OK' : 'SIP/2.0 401 Unauthorized';
    this.#send([first, ...same, said, 'Content-Length: 0', '', ''].join('\r\n'), port);
  }

  #isProved(authorization: string): boolean {
    const field = (name: string): string =>
      new RegExp(`\\b${name}="?([^",]+)`).exec(authorization)?.[1] ?? '';
    const h = (text: string): string => createHash('md5').update(text).digest('hex');
    const a1 = h(`${field('username')}:pbx:${this.#password}`);
    const a2 = h(`REGISTER:${field('uri')}`);
    const expected = h(`${a1}:abc:${field('nc')}:${field('cnonce')}:auth:${a2}`);
    return field('response') === expected;
  }

  #send(text: string, port: number): void {
    this.#socket.send(text, port, '127.0.0.1');
  }

  /** Calls whoever is registered; resolves with the final answer, which is acknowledged. */
  async call(sdp: string): Promise<Reply> {
    const uri = /<([^>]+)>/.exec(this.contact ?? '')?.[1] ?? '';
    const port = Number(/:(\d+)/.exec(uri.slice(4))?.[1]);
    const id = Math.random().toString(36).slice(2);
    const request = (method: string, { to = '', body = '', cseq = 1 } = {}): string =>
      [
        `${method} ${uri} SIP/2.0`,
        `Via: SIP/2.0/UDP 127.0.0.1:${this.port};rport;branch=z9hG4bK${id}${method}`,
        'Max-Forwards: 70',
        `From: <sip:200@127.0.0.1>;tag=${id}`,
        `To: <${uri}>${to}`,
        `Call-ID: ${id}`,
        `CSeq: ${cseq} ${method}`,
        `Contact: <sip:pbx@127.0.0.1:${this.port}>`,
        ...(body === '' ? [] : ['Content-Type: application/sdp']),
        `Content-Length: ${body.length}`,
        '',
        body,
      ].join('\r\n');
    this.#send(request('INVITE', { body: sdp }), port);
    const answer = await this.#answer(id, 'INVITE');
    const to = `;tag=${/;tag=([^;]+)/.exec(answer.header('To') ?? '')?.[1] ?? ''}`;
    this.#send(request('ACK', { to }), port);
    if (answer.status < 300) {
      this.#send(request('BYE', { to, cseq: 2 }), port);
      await this.#answer(id, 'BYE');
    }
    return answer;
  }

  async #answer(id: string, method: string): Promise<Reply> {
    const found = (): Reply | undefined =>
      this.replies.find(
        (one) =>
          one.status >= 200 &&
          one.header('Call-ID') === id &&
          one.header('CSeq')?.endsWith(` ${method}`) === true,
      );
    await this.until(() => found() !== undefined);
    return found()!;
  }
}
