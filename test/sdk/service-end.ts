/** The service's end of a link on a real socket. */
import { WebSocket, type ClientOptions } from 'ws';
import { Observed } from '../support/process/observed.ts';

export const offer = {
  protocol: 'svc.agent',
  versions: [1],
  session_id: 's-1',
  agent: 'front-desk',
  capabilities: { transfer: false, tools: true },
} as const;

type Message = Readonly<Record<string, unknown>>;

/** A link as the service opens it. */
export class ServiceEnd extends Observed {
  readonly received: Message[] = [];
  closed: number | undefined;
  /** Status of a refused upgrade. */
  refused: number | undefined;
  readonly socket: WebSocket;
  #seq = 0;

  constructor(url: string, options: ClientOptions = {}) {
    super();
    this.socket = new WebSocket(url, options);
    this.socket.on('message', (data: Buffer) => {
      this.received.push(JSON.parse(data.toString('utf8')) as Message);
      this.changed();
    });
    this.socket.on('unexpected-response', (request, response) => {
      this.refused = response.statusCode;
      request.destroy();
      this.changed();
    });
    for (const event of ['open', 'error']) this.socket.on(event, () => this.changed());
    this.socket.on('close', (code) => {
      this.closed = code;
      this.changed();
    });
  }

  static async open(url: string, options: ClientOptions = {}): Promise<ServiceEnd> {
    const end = new ServiceEnd(url, options);
    const isOpen = (): boolean => end.socket.readyState === WebSocket.OPEN;
    await end.until(() => isOpen() || end.closed !== undefined || end.refused !== undefined);
    if (!isOpen()) throw new Error(`the link was not opened: ${end.refused ?? end.closed}`);
    return end;
  }

  send(message: Message): void {
    this.#seq += 1;
    this.socket.send(JSON.stringify({ seq: this.#seq, t_ms: 0, ...message }));
  }

  /** Resolves with the first message of this type. */
  async next(type: string): Promise<Message> {
    const find = (): Message | undefined => this.received.find((message) => message['type'] === type);
    await this.until(() => find() !== undefined || this.closed !== undefined);
    return find() ?? { type: 'closed', code: this.closed };
  }

  async start(fields: Message = {}): Promise<Message> {
    this.send({ type: 'session.start', ...offer, ...fields });
    return await this.next('session.accept');
  }
}
