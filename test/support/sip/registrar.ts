/**
 * A registrar for tests, written from RFC 3261 alone: it asks everybody to sign in, keeps the one binding, and calls whoever is bound as
 * a PBX does, from the same socket, without signing in itself.
 */
import { createHash } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer as createTcp, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTls } from 'node:tls';
import { Observed } from '../process/observed.ts';
import { cutMessages, type PhoneWire } from './phone-wire.ts';
import { readReply, type Reply } from './phone.ts';

type Say = (text: string) => void;
type Heard = (text: string, say: Say) => void;

/** What it listens at. */
interface Desk {
  readonly port: number;
  readonly close: () => void;
}

async function udpDesk(heard: Heard): Promise<Desk> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  socket.on('message', (bytes, { port }) =>
    heard(bytes.toString('latin1'), (text) => socket.send(text, port, '127.0.0.1')),
  );
  return { port: socket.address().port, close: () => socket.close() };
}

async function streamDesk(server: Server, sockets: Set<Socket>): Promise<Desk> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = (): void => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { port: (server.address() as AddressInfo).port, close };
}

export class FakeRegistrar extends Observed {
  /** Every REGISTER as it came. */
  readonly asked: Reply[] = [];
  /** Answers to its own requests. */
  readonly replies: Reply[] = [];
  /** Where calls go; undefined while nobody is registered. */
  contact: string | undefined;
  readonly #password: string;
  readonly #protocol: PhoneWire['protocol'];
  #desk: Desk = { port: 0, close: () => undefined };
  /** The way to the device that registered last. */
  #say: Say = () => undefined;

  private constructor(password: string, protocol: PhoneWire['protocol']) {
    super();
    this.#password = password;
    this.#protocol = protocol;
  }

  static async open(
    password: string,
    protocol: PhoneWire['protocol'] = 'UDP',
    certificate?: { readonly key: string; readonly cert: string },
  ): Promise<FakeRegistrar> {
    const registrar = new FakeRegistrar(password, protocol);
    const heard: Heard = (text, say) => registrar.#take(readReply(text), say);
    const sockets = new Set<Socket>();
    const met = (socket: Socket): void => {
      sockets.add(socket.on('error', () => undefined));
      cutMessages(socket, (text) => heard(text, (answer) => void socket.write(answer)));
    };
    if (protocol === 'UDP') registrar.#desk = await udpDesk(heard);
    else {
      const server = protocol === 'TCP' ? createTcp(met) : createTls({ ...certificate }, met);
      registrar.#desk = await streamDesk(server, sockets);
    }
    return registrar;
  }

  get port(): number {
    return this.#desk.port;
  }

  close(): void {
    this.#desk.close();
  }

  #take(message: Reply, say: Say): void {
    if (message.status > 0) this.replies.push(message);
    else if (message.text.startsWith('REGISTER ')) this.#register(message, say);
    this.changed();
  }

  #register(request: Reply, say: Say): void {
    this.#say = say;
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
    say([first, ...same, said, 'Content-Length: 0', '', ''].join('\r\n'));
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

  /** Calls whoever is registered; resolves with the final answer, which is acknowledged. */
  async call(sdp: string): Promise<Reply> {
    const uri = /<([^>]+)>/.exec(this.contact ?? '')?.[1] ?? '';
    const id = Math.random().toString(36).slice(2);
    const request = (method: string, { to = '', body = '', cseq = 1 } = {}): string =>
      [
        `${method} ${uri} SIP/2.0`,
        `Via: SIP/2.0/${this.#protocol} 127.0.0.1:${this.port};rport;branch=z9hG4bK${id}${method}`,
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
    this.#say(request('INVITE', { body: sdp }));
    const answer = await this.#answer(id, 'INVITE');
    const to = `;tag=${/;tag=([^;]+)/.exec(answer.header('To') ?? '')?.[1] ?? ''}`;
    this.#say(request('ACK', { to }));
    if (answer.status < 300) {
      this.#say(request('BYE', { to, cseq: 2 }));
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
